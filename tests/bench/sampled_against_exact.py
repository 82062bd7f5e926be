#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Sampled bytes compared with exact ones on RT-DETR: the program runs several times with exact counters and several
# times with samples. tests/sampled_against_exact of the build compares each sampled run with all exact ones.
#
#   sampled_against_exact.py BUILD [--program hf|rtdetr] [--iterations 300] [--exact-iterations 300]
#                            [--runs 3] [--exact-runs 3] [--keep FOLDER] [--overlap]
#                            [--exact-at launch|range] [--apart US]
#
# Exact counters let one kernel run at a time. Kernels of rtdetr that begin while the previous one ends (programmatic
# dependent launch) move other bytes through the L2 than alone. So unless --overlap is given, both modes run with
# CUDA_LAUNCH_BLOCKING=1, so that they do the same work.
#
# --apart: the truth is not an exact run but a sampled one in which each module waits that long before it begins. Then
# no sample holds two kernels: it shows what kernels move without counter ranges around them.
#
# Per column (DRAM read, written, L2): median and worst difference in percent for paths of 5 % of GPU time or more; the
# part of all paths whose stated error holds. Medians over the runs, with (minimum, maximum).
# Bytes are compared per call of the path, so the two lengths may differ. Cold calls (the first) weigh more in the
# shorter one. In the median run, exit code 1 if a heavy path is off by more than 2 %, or the error holds for fewer than
# 95 % of the paths; 3 if a run gives no values.
# Needs a GPU; `hf` also PyTorch and transformers.
import argparse
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import time

from measuring import fail, run, spread

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
COLUMNS = ("read", "written", "L2")
MAX_HEAVY_PERCENT, MIN_COVERED_PERCENT = 2, 95
SKIP = 5  # first iterations of each run: cold
NUMBER = r"\s+([\d.]+|inf|nan)"
ROW = re.compile(rf"^(read|written|L2)\s+(\d+) paths{NUMBER} %{NUMBER} %{NUMBER} % \|\s+(\d+) paths{NUMBER} %"
                 rf"{NUMBER} %{NUMBER} %$")


def command(args, iterations):
    """The command; both programs put an NVTX range around each of their modules."""
    if args.program == "hf":
        return [sys.executable, REPOSITORY / "tests/gpu/programs/hf_rtdetr.py", "--hooks", "--iterations", iterations]
    return [args.build / "bin/rtdetr", "--graph", "off", "--iterations", iterations]


def trace(args, folder, mode, iterations, apart=False):
    """Runs the program under the profiler; returns the last line it printed."""
    shutil.rmtree(folder, ignore_errors=True)
    words = [args.build / "bin/rangefinder", "run", "--quiet", "--force", "--counters", mode,
             "--sample-interval", "20", "--sample-cpu", "0", "--exact-at", args.exact_at,
             "--out", folder, "--", *command(args, iterations)]
    start = time.monotonic()
    blocking = {} if args.overlap or args.program == "hf" else {"CUDA_LAUNCH_BLOCKING": "1"}
    if apart:
        tool = args.build / "tests/libpausing_nvtx_tool.so"
        blocking |= {"NVTX_INJECTION64_PATH": str(tool), "PAUSE_US": str(args.apart)}
    done = run(*words, **blocking)
    if done.stderr.strip():
        print(f"{mode}, stderr: {done.stderr.strip()[-300:]}")
    lines = done.stdout.strip().splitlines()
    print(f"{mode}, {time.monotonic() - start:.0f} s: {' '.join(map(str, words[1:]))}\n  {lines[-1][:150] if lines else ''}",
          flush=True)


def compare(args, sampled, exact, log):
    """{column: (paths, covered %, off median, heavy paths, heavy median, heavy worst)} of one pair."""
    done = run(args.build / "tests/sampled_against_exact", sampled, *exact, "--skip", SKIP, "--all", codes=(0, 1))
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    rows = {}
    for line in done.stdout.splitlines():
        if found := ROW.match(line.rstrip()):
            column, paths, covered, off, _, heavy, median, worst, _ = found.groups()
            rows[column] = (int(paths), float(covered), float(off), int(heavy), float(median), float(worst))
    if set(rows) != set(COLUMNS) or not all(row[0] and row[3] for row in rows.values()):
        fail(f"no paths to compare in {log}:\n{done.stdout[-800:]}")
    return rows


def report(results):
    """True: all bounds are met."""
    print(f"\n{len(results)} sampled runs against the exact ones: median (minimum, maximum)")
    print(f"{'column':8} {'all paths':>9} {'error holds for, %':>22} {'off, median %':>22} {'heavy':>6}"
          f" {'off, median %':>22} {'off, worst %':>22}")
    good = True
    for column in COLUMNS:
        paths, covered, off, heavy, median, worst = zip(*(rows[column] for rows in results))
        kept = (statistics.median(covered) >= MIN_COVERED_PERCENT
                and statistics.median(worst) <= MAX_HEAVY_PERCENT)
        good = good and kept
        print(f"{column:8} {max(paths):9} {spread(covered, '.1f'):>22} {spread(off, '.2f'):>22} {max(heavy):6}"
              f" {spread(median, '.2f'):>22} {spread(worst, '.2f'):>22}  {'ok' if kept else 'MISSED'}")
    print(f"bounds: worst heavy path {MAX_HEAVY_PERCENT} %, stated error holds for {MIN_COVERED_PERCENT} %")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--program", choices=("hf", "rtdetr"), default="hf")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--exact-iterations", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3, help="number of sampled runs")
    parser.add_argument("--exact-runs", type=int, default=3)
    parser.add_argument("--overlap", action="store_true", help="let kernels of rtdetr overlap while sampled")
    parser.add_argument("--exact-at", choices=("launch", "range"), default="launch")
    parser.add_argument("--apart", type=int, default=0, metavar="US")
    parser.add_argument("--keep", type=pathlib.Path, help="keep traces and comparisons here")
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        exact = [folder / f"exact-{run}" for run in range(args.exact_runs)]
        for one in exact:
            trace(args, one, "sampled" if args.apart else "exact", args.exact_iterations, bool(args.apart))
        results = []
        for run in range(args.runs):
            sampled = folder / f"sampled-{run}"
            trace(args, sampled, "sampled", args.iterations)
            results.append(compare(args, sampled, exact, folder / f"compare-{run}.txt"))
        good = report(results)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
