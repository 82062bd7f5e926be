#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Exact bytes compared with ncu's, kernel by kernel: kernel_kinds.py (PyTorch) and the probe known_bytes, each
# once under `rangefinder run --counters exact` and five times under ncu.
#
#   exact_against_ncu.py BUILD [--runs 5] [--only torch|probes]
#
# ncu leaves caches and clocks alone, as we do. Kernels are matched by mangled name and order; all must match.
# Compares L2 bytes of kernels that move more than 4 MiB. Compares DRAM bytes, read and written, if the kernel is
# alone in its range and the range declares more than 256 MiB (only directions with 5 % of the bytes or more).
# Good: within 2 % of ncu's median, or within ncu's own minimum and maximum.
# Exit code 1 if a value is not good, or if fewer than 20 kernel names were compared; 3 if something fails.
# Needs a GPU and ncu; `torch` also PyTorch.
import argparse
import collections
import csv
import io
import pathlib
import re
import statistics
import sys
import tempfile

from measuring import NCU, fail, run, run_for_json, trace_lines
from measuring import NCU_METRICS as METRICS

FOLDER = pathlib.Path(__file__).resolve().parent
MIN_L2, MIN_FOOTPRINT, MIN_PART = 4 << 20, 256 << 20, 0.05
MAX_PERCENT, MIN_KERNELS = 2, 20


# A command, the paths to compare, and the options with which ncu sees the same kernels.
Program = collections.namedtuple("Program", "name words within ncu_options")


def programs(args):
    known = Program("probes", [args.build / "bin/known_bytes", "--sizes", "16MiB,256MiB,1GiB", "--repeat", "2"],
                    "known_bytes", [])
    torch = Program("torch", [sys.executable, FOLDER / "kernel_kinds.py"], "measured", ["--profile-from-start", "off"])
    return [program for program in (known, torch) if args.only in (None, program.name)]


class Kernel:
    """A kernel of our trace."""

    def __init__(self, path, mangled, shown, line):
        self.path, self.mangled, self.shown = path, mangled, shown
        self.values = {name: line.get(name) for name in METRICS}
        self.unmeasured = line.get("unmeasured")
        self.ncu = {name: [] for name in METRICS}


def trace_kernels(folder, within):
    """Exact kernel lines under the path `within`, in order of launch."""
    paths, names, lines = {}, {}, {}
    for line, _ in trace_lines(folder, "path", "kernel_name", "exact"):
        if line["t"] == "path":
            above = paths.get(line["parent"])
            paths[line["id"]] = line["name"] if above is None else f"{above}/{line['name']}"
        elif line["t"] == "kernel_name":
            names[line["id"]] = line
        elif line["kind"] == "kernel":
            lines[line["corr"]] = line
    kernels = []
    for line in sorted(lines.values(), key=lambda line: line["start"]):
        path, name = paths.get(line.get("path"), ""), names[line["name"]]
        if path.split("/")[0] == within:
            kernels.append(Kernel(path, name["mangled"], name["demangled"], line))
    return kernels


def ncu_kernels(program, log):
    """[(mangled name, {our name of the metric: value})] of one run."""
    run(*NCU, *program.ncu_options, "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled",
        "--log-file", log, *program.words)
    text = log.read_text(encoding="utf-8", errors="replace")
    table = [line for line in text.splitlines() if line.startswith('"')]
    if len(table) < 3:
        fail(f"ncu, {program.name}: no table in its output:\n{text[-800:]}")
    rows = list(csv.DictReader(io.StringIO("\n".join(table))))
    units = rows.pop(0)
    if any(units[metric] not in ("byte", "bytes") for metric in METRICS.values()):
        fail(f"ncu, {program.name}: units {[units[metric] for metric in METRICS.values()]}")
    return [(row["Kernel Name"], {name: float(row[metric].replace(",", "")) for name, metric in METRICS.items()})
            for row in rows]


def short_name(text):
    """The demangled name without return type, template arguments and parameters."""
    text = text.removeprefix("void ").replace("(anonymous namespace)::", "")
    return re.split(r"[<(]", text)[0].split("::")[-1]


def same_kernels(program, kernels, rows):
    ours, theirs = [kernel.mangled for kernel in kernels], [name for name, _ in rows]
    if ours == theirs:
        return
    place = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    fail(f"{program.name}: {len(ours)} kernels in the trace, {len(theirs)} under ncu; they differ from number {place} "
         f"on:\n{ours[place:place + 2]}\n{theirs[place:place + 2]}")


def measure(args, program, folder):
    """(kernels with ncu's values, {path: declared bytes of a call})."""
    trace = folder / f"{program.name}-trace"
    result = run_for_json(args.build / "bin/rangefinder", "run", "--quiet", "--force", "--counters", "exact", "--out",
                          trace, "--", *program.words)
    kernels = trace_kernels(trace, program.within)
    if not kernels:
        fail(f"{program.name}: no exact kernels in the trace")
    for number in range(args.runs):
        rows = ncu_kernels(program, folder / f"{program.name}-ncu-{number}.csv")
        same_kernels(program, kernels, rows)
        for kernel, (_, values) in zip(kernels, rows):
            for name, value in values.items():
                kernel.ncu[name].append(value)
    return kernels, {row["path"]: row["declared_bytes"] / row["calls"] for row in result["ranges"]}


def to_compare(kernel, alone, footprint):
    """Names of the values that have a bound for this kernel."""
    medians = {name: statistics.median(values) for name, values in kernel.ncu.items()}
    names = ["l2_bytes"] if medians["l2_bytes"] > MIN_L2 else []
    if alone and footprint > MIN_FOOTPRINT:
        all_dram = medians["dram_read_bytes"] + medians["dram_write_bytes"]
        names += [name for name in ("dram_read_bytes", "dram_write_bytes") if medians[name] >= MIN_PART * all_dram]
    return names


class Result:
    """Differences in percent by metric, values missed, kernels compared, names of kernels."""

    def __init__(self):
        self.offs, self.missed, self.compared, self.names = {name: [] for name in METRICS}, 0, 0, set()


def compare(kernels, footprints, result):
    """Prints the rows."""
    calls = collections.defaultdict(list)
    for kernel in kernels:
        calls[kernel.path].append(kernel)
    for path, rows in calls.items():
        if path not in footprints:
            continue
        # A path that was called n times has n kernels, or a multiple of that.
        alone = len(rows) == 1 or (path.startswith("known_bytes") and len({row.mangled for row in rows}) == 1)
        for kernel in rows:
            chosen = to_compare(kernel, alone, footprints[path])
            result.compared += bool(chosen)
            for name in chosen:
                theirs, ours = kernel.ncu[name], kernel.values[name]
                median = statistics.median(theirs)
                off = float("nan") if ours is None else 100 * (ours / median - 1)
                good = ours is not None and (abs(off) <= MAX_PERCENT or min(theirs) <= ours <= max(theirs))
                result.missed += not good
                result.offs[name].append(abs(off))
                result.names.add(kernel.mangled)
                shown = f"{path.split('/', 1)[1]}: {short_name(kernel.shown)}"
                print(f"{shown[:66]:66} {name.removesuffix('_bytes'):10} "
                      f"{'none' if ours is None else format(ours / 1e6, '.3f'):>12} {median / 1e6:12.3f} "
                      f"({min(theirs) / 1e6:.3f}, {max(theirs) / 1e6:.3f}) {off:+.2f} %  "
                      f"{'ok' if good else 'MISSED' + (f': {kernel.unmeasured}' if kernel.unmeasured else '')}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=("torch", "probes"))
    args = parser.parse_args()
    args.build = args.build.resolve()
    result = Result()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        print(f"MB; ours, ncu's median of {args.runs} runs (minimum, maximum), difference")
        for program in programs(args):
            compare(*measure(args, program, folder), result)
    for name, values in result.offs.items():
        if values:
            print(f"{name}: {len(values)} values, difference {statistics.median(values):.2f} % median, "
                  f"{max(values):.2f} % maximum")
    enough = len(result.names) >= MIN_KERNELS or args.only is not None
    print(f"{result.compared} kernels of {len(result.names)} names, {result.missed} values missed"
          f"{'' if enough else f'; at least {MIN_KERNELS} names are needed'}")
    sys.exit(0 if result.missed == 0 and enough else 1)


if __name__ == "__main__":
    main()
