#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Start of sampled mode with `--counters auto`: whether programs may exit at any moment of it, and what it costs a short
# program. Needs a GPU.
#
#   start_of_sampling.py BUILD [--exits 80] [--rounds 11]
#
# The program launches 50 kernels, works on the host for some time, and ends: by return, by exit() in another thread.
# Exits are spread over the first 0.7 s. Then the whole program's time with 50 ms of host work, without us and by mode
# of counters, in turns.
import argparse
import pathlib
import tempfile
import time

from measuring import fail, run, spread

LONGEST_MS = 700
SHORT_MS = 50
STATUS = 5  # of the program


def ended(build, folder, how, alive_ms, counters):
    """Status, stderr, ms of the whole program."""
    variables = {} if counters is None else {
        "CUDA_INJECTION64_PATH": str(build / "lib/librangefinder.so"), "RANGEFINDER_OUT": str(folder),
        "RANGEFINDER_FORCE": "on", "RANGEFINDER_COUNTERS": counters}
    began = time.monotonic()
    done = run(build / "tests/injection/programs/exits", how, alive_ms, codes=range(-64, 256), **variables)
    return done.returncode, done.stderr, 1e3 * (time.monotonic() - began)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--exits", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    build = options.build.resolve()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "trace"
        for how in ("return", "exit-in-thread"):
            for i in range(options.exits):
                alive_ms = LONGEST_MS * i // options.exits
                status, errors, _ = ended(build, folder, how, alive_ms, "auto")
                if status != STATUS or errors:
                    bad += 1
                    print(f"{how} after {alive_ms} ms: status {status} {errors[-300:]}")
        print(f"exits during the start: {2 * options.exits}, of them bad: {bad}")

        times = {"without us": [], "off": [], "auto": [], "sampled": []}
        for _ in range(options.rounds):
            for mode, found in times.items():
                status, errors, ms = ended(build, folder, "return", SHORT_MS, None if mode == "without us" else mode)
                if status != STATUS:
                    fail(f"{mode}: status {status} {errors[-300:]}")
                found.append(ms)
        for mode, found in times.items():
            print(f"{mode:12} {spread(found)} ms")
        ratios = [auto / off for auto, off in zip(times["auto"], times["off"])]
        print(f"auto / off: {spread(ratios, '.3f')}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
