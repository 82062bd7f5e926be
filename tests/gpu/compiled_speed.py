#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `run --torch-modules` costs compiled code, on a GPU with PyTorch: its first step and a later one.

compiled_speed.py RANGEFINDER [PAIRS]   RANGEFINDER: the program; PAIRS: [4]

Recorded alone and recorded with hooks, alternating processes, each with an empty cache of Inductor: a vision
transformer whose kernels are launched one by one, then in CUDA graphs. Exit code 1: a median of hooks / recorded is
above its limit.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "compiled_models.py")
LIMITS = {"default": {"first_s": 1.15, "step_ms": 1.10}, "reduce-overhead": {"first_s": 1.15, "step_ms": 1.02}}


def measure(program, mode, options):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--quiet", "--counters", "off", "--out", f"{folder}/trace", *options, "--",
                   sys.executable, PROGRAM, "vit", "--mode", mode, "--steps", "200"]
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(lines[-1])


def main():
    program, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4
    failed = False
    for mode, limits in LIMITS.items():
        ratios = {what: [] for what in limits}
        for pair in range(pairs):
            order = ("recorded", "hooks") if pair % 2 == 0 else ("hooks", "recorded")
            got = {kind: measure(program, mode, ["--torch-modules"] if kind == "hooks" else []) for kind in order}
            for what in limits:
                ratios[what].append(got["hooks"][what] / got["recorded"][what])
            print(f"{mode:16}" + "  ".join(f"{what} {got['recorded'][what]:8.3f} {got['hooks'][what]:8.3f}" for what in limits),
                  flush=True)
        for what, limit in limits.items():
            median = statistics.median(ratios[what])
            print(f"{mode:16}{what}: hooks / recorded {median:.3f} ({min(ratios[what]):.3f} to {max(ratios[what]):.3f}), "
                  f"limit {limit}")
            failed = failed or median > limit
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
