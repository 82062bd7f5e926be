#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Named metrics compared with ncu's, kernel by kernel, in one job: nine kinds of PyTorch operations (kernel_kinds.py),
# the transposes, the matrix products of case_gemm, and the heaviest kernels of a BERT training step.
#
#   metrics_against_ncu.py BUILD [--runs 3] [--only NAME,…] [--csv FILE]
#
# Ours: `rangefinder run --counters exact --metrics all`, each kernel launched often enough for all turns. ncu: one
# launch of each, N runs, with its caches and clocks left alone as ours are.
# Good: within 3 points (percent), 3 % (sectors, IPC, threads) or between ncu's own minimum and maximum; of the stall
# shares, the three largest within 5 points. L2 hit rate and L2 throughput are shown, not judged: see their meaning in
# docs/reference/metrics.md.
# Exit code 1 if a judged value is not good, 3 if something fails. Needs a GPU, ncu and PyTorch.
import argparse
import collections
import csv
import io
import json
import pathlib
import statistics
import sys
import tempfile

from measuring import fail, run

FOLDER = pathlib.Path(__file__).resolve().parent
BERT = FOLDER.parent.parent / "workloads/cases/bert.py"
OPERATIONS = ("matmul fp16 4096", "matmul fp32 4096", "softmax fp16 256 MiB", "layer_norm fp16 256 MiB",
              "transpose fp32 512 MiB", "conv 3x3 fp16", "gather, 16 Mi random words", "attention fp16 4096",
              "cumsum 256 MiB", "sort 64 MiB")
REPEAT = 110  # launches of each kernel: two for each of the 26 turns, twice
HEAVIEST, MIN_GRID_SHARE = 10, 0.95
NCU_LAUNCHES = 150  # of the heaviest kernels
TIME = "gpu__time_duration.sum"
POINTS, PERCENT, STALL_POINTS, STALLS = 3, 3, 5, 3

ELAPSED, ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
# Our name, ncu's metric, whether points (else percent) are compared, whether it is judged.
Metric = collections.namedtuple("Metric", "theirs points judged", defaults=(True, True))
METRICS = {
    "compute_throughput": Metric("sm__throughput" + ELAPSED),
    "memory_throughput": Metric("gpu__compute_memory_throughput" + ELAPSED),
    "l1_throughput": Metric("l1tex__throughput" + ELAPSED),
    "l2_throughput": Metric("lts__throughput" + ELAPSED, judged=False),
    "dram_throughput": Metric("gpu__dram_throughput" + ELAPSED),
    "l1_hit_rate": Metric("l1tex__t_sector_hit_rate.pct"),
    "l2_hit_rate": Metric("lts__t_sector_hit_rate.pct", judged=False),
    "load_sectors_per_request": Metric("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", False),
    "store_sectors_per_request": Metric("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", False),
    "achieved_occupancy": Metric("sm__warps_active" + ACTIVE),
    "issue_slots": Metric("sm__issue_active" + ACTIVE),
    "ipc": Metric("sm__inst_executed.avg.per_cycle_active", judged=False),
    "threads_per_instruction": Metric("smsp__thread_inst_executed_per_inst_executed.ratio", False),
    "tensor_pipe": Metric("sm__pipe_tensor_cycles_active" + ACTIVE),
    "fp32_pipe": Metric("sm__pipe_fma_cycles_active" + ACTIVE),
    "fp16_pipe": Metric("sm__inst_executed_pipe_fma_type_fp16" + ACTIVE),
    "fp64_pipe": Metric("sm__pipe_fp64_cycles_active" + ACTIVE),
    "alu_pipe": Metric("sm__pipe_alu_cycles_active" + ACTIVE),
    "lsu_pipe": Metric("sm__inst_executed_pipe_lsu" + ACTIVE),
    "xu_pipe": Metric("sm__inst_executed_pipe_xu" + ACTIVE),
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


# A command for us and one for ncu, which sees the same kernels less often.
Program = collections.namedtuple("Program", "name ours theirs ncu_options run_options", defaults=((), ()))


def programs(build):
    kinds = [sys.executable, FOLDER / "kernel_kinds.py", "--only", ";".join(OPERATIONS)]
    yield Program("operations", [*kinds, "--repeat", REPEAT], kinds, ("--profile-from-start", "off"))
    case = build / "bin/case_transpose"
    yield Program("case_transpose", [case, "--iterations", REPEAT], [case, "--iterations", 1])
    for size in ("32x64x16", "256", "1024"):
        case = [build / "bin/case_gemm", "--sizes", size]
        yield Program(f"case_gemm {size}", [*case, "--iterations", REPEAT], [*case, "--iterations", 1])
    for precision in ("fp32", "amp"):
        bert = [sys.executable, BERT, "--precision", precision]
        yield Program(f"bert {precision}", [*bert, "--steps", 54, "--warmup", 1], [*bert, "--steps", 2, "--warmup", 1])


def heaviest(rangefinder, program, folder):
    """{mangled name: grid} of the kernels with most GPU time, of those that spend nearly all of it in one grid."""
    run(rangefinder, "run", "--quiet", "--force", "--counters", "off", "--out", folder, "--", *program.theirs)
    kernels = json.loads(run(rangefinder, "report", folder, "--json", "--section", "kernels").stdout)
    mangled = {row["name"]: row["mangled"] for row in kernels["traces"][0]["kernels"]}
    found = json.loads(run(rangefinder, "report", folder, "--json", "--section", "kernel", "--kernel", ".").stdout)
    by_name = collections.defaultdict(collections.Counter)
    for row in found["traces"][0]["kernel_configurations"]:
        by_name[row["kernel"]][row["grid"]] += row["total_ns"]
    single = {name: grids.most_common(1)[0] for name, grids in by_name.items()
              if grids.most_common(1)[0][1] >= MIN_GRID_SHARE * sum(grids.values())}
    names = sorted(single, key=lambda name: -single[name][1])[:HEAVIEST]
    return {mangled[name]: "(" + single[name][0].replace("x", ", ") + ")" for name in names}


def regex_of(names):
    return "^(" + "|".join(name.replace("$", r"\$").replace(".", r"\.") for name in names) + ")$"


def our_kernels(rangefinder, program, only, folder):
    """{mangled name: (named metrics, {stall: share}, share of the GPU time)}"""
    run(rangefinder, "run", "--quiet", "--force", "--counters", "exact", "--metrics", "all", "--out", folder, "--",
        *program.ours)
    out = {}
    found = json.loads(run(rangefinder, "report", folder, "--json", "--section", "kernels").stdout)["traces"][0]["kernels"]
    metrics = json.loads(run(rangefinder, "report", folder, "--json", "--section", "metrics").stdout)
    by_name = {row["kernel"]: row for row in metrics["traces"][0]["metrics_kernels"]}
    for row in found:
        if row["name"] not in by_name or (only and row["mangled"] not in only):
            continue
        named = by_name[row["name"]]
        stalls = {key.removeprefix("stall_"): value for key, value in named.items() if key.startswith("stall_")}
        out[row["mangled"]] = named, stalls, row["name"]
    return out


def ncu_kernels(program, only, log):
    """{mangled name: {ncu's metric: mean over its launches by time}} of one run. `only`: kernels and their grids."""
    limit = []
    if only:
        limit = ["--kernel-name-base", "mangled", "--kernel-name", "regex:" + regex_of(only), "--launch-count", NCU_LAUNCHES]
    stalls = [STALL.format(name) for name in NCU_STALLS]
    run("ncu", "--metrics", ",".join([metric.theirs for metric in METRICS.values()] + stalls + [TIME]), "--cache-control", "none",
        "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled",
        *program.ncu_options, *limit, "--log-file", log, *program.theirs)
    text = log.read_text(encoding="utf-8", errors="replace")
    rows = list(csv.DictReader(io.StringIO("\n".join(line for line in text.splitlines() if line.startswith('"')))))
    if len(rows) < 2:
        fail(f"ncu, {program.name}: no table in its output:\n{text[-800:]}")
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows[1:]:
        if only and only.get(row["Kernel Name"]) != row["Grid Size"]:
            continue
        seen = values[row["Kernel Name"]]
        time = float(row[TIME].replace(",", ""))
        for key, text in row.items():
            try:
                number = float(text.replace(",", ""))
            except (ValueError, AttributeError):
                continue
            seen[key].append((number, time))
    return {name: {key: sum(value * time for value, time in found) / sum(time for _, time in found)
                   for key, found in keys.items()} for name, keys in values.items()}


NCU_STALLS = ("long_scoreboard", "gmma", "drain", "imc_miss", "short_scoreboard", "wait", "selected", "not_selected",
              "barrier", "math_pipe_throttle", "lg_throttle", "mio_throttle", "membar", "no_instruction",
              "branch_resolving", "dispatch_stall", "sleeping", "tex_throttle", "misc")


class Result:
    def __init__(self):
        self.rows, self.lines = collections.defaultdict(list), []

    def add(self, program, kernel, name, ours, theirs, points, limit, judged):
        median = statistics.median(theirs)
        off = ours - median if points else 100 * (ours / median - 1) if median else 0
        good = abs(off) <= limit or min(theirs) <= ours <= max(theirs)
        self.rows[name].append((abs(off), good, judged))
        self.lines.append((program, kernel, name, f"{ours:.2f}", f"{median:.2f}", f"{min(theirs):.2f}",
                           f"{max(theirs):.2f}", f"{off:+.2f}", "ok" if good else "MISSED" if judged else "not judged"))
        if judged and not good:
            print(f"{program}: {kernel[:60]}: {name} {ours:.2f}, ncu {median:.2f} "
                  f"({min(theirs):.2f}, {max(theirs):.2f})  MISSED")


def compare(result, program, ours, runs):
    for mangled, (named, stalls, shown) in ours.items():
        theirs = [found[mangled] for found in runs if mangled in found]
        if len(theirs) < len(runs):
            continue
        for name, metric in METRICS.items():
            values = [found[metric.theirs] for found in theirs if metric.theirs in found]
            if name in named and len(values) == len(runs):
                result.add(program.name, shown, name, named[name], values, metric.points,
                           POINTS if metric.points else PERCENT, metric.judged)
        shares = collections.defaultdict(list)
        for found in theirs:
            all_cycles = sum(found.get(STALL.format(name), 0) for name in NCU_STALLS)
            for name in NCU_STALLS if all_cycles else ():
                shares[name].append(100 * found.get(STALL.format(name), 0) / all_cycles)
        largest = sorted(shares, key=lambda name: -statistics.median(shares[name]))[:STALLS]
        for name in largest:
            if name in stalls:
                result.add(program.name, shown, "stall shares", stalls[name], shares[name], True, STALL_POINTS,
                           True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--csv", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    rangefinder, result, kernels = args.build / "bin/rangefinder", Result(), 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for program in programs(args.build):
            if args.only and program.name not in args.only:
                continue
            only = heaviest(rangefinder, program, folder / "traced") if program.name.startswith("bert") else None
            ours = our_kernels(rangefinder, program, only, folder / "trace")
            runs = [ncu_kernels(program, only, folder / f"ncu-{number}.csv") for number in range(args.runs)]
            compare(result, program, ours, runs)
            both = set(ours) & set(runs[0])
            kernels += len(both)
            print(f"{program.name}: {len(both)} kernels compared", flush=True)
    print(f"\n{'metric':28} {'values':>6} {'good':>6} {'median off':>11} {'largest off':>12}")
    for name, rows in result.rows.items():
        offs = [off for off, _, _ in rows]
        judged = "" if rows[0][2] else "  (not judged)"
        print(f"{name:28} {len(rows):6} {sum(good for _, good, _ in rows):6} {statistics.median(offs):11.2f} "
              f"{max(offs):12.2f}{judged}")
    if args.csv:
        with open(args.csv, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("program", "kernel", "metric", "ours", "ncu", "least", "most", "off", "verdict"),
                                        *result.lines])
    missed = sum(judged and not good for rows in result.rows.values() for _, good, judged in rows)
    print(f"{kernels} kernels, {sum(len(rows) for rows in result.rows.values())} values, {missed} judged values missed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
