#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Cost of sampled mode, and whether its sums are right: the same load without us, traced, and traced with samples, in
# turns.
#
#   sampling_cost.py BUILD [--pairs 7] [--seconds 1.5]
#
# Per load: median time of a round and what sampling adds to tracing, in percent, with the spread over the pairs; CPU of
# the sampling thread, without its start; bytes of `samples` lines per second. Before that, the DRAM bytes of COPIES
# copies of 1 GiB against what they must move. Needs a GPU.
import argparse
import json
import pathlib
import statistics
import tempfile

from measuring import fail, run, trace_lines

UNIT = 32
STEADY_S = 2
COPIES = 200


def load(build, folder, mode, *words):
    variables = {} if mode == "plain" else {
        "CUDA_INJECTION64_PATH": str(build / "lib/librangefinder.so"), "RANGEFINDER_OUT": str(folder),
        "RANGEFINDER_FORCE": "on", "RANGEFINDER_COUNTERS": mode, "RANGEFINDER_SAMPLE_INTERVAL": "20"}
    done = run(build / "tests/sampling_load", *words, **variables)
    if done.stderr:
        fail(f"sampling_load {words} {mode}: {done.stderr}")
    return json.loads(done.stdout)


class Trace:
    """Sums over the lines of one trace."""

    def __init__(self, folder):
        self.units, self.samples, self.line_bytes, self.intervals, self.lines = {}, 0, 0, [], 0
        self.first = self.last = None
        self.runs, self.idle = 0, 0
        for line, size in trace_lines(folder, "sampling", "end", "samples"):
            if line["t"] == "sampling":
                self.intervals.append((line["reason"], line["interval"], line["columns"]))
            elif line["t"] == "end":
                self.end = line
            else:
                self._samples(line, size)

    def _samples(self, line, size):
        self.line_bytes += size
        self.lines += 1
        self.runs += len(line["runs"])
        self.idle += line.get("idle_samples", 0)
        self.samples += sum(run[2] for run in line["runs"])
        if line["runs"]:
            self.first = line["runs"][0][0] if self.first is None else self.first
            self.last = line["runs"][-1][1]
        for name, column in line.items():
            if name in ("t", "gpu", "runs", "idle_samples", "idle"):
                continue
            values = column.values() if isinstance(column, dict) else column
            self.units[name] = self.units.get(name, 0) + sum(values)
        for name, units in line.get("idle", {}).items():
            self.units[name] = self.units.get(name, 0) + units

    def bytes(self, name):
        return self.units.get(name, 0) * UNIT


def steady_cores(build, folder, kind, args):
    """(CPU seconds per second, interval at the end in us): a long run minus a shorter one, which excludes the start and
    the time of finding the pace."""
    used = []
    for seconds in (args.seconds + STEADY_S, args.seconds + 2 * STEADY_S):
        load(build, folder, "sampled", kind, seconds)
        trace = Trace(folder)
        used.append(trace.end["own_cost"]["sampler_cpu_ns"])
    return (used[1] - used[0]) / (STEADY_S * 1e9), max(interval for _, interval, _ in trace.intervals) / 1000


def cost_row(build, folder, kind, args):
    times = {"plain": [], "off": [], "sampled": []}
    rate = []
    for pair in range(args.pairs):
        modes = list(times) if pair % 2 == 0 else list(times)[::-1]
        for mode in modes:
            times[mode].append(load(build, folder, mode, kind, args.seconds)["ns_a_round"])
            if mode == "sampled":
                trace = Trace(folder)
                rate.append(trace.line_bytes * 1e3 / (trace.last - trace.first))
                lost = trace.end["loss"].get("samples_lost", 0)
    cores, interval = steady_cores(build, folder, kind, args)
    medians = {mode: statistics.median(values) for mode, values in times.items()}
    added = [100 * (s / o - 1) for s, o in zip(times["sampled"], times["off"])]
    print(f"{kind:6} {medians['plain'] / 1e3:10.1f} {medians['off'] / 1e3:10.1f} {medians['sampled'] / 1e3:10.1f}"
          f" {100 * (medians['sampled'] / medians['off'] - 1):8.2f} {min(added):7.2f} {max(added):7.2f}"
          f" {cores:8.2f} {interval:7.1f} {statistics.median(rate):8.2f} {lost:6}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5)
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        known = load(args.build, folder, "sampled", "copies", COPIES)["bytes_copied"]
        trace = Trace(folder)
        for name in ("dram_read", "dram_write"):
            print(f"{name}: {trace.bytes(name):.6e} of {known:.6e} bytes, "
                  f"{100 * (trace.bytes(name) / known - 1):+.3f} %")
        print(f"samples {trace.samples} + {trace.idle} idle in {trace.lines} lines, {trace.runs} runs, "
              f"lost {trace.end['loss'].get('samples_lost', 0)}; sampling: {trace.intervals}")
        print("load     plain us  traced us sampled us added %     min     max cpu cores      us     MB/s   lost")
        for kind in ("empty", "copy", "gemm"):
            cost_row(args.build, folder, kind, args)


if __name__ == "__main__":
    main()
