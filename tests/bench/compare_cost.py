#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time, wall time and memory of two builds of `rangefinder` on one trace, in turn.

    compare_cost.py BEFORE AFTER TRACE [--rounds N] [--jobs N] [--only NAME]

BEFORE and AFTER are programs. Prints for each command the ratio AFTER : BEFORE of CPU time (of the least of all rounds, and the
median of the rounds with its range) and of the least wall time, and AFTER's largest memory. The output of both must be equal.
AFTER runs with --jobs 1 by default: on two hyperthreads of one core a second thread makes CPU time longer.
TRACE is best one of build/tests/trace_maker --kernels 10000000 --paths 500, in the page cache.
"""
import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

COMMANDS = {"modules": ["report", "--section", "modules"], "iterations": ["report", "--section", "iterations"],
            "idle": ["report", "--section", "idle"], "findings": ["report", "--section", "findings"],
            "overview": ["report"], "diff": ["diff"],
            "page": ["report", "--html", "OUT"]}


def run(command):
    """(CPU seconds, wall seconds, MiB, hash of the output); the command must succeed. OUT: it writes a file."""
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "out"), "w+b") as stdout:
        file = os.path.join(folder, "file")
        command = [file if word == "OUT" else word for word in command]
        began = time.monotonic()
        with subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if status != 0:
            sys.exit(f"{' '.join(command)} failed")
        seconds = time.monotonic() - began
        with open(file if os.path.exists(file) else stdout.name, "rb") as out:
            digest = hashlib.sha256(out.read()).hexdigest()
        return (usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024, digest)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("trace")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=COMMANDS)
    options = parser.parse_args()
    for name, words in COMMANDS.items():
        if options.only not in (None, name):
            continue
        command = [words[0], options.trace, *([options.trace] if name == "diff" else []), *words[1:]]
        before, after = [], []
        for _ in range(options.rounds):
            before.append(run([options.before, *command]))
            after.append(run([options.after, *command, "--jobs", str(options.jobs)]))
        ratios = [new[0] / old[0] for old, new in zip(before, after)]
        cpu, wall = (min(one[i] for one in after) / min(one[i] for one in before) for i in (0, 1))
        equal = "equal" if {one[3] for one in before} == {one[3] for one in after} else "OUTPUT DIFFERS"
        print(f"{name:10}  CPU {cpu:.2f}, median {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
              f"  wall {wall:.2f}  {max(one[2] for one in after):.0f} MiB  {equal}", flush=True)


if __name__ == "__main__":
    main()
