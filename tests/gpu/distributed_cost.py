#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs a job of several ranks: distributed_cost.py [--ranks N] [--rounds N] BUILD PROGRAM [ARGUMENTS]

Runs the program, which prints `ms_step`, under torchrun in turn: plain, with CUPTI alone (our kinds and callbacks,
empty), traced, sampled, and traced with the hooks of --torch-modules. Prints the time of a step over plain and over
CUPTI alone: median, least and most of the rounds. PROGRAM: ddp_train.py or tensor_parallel.py of tests/gpu/programs.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile

TIMEOUT_S = 120


def variants(build, folder):
    library = os.path.join(build, "lib", "librangefinder.so")
    ours = {"CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library,
            "RANGEFINDER_OUT": os.path.join(folder, "%p")}
    run = [os.path.join(build, "bin", "rangefinder"), "run", "-q", "--counters", "off", "--torch-modules", "--out",
           os.path.join(folder, "hooks-%p"), "--"]
    floor = {"CUDA_INJECTION64_PATH": os.path.join(build, "tests", "overhead_floor.so"), "OVERHEAD_FLOOR": "same"}
    return {"plain": ({}, []), "CUPTI alone": (floor, []), "traced": ({**ours, "RANGEFINDER_COUNTERS": "off"}, []),
            "sampled": ({**ours, "RANGEFINDER_COUNTERS": "sampled"}, []), "hooks": ({}, run)}


def ms_step(variables, prefix, ranks, program):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # Not --standalone: it resolves the host's name, which fails on some machines.
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", str(ranks),
                "--master-addr", "127.0.0.1", "--master-port", str(port)]
    done = subprocess.run([*prefix, *launcher, *program], env={**os.environ, **variables}, capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=True)
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))["ms_step"]


def ratios(found, over):
    each = [a / b for a, b in zip(found, over)]
    return f"{statistics.median(each):.3f} ({min(each):.3f}, {max(each):.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            for name, (variables, prefix) in variants(options.build, os.path.join(folder, str(number))).items():
                times.setdefault(name, []).append(ms_step(variables, prefix, options.ranks, options.program))
                print(f"{number} {name}: {times[name][-1]:.3f} ms", flush=True)
    print(f"plain: {statistics.median(times['plain']):.3f} ms a step")
    for name in ("CUPTI alone", "traced", "sampled", "hooks"):
        print(f"{name}: {ratios(times[name], times['plain'])} of plain, "
              f"{ratios(times[name], times['CUPTI alone'])} of CUPTI alone")


if __name__ == "__main__":
    main()
