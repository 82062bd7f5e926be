#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Cost of exact counters per launch, beside ncu's cost per kernel for the same three metrics on the same GPU in the
# same run.
#
#   exact_cost.py BUILD [--runs 3] [--launches 10240] [--batches 128,512,1024] [--ncu-launches 300] [--sets]
#
# Load: bin/launch_storm, launches of an empty kernel. The program times itself after its warm-up, so the figures
# exclude our start and ncu's. Each mode runs once per turn, and turns alternate in order. Medians, (minimum,
# maximum). A row's cost is what it adds to the plain program, including batches and decoding.
# `--sets`: only the cost of each metric set, beside ncu's for the set's metrics. A launch is measured with one group of
# the set; ncu measures it with all, in several passes.
# The start and the batches come from the traces of the runs with one thread at the largest batch: the longest of all
# launches, and the next longest, one per batch.
# Exit code 1 if a bound below is missed, 3 if something fails. Needs a GPU; ncu as installed.
import argparse
import json
import pathlib
import statistics
import sys
import tempfile

from measuring import NCU, fail, run, run_for_json, spread, trace_lines

RANGE_LAUNCHES = 16
SETS, MIN_SET_RATIO = ("speed-of-light", "memory", "occupancy", "stalls", "pipes", "roofline", "all"), 20
MAX_US_PER_LAUNCH, MIN_RATIO, MAX_START_MS, MAX_BATCH_MS = 97, 300, 1000, 40


class Mode:
    """One row of the table: how to run the program."""

    def __init__(self, name, threads, options=(), grouped=False):
        self.name, self.threads, self.options, self.grouped = name, threads, options, grouped
        self.us, self.us_a_group = [], []

    def run(self, args, folder):
        launches = args.launches * (RANGE_LAUNCHES if self.grouped else 1)  # the same number of counter ranges
        words = [args.build / "bin/launch_storm", "--threads", str(self.threads), "--launches", str(launches)]
        if self.grouped:
            words += ["--range-launches", str(RANGE_LAUNCHES)]
        prefix = []
        if self.options:
            prefix = [args.build / "bin/rangefinder", "run", "--quiet", "--force", "--out", folder, *self.options,
                      "--"]
        found = run_for_json(*prefix, *words)
        self.us.append(found["ns_per_launch"] / 1e3)
        self.us_a_group.append(found["ns_per_group"] / 1e3)


def modes_of(args):
    modes = []
    for threads in (1, 8):
        modes += [Mode("plain", threads), Mode("traced", threads, ("--counters", "off"))]
        modes += [Mode(f"exact, a range a launch, batch {batch}", threads,
                       ("--counters", "exact", "--exact-batch", str(batch))) for batch in args.batches]
        modes += [Mode(f"plain, in ranges of {RANGE_LAUNCHES}", threads, (), True)]
        modes += [Mode(f"exact, at ranges of {RANGE_LAUNCHES}, batch {batch}", threads,
                       ("--counters", "exact", "--exact-at", "range", "--exact-batch", str(batch)), True)
                  for batch in args.batches]
    return modes


class Waits:
    """From a trace of one thread: the longest launch (the start), and the next longest, one per batch."""

    def __init__(self, folder):
        spans, self.batches = [], 0
        for line, _ in trace_lines(folder, "end", "exact"):
            if line["t"] == "end":
                self.batches = line["own_cost"]["exact_batches"]
                self.unmeasured = line["loss"].get("exact_unmeasured", 0)
            elif line["kind"] != "range":
                spans.append((line["end"] - line["start"]) / 1e6)
        if self.batches < 3 or len(spans) < 3:
            fail(f"{folder}: {self.batches} batches, {len(spans)} exact launches")
        spans.sort(reverse=True)
        # The last batch is decoded when the program ends, outside any launch.
        self.start_ms, self.batch_ms = spans[0], spans[1:self.batches]
        self.launch_us = statistics.median(spans[self.batches:]) * 1e3


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
    print(f"launch_storm --threads T --launches {args.launches}, in ranges {RANGE_LAUNCHES} times as many "
          f"--range-launches {RANGE_LAUNCHES}; {args.runs} runs of each, in turns\n")
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
    """us per kernel over the plain program."""
    words = [args.build / "bin/launch_storm", "--threads", "1", "--launches", str(args.ncu_launches)]
    prefix = [*NCU, "--force-overwrite", "--export", folder / "ncu"]
    print(f"\n{' '.join(map(str, prefix[:-1]))} FILE launch_storm {' '.join(words[1:])}")
    plain = run_for_json(*words)["ns_per_launch"]
    return (run_for_json(*prefix, *words)["ns_per_launch"] - plain) / 1e3


def set_costs(args, folder):
    """Prints a row per set. False: a bound is missed."""
    program = [args.build / "bin/rangefinder"]
    storm = [args.build / "bin/launch_storm", "--threads", "1", "--launches"]
    plain = run_for_json(*storm, args.launches)["ns_per_launch"] / 1e3
    print(f"\n{'set':16} {'turns':>5} {'us a launch':>12} {'ncu, us a launch':>17} {'ratio':>7}")
    good = True
    for name in SETS:
        plan, = json.loads(run(*program, "metrics", "--set", name, "--json").stdout)["sets"]
        metrics = sorted({metric for group in plan["groups"] for metric in group["metrics"][2:]})
        ours = run_for_json(*program, "run", "--quiet", "--force", "--out", folder / "set", "--counters", "exact",
                            "--metrics", name, "--", *storm, args.launches)["ns_per_launch"] / 1e3 - plain
        ncu = [*NCU[:1], "--metrics", ",".join(metrics), *NCU[3:], "--force-overwrite", "--export", folder / "ncu-set"]
        few = args.ncu_launches // 10
        theirs = (run_for_json(*ncu, *storm, few)["ns_per_launch"] - run_for_json(*storm, few)["ns_per_launch"]) / 1e3
        kept = theirs / ours >= MIN_SET_RATIO
        good = good and kept
        print(f"{name:16} {plan['passes']:5} {ours:12.0f} {theirs:17,.0f} {theirs / ours:7.0f}  {'ok' if kept else 'MISSED'}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--launches", type=int, default=10240)
    parser.add_argument("--batches", default="128,512,1024", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--ncu-launches", type=int, default=300)
    parser.add_argument("--sets", action="store_true", help="the metric sets alone")
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.sets:
            sys.exit(0 if set_costs(args, folder) else 1)
        modes, waits = run_all(args, folder / "trace")
        ncu = ncu_cost(args, folder)
        costs = print_modes(args, modes)
        good = print_waits(waits)
        print(f"\nncu, 1 thread: {ncu:.1f} us a kernel")
        for threads in (1, 8):
            cost = costs[f"exact, a range a launch, batch {args.batches[-1]}", threads]
            ratio = ncu / cost
            kept = cost <= MAX_US_PER_LAUNCH and ratio >= MIN_RATIO
            good = good and kept
            print(f"exact at launches, {threads} threads: {cost:.1f} us a launch (at most {MAX_US_PER_LAUNCH}), "
                  f"ncu costs {ratio:.0f} times as much (at least {MIN_RATIO})  {'ok' if kept else 'MISSED'}")
        a_range = costs[f"exact, at ranges of {RANGE_LAUNCHES}, batch {args.batches[-1]}", 1] * RANGE_LAUNCHES
        kept = a_range <= MAX_US_PER_LAUNCH
        print(f"exact at ranges, 1 thread: {a_range:.1f} us a range of {RANGE_LAUNCHES} launches (at most "
              f"{MAX_US_PER_LAUNCH})  {'ok' if kept else 'MISSED'}")
        sys.exit(0 if good and kept else 1)


if __name__ == "__main__":
    main()
