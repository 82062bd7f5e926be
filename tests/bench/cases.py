#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of the cases of workloads/cases on this GPU, for docs/internals/measured.md.

cases.py BUILD [--only transpose|gemm|starved|attention]

Runs each case under `rangefinder run`. Prints times, bytes and counters from the report beside the values that the
program expects. Needs a GPU and permission to read counters. One run each: run it three times for a figure.
"""
import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))

from checks.runner import Runner, Table


class Traced:
    """One program under the profiler: its output, and its report until the next one."""

    def __init__(self, runner, program, *options):
        self.runner = runner
        self.expected = runner.recorded("case", [f"{runner.bin}/{program[0]}", *program[1:]], options, timeout_s=600)

    def section(self, name):
        return self.runner.report(self.runner.trace_folder("case"), "--section", name)["traces"][0]

    def modules(self):
        return {row["path"]: row for row in self.section("modules")["modules"]}

    def finding(self, rule):
        """Evidence of this finding, or {}."""
        return next((found["evidence"] for found in self.section("findings")["findings"] if found["id"] == rule), {})


def table(title, head, rows):
    print(f"\n### {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")


def number(value, unit=1, digits=1):
    return "not measured" if value is None else f"{value / unit:.{digits}f}"


def per_call(row, *keys):
    """Sum of bytes in MB; None: not measured."""
    if any(key not in row for key in keys):
        return None
    return sum(row[key] for key in keys) / row["calls"] / 1e6


def ratio(metrics, above, below):
    """Ratio of two sums of metrics; None: one was not measured."""
    sums = [sum(metrics[name]["value"] for name in names if name in metrics) for names in (above, below)]
    return sums[0] / sums[1] if sums[1] else None


def transpose(runner):
    plain = Traced(runner, ["case_transpose"]).modules()
    counted = Traced(runner, ["case_transpose", "--iterations", "30"], "--counters", "exact", "--metrics",
                     "bytes,memory", "--exact-batch", "8")
    modules = counted.modules()
    rows = []
    for variant in counted.expected["variants"]:
        row, timed = modules[variant["path"]], plain[variant["path"]]
        metrics = row.get("metrics", {})
        us = timed["gpu_ns"] / timed["calls"] / 1e3
        moved = variant["read_bytes"] + variant["write_bytes"]
        sectors = ratio(metrics, ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
                        ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"])
        conflicts = metrics.get("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", {}).get("mean")
        rows.append((variant["path"], f"{us:.1f}", f"{moved / us / 1e3:.0f}",
                     number(per_call(row, "dram_read_bytes")), number(per_call(row, "dram_write_bytes")),
                     number(per_call(row, "l2_bytes")),
                     f"{number(sectors)} ({variant['store_sectors_per_request']})",
                     f"{number(conflicts, 1, 0)} ({variant['bank_conflicts']})"))
    table("Transpose of 8192 x 4096 floats; expected values in brackets",
          ("version", "us", "GB/s", "DRAM read, MB", "DRAM written, MB", "L2, MB", "sectors a store", "conflicts"), rows)


def gemm(runner):
    traced = Traced(runner, ["case_gemm"])
    modules = traced.modules()
    rows = []
    for variant in traced.expected["variants"]:
        row = modules[variant["path"]]
        us = row["gpu_ns"] / row["calls"] / 1e3
        rows.append((variant["path"], variant["type"], f"{us:.2f}", f"{variant['flop'] / us / 1e6:.3f}", row["kernels"] // row["calls"]))
    table("Matrix products", ("size", "type", "us", "TFLOP/s", "kernels"), rows)


def starved(runner):
    rows = []
    for workers in (0, 1, 8, 16):
        traced = Traced(runner, ["case_starved", "--workers", str(workers)])
        idle = traced.finding("idle_in_range").get("share_of_time", 0)
        rows.append((workers, f"{traced.expected['expected_idle']:.3f}", f"{idle:.3f}", traced.expected["cores"]))
    table("A GPU that waits for loaders", ("loaders", "idle by the formula", "idle in load", "cores"), rows)
    rows = []
    for memory in ("pageable", "pinned"):
        traced = Traced(runner, ["case_starved", "--workers", "8", "--copy", memory])
        copy = traced.section("memcpy")["memcpy"][0]
        rows.append((memory, f"{copy['bytes'] / copy['gpu_ns']:.1f}"))
    table("Copies of a batch of 39 MB", ("memory", "GB/s"), rows)


def attention(runner):
    plain = Traced(runner, ["case_attention"]).modules()
    traced = Traced(runner, ["case_attention"], "--counters", "exact")
    modules = traced.modules()
    rows = []
    for variant in traced.expected["variants"]:
        row, timed = modules[variant["path"]], plain[variant["path"]]
        rows.append((variant["path"], f"{timed['gpu_ns'] / timed['calls'] / 1e3:.1f}",
                     number(per_call(row, "dram_read_bytes", "dram_write_bytes")), number(per_call(row, "l2_bytes")),
                     number(variant["declared_bytes"], 1e6)))
    table("Attention", ("version", "us", "DRAM, MB", "L2, MB", "declared, MB"), rows)


CASES = {"transpose": transpose, "gemm": gemm, "starved": starved, "attention": attention}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", action="append", choices=list(CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rangefinder-cases-") as folder:
        runner = Runner(Table(), folder, options.build)
        for name in options.only or CASES:
            CASES[name](runner)
    return 0


if __name__ == "__main__":
    sys.exit(main())
