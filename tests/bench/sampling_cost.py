#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Cost of sampled mode, and whether its sums are right: the same load without us, traced, and traced with samples, in
# turns.
#
#   sampling_cost.py BUILD [--pairs 7] [--seconds 1.5] [--copies 200] [--interval 20]
#
# Per load: median time of a round and what sampling adds to tracing, in percent, with the spread over the pairs; CPU of
# the sampling thread, without its start; bytes of `samples` lines per second. Before that, the DRAM bytes of --copies
# copies of 1 GiB against what they must move. Needs a GPU.
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

UNIT = 32
STEADY_S = 2


def run(build, folder, mode, words, interval):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RANGEFINDER_")}
    if mode != "plain":
        environment |= {"CUDA_INJECTION64_PATH": str(build / "lib/librangefinder.so"),
                        "RANGEFINDER_OUT": str(folder), "RANGEFINDER_FORCE": "on", "RANGEFINDER_COUNTERS": mode,
                        "RANGEFINDER_SAMPLE_INTERVAL": str(interval)}
    done = subprocess.run([build / "tests/sampling_load", *words], env=environment, capture_output=True, text=True,
                          check=False, timeout=120)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"sampling_load {words} {mode}: status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


class Trace:
    """Sums over the lines of one trace."""

    def __init__(self, folder):
        self.units, self.samples, self.line_bytes, self.intervals, self.lines = {}, 0, 0, [], 0
        self.first = self.last = None
        self.runs, self.idle = 0, 0
        for path in sorted(pathlib.Path(folder).glob("trace-*.ndjson")):
            with open(path, encoding="utf-8") as file:
                for text in file:
                    self._take(text)

    def _take(self, text):
        if text.startswith('{"t":"sampling"'):
            line = json.loads(text)
            self.intervals.append((line["reason"], line["interval"], line["columns"]))
        elif text.startswith('{"t":"end"'):
            self.end = json.loads(text)
        elif text.startswith('{"t":"samples"'):
            self._samples(json.loads(text), len(text))

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


def steady_cores(build, folder, load, args):
    """(CPU seconds per second, interval at the end in us): a long run minus a shorter one, which excludes the start and
    the time of finding the pace."""
    used = []
    for seconds in (args.seconds + STEADY_S, args.seconds + 2 * STEADY_S):
        run(build, folder, "sampled", [load, str(seconds)], args.interval)
        trace = Trace(folder)
        used.append(trace.end["own_cost"]["sampler_cpu_ns"])
    return (used[1] - used[0]) / (STEADY_S * 1e9), max(interval for _, interval, _ in trace.intervals) / 1000


def cost_row(build, folder, load, args):
    times = {"plain": [], "off": [], "sampled": []}
    rate = []
    for pair in range(args.pairs):
        modes = list(times) if pair % 2 == 0 else list(times)[::-1]
        for mode in modes:
            times[mode].append(run(build, folder, mode, [load, str(args.seconds)], args.interval)["ns_a_round"])
            if mode == "sampled":
                trace = Trace(folder)
                rate.append(trace.line_bytes * 1e3 / (trace.last - trace.first))
                lost = trace.end["loss"].get("samples_lost", 0)
    cores, interval = steady_cores(build, folder, load, args)
    medians = {mode: statistics.median(values) for mode, values in times.items()}
    added = [100 * (s / o - 1) for s, o in zip(times["sampled"], times["off"])]
    print(f"{load:6} {medians['plain'] / 1e3:10.1f} {medians['off'] / 1e3:10.1f} {medians['sampled'] / 1e3:10.1f}"
          f" {100 * (medians['sampled'] / medians['off'] - 1):8.2f} {min(added):7.2f} {max(added):7.2f}"
          f" {cores:8.2f} {interval:7.1f} {statistics.median(rate):8.2f} {lost:6}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--copies", type=int, default=200)
    parser.add_argument("--interval", type=int, default=20)
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        known = run(args.build, folder, "sampled", ["copies", str(args.copies)], args.interval)["bytes_copied"]
        trace = Trace(folder)
        for name in ("dram_read", "dram_write"):
            print(f"{name}: {trace.bytes(name):.6e} of {known:.6e} bytes, "
                  f"{100 * (trace.bytes(name) / known - 1):+.3f} %")
        print(f"samples {trace.samples} + {trace.idle} idle in {trace.lines} lines, {trace.runs} runs, "
              f"lost {trace.end['loss'].get('samples_lost', 0)}; sampling: {trace.intervals}")
        print("load     plain us  traced us sampled us added %     min     max cpu cores      us     MB/s   lost")
        for load in ("empty", "copy", "gemm"):
            cost_row(args.build, folder, load, args)


if __name__ == "__main__":
    main()
