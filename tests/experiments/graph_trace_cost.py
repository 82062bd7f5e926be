#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Which settings make records of a graph's nodes expensive, and when their times are lost.
#
#   graph_trace_cost.py BUILD [--runs 3] [--only cost|loss]
#
# cost: a graph of 100 empty kernels under each setting (of 1000 under some), one process each, in turns; the median of
# the runs. loss: with a small pool of device buffers, the number of records with times, with and without switching
# records off and on when the first has none. Needs a GPU.
import argparse
import json
import pathlib
import statistics
import subprocess

OURS = "kernel,memcpy,memcpy2,memset,overhead"
COST = {
    "nothing": [],
    "whole graphs": ["--kinds", "graph"],
    "whole graphs + kinds of ours": ["--kinds", f"graph,{OURS}"],
    "kernel": ["--kinds", "kernel"],
    "kinds of ours": ["--kinds", OURS],
    "kernel, serial kind": ["--kinds", "serial"],
    "ours, device buffer 0.8 MB": ["--kinds", OURS, "--set", "device_buffer=800000"],
    "ours, device buffer 32 MB": ["--kinds", OURS, "--set", "device_buffer=32000000"],
    "ours, 16 buffers of 3.2 MB beforehand": ["--kinds", OURS, "--set", "pre_allocate=16"],
    "ours, host-pinned": ["--kinds", OURS, "--set", "host_pinned=1"],
    "ours, host-pinned, 32 MB": ["--kinds", OURS, "--set", "host_pinned=1,device_buffer=32000000"],
    "ours, buffers of CUPTI's not by thread": ["--kinds", OURS, "--set", "per_thread=0"],
    "ours, 16 MiB host buffers": ["--kinds", OURS, "--host-buffer", str(16 << 20)],
    "ours, 256 KiB host buffers": ["--kinds", OURS, "--host-buffer", str(256 << 10)],
    "kernel + runtime records": ["--kinds", f"{OURS},runtime"],
}
FEW = ["nothing", "whole graphs", "kernel", "kinds of ours", "ours, host-pinned, 32 MB"]
SMALL_POOL = ["--set", "device_buffer=320000,pool_limit=4,pre_allocate=1", "--nodes", "1000", "--launches", "40"]
LOSS = {
    "kernel, 4 x 0.32 MB": ["--kinds", "kernel", *SMALL_POOL],
    "ours, 4 x 0.32 MB": ["--kinds", OURS, *SMALL_POOL],
    "kernel, off and on": ["--kinds", "kernel", *SMALL_POOL, "--restart"],
    "ours, off and on": ["--kinds", OURS, *SMALL_POOL, "--restart"],
}


def run(program, words):
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=240)
    if done.returncode != 0 or not done.stdout.strip():
        return {"error": (done.stderr or done.stdout).strip()[-160:] or f"status {done.returncode}"}
    return json.loads(done.stdout.splitlines()[-1])


def shown(name, found):
    if "error" in found:
        return f"{name:42} {found['error']}"
    return (f"{name:42} {found['us']:9.2f} {found['least_us']:9.2f} {found['call_us']:9.2f} {found['records']:10} {found['untimed']:9} "
            f"{found['first_untimed']:10} {found['dropped']:8} {found['restarts']:8} {found['gpu_bytes'] / 1e6:8.1f}")


HEAD = (f"{'':42} {'us':>9} {'least us':>9} {'call us':>9} {'records':>10} {'untimed':>9} {'first':>10} {'dropped':>8} "
        f"{'restarts':>8} {'GPU MB':>8}")


def middle(found):
    """The run with the median time of one setting; of two, the faster one."""
    good = [one for one in found if "error" not in one]
    return sorted(good, key=lambda one: one["us"])[(len(good) - 1) // 2] if good else found[0]


def cost(program, runs):
    for nodes, launches, names in ((100, 400, list(COST)), (1000, 40, FEW)):
        print(f"\ngraph of {nodes} empty kernels, us per launch; median of {runs} runs\n{HEAD}")
        found = {name: [] for name in names}
        for turn in range(runs):
            for name in names if turn % 2 == 0 else names[::-1]:
                found[name].append(run(program, ["--rounds", "9", "--nodes", str(nodes), "--launches", str(launches), *COST[name]]))
        for name, runs_of in found.items():
            print(shown(name, middle(runs_of)), flush=True)
        plain = statistics.median(one["us"] for one in found["nothing"])
        print("ratio to nothing: " + ", ".join(
            f"{name} {middle(runs_of)['us'] / plain:.2f}" for name, runs_of in found.items()
            if "error" not in middle(runs_of)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=["cost", "loss"])
    args = parser.parse_args()
    program = args.build.resolve() / "tests/graph_trace_cost"
    if args.only in (None, "cost"):
        cost(program, args.runs)
    if args.only in (None, "loss"):
        print(f"\na graph of 1000 kernels, 25 rounds of 40 launches\n{HEAD}")
        for name, words in LOSS.items():
            print(shown(name, run(program, [*words, "--rounds", "25"])), flush=True)


if __name__ == "__main__":
    main()
