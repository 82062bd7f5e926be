#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Cost of exact counters per launch, beside ncu's cost per kernel for the same three metrics on the same GPU in the
# same run.
#
#   exact_cost.py BUILD [--runs 3] [--launches 10240] [--range-launches 16] [--batches 128,512,1024]
#                       [--ncu FILE] [--ncu-launches 300] [--ncu-runs 1]
#
# Load: bin/launch_storm, launches of an empty kernel. The program times itself after its warm-up, so the figures
# exclude our start and ncu's. Each mode runs once per turn, and turns alternate in order. Medians, (minimum,
# maximum). A row's cost is what it adds to the plain program, including batches and decoding.
# The start and the batches come from the traces of the runs with one thread at the largest batch: the longest of all
# launches, and the next longest, one per batch.
# Exit code 1 if a bound below is missed, 3 if something fails. Needs a GPU; ncu as installed.
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MAX_US_PER_LAUNCH, MIN_RATIO, MAX_START_MS, MAX_BATCH_MS = 97, 300, 1000, 40
METRICS = "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum"


def fail(message):
    print(f"exact_cost.py: {message}", file=sys.stderr)
    sys.exit(3)


def storm(words, timeout, prefix=()):
    """The program's own JSON."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RANGEFINDER_")}
    done = subprocess.run([*prefix, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=environment, timeout=timeout)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        fail(f"{' '.join(map(str, [*prefix, *words]))}: status {done.returncode}\n"
             f"{done.stdout[-600:]}{done.stderr[-600:]}")
    return json.loads(lines[-1])


class Mode:
    """One row of the table: how to run the program."""

    def __init__(self, name, threads, options=(), grouped=False):
        self.name, self.threads, self.options, self.grouped = name, threads, options, grouped
        self.us, self.us_a_group = [], []

    def run(self, args, folder):
        launches = args.launches * (args.range_launches if self.grouped else 1)  # the same number of counter ranges
        words = [args.build / "bin/launch_storm", "--threads", str(self.threads), "--launches", str(launches)]
        if self.grouped:
            words += ["--range-launches", str(args.range_launches)]
        prefix = []
        if self.options:
            prefix = [args.build / "bin/rangefinder", "run", "--quiet", "--force", "--out", folder, *self.options,
                      "--"]
        found = storm(words, args.timeout, prefix)
        self.us.append(found["ns_per_launch"] / 1e3)
        self.us_a_group.append(found["ns_per_group"] / 1e3)


def modes_of(args):
    modes = []
    for threads in (1, 8):
        modes += [Mode("plain", threads), Mode("traced", threads, ("--counters", "off"))]
        modes += [Mode(f"exact, a range a launch, batch {batch}", threads,
                       ("--counters", "exact", "--exact-batch", str(batch))) for batch in args.batches]
        modes += [Mode(f"plain, in ranges of {args.range_launches}", threads, (), True)]
        modes += [Mode(f"exact, at ranges of {args.range_launches}, batch {batch}", threads,
                       ("--counters", "exact", "--exact-at", "range", "--exact-batch", str(batch)), True)
                  for batch in args.batches]
    return modes


class Waits:
    """From a trace of one thread: the longest launch (the start), and the next longest, one per batch."""

    def __init__(self, folder):
        spans, self.batches = [], 0
        for path in sorted(pathlib.Path(folder).glob("trace-*.ndjson")):
            for text in path.read_text(encoding="utf-8").splitlines():
                if text.startswith('{"t":"end"'):
                    end = json.loads(text)
                    self.batches = end["own_cost"]["exact_batches"]
                    self.unmeasured = end["loss"].get("exact_unmeasured", 0)
                elif text.startswith('{"t":"exact"'):
                    line = json.loads(text)
                    if line["kind"] != "range":
                        spans.append((line["end"] - line["start"]) / 1e6)
        if self.batches < 3 or len(spans) < 3:
            fail(f"{folder}: {self.batches} batches, {len(spans)} exact launches")
        spans.sort(reverse=True)
        # The last batch is decoded when the program ends, outside any launch.
        self.start_ms, self.batch_ms = spans[0], spans[1:self.batches]
        self.launch_us = statistics.median(spans[self.batches:]) * 1e3


def spread(values, form=".1f"):
    return (f"{format(statistics.median(values), form)} ({format(min(values), form)},"
            f" {format(max(values), form)})")


def run_all(args, folder):
    modes, waits = modes_of(args), {}
    for turn in range(args.runs):
        for mode in modes if turn % 2 == 0 else modes[::-1]:
            mode.run(args, folder)
            if mode.threads == 1 and "exact" in mode.name and str(args.batches[-1]) in mode.options:
                waits.setdefault(mode.name, []).append(Waits(folder))
    return modes, waits


def print_modes(args, modes):
    """Cost of each mode over its plain program: {(name, threads): us per launch}."""
    print(f"launch_storm --threads T --launches {args.launches}, in ranges {args.range_launches} times as many "
          f"--range-launches {args.range_launches}; {args.runs} runs of each, in turns\n")
    print(f"{'mode':44} {'threads':>7} {'us a launch':>26} {'us a range':>28} {'added, us a launch':>19}")
    costs = {}
    for mode in modes:
        plain = next(m for m in modes if m.threads == mode.threads and m.grouped == mode.grouped and not m.options)
        added = statistics.median(mode.us) - statistics.median(plain.us)
        costs[mode.name, mode.threads] = added
        groups = spread(mode.us_a_group) if mode.grouped else ""
        print(f"{mode.name:44} {mode.threads:7} {spread(mode.us, '.2f'):>26} {groups:>28}"
              f" {'' if mode is plain else format(added, '.2f'):>19}")
    return costs


def print_waits(waits):
    good = True
    print()
    for name, found in waits.items():
        starts = [wait.start_ms for wait in found]
        batches = [ms for wait in found for ms in wait.batch_ms]
        kept = max(starts) < MAX_START_MS and max(batches) < MAX_BATCH_MS
        good = good and kept
        print(f"{name}, 1 thread: the start held a launch for {spread(starts)} ms; {len(batches)} batches one for"
              f" {spread(batches)} ms each; other launches {statistics.median(w.launch_us for w in found):.1f} us;"
              f" unmeasured {sum(wait.unmeasured for wait in found)}"
              f"  {'ok' if kept else 'MISSED'}")
    return good


def ncu_cost(args, folder):
    """us per kernel over the plain program, one value per run."""
    words = [args.build / "bin/launch_storm", "--threads", "1", "--launches", str(args.ncu_launches)]
    prefix = [args.ncu, "--metrics", METRICS, "--cache-control", "none", "--clock-control", "none", "--force-overwrite",
              "--export", folder / "ncu"]
    print(f"\n{' '.join(map(str, prefix[:-1]))} FILE launch_storm {' '.join(words[1:])}")
    added = []
    for _ in range(args.ncu_runs):
        plain = storm(words, args.timeout)["ns_per_launch"]
        added.append((storm(words, args.timeout, prefix)["ns_per_launch"] - plain) / 1e3)
    return added


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--launches", type=int, default=10240)
    parser.add_argument("--range-launches", type=int, default=16)
    parser.add_argument("--batches", default="128,512,1024", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--ncu", default=shutil.which("ncu") or "ncu")
    parser.add_argument("--ncu-launches", type=int, default=300)
    parser.add_argument("--ncu-runs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one run")
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        modes, waits = run_all(args, folder / "trace")
        ncu = ncu_cost(args, folder)
    costs = print_modes(args, modes)
    good = print_waits(waits)
    print(f"\nncu, 1 thread: {spread(ncu)} us a kernel, {len(ncu)} runs")
    for threads in (1, 8):
        cost = costs[f"exact, a range a launch, batch {args.batches[-1]}", threads]
        ratio = statistics.median(ncu) / cost
        kept = cost <= MAX_US_PER_LAUNCH and ratio >= MIN_RATIO
        good = good and kept
        print(f"exact at launches, {threads} threads: {cost:.1f} us a launch (at most {MAX_US_PER_LAUNCH}), "
              f"ncu costs {ratio:.0f} times as much (at least {MIN_RATIO})  {'ok' if kept else 'MISSED'}")
    a_range = costs[f"exact, at ranges of {args.range_launches}, batch {args.batches[-1]}", 1] * args.range_launches
    kept = a_range <= MAX_US_PER_LAUNCH
    print(f"exact at ranges, 1 thread: {a_range:.1f} us a range of {args.range_launches} launches (at most "
          f"{MAX_US_PER_LAUNCH})  {'ok' if kept else 'MISSED'}")
    sys.exit(0 if good and kept else 1)


if __name__ == "__main__":
    main()
