# SPDX-License-Identifier: Apache-2.0
"""Sampled bytes of work that overlaps, and bytes by layer inside of graph replays, compared with known bytes."""
import json
import os
import shutil

SAMPLED = ["--counters", "sampled", "--sample-interval", "20", "--sample-cpu", "0"]
SUM_SHARE = 0.02  # of parts whose sum is known
# L2 keeps up to a fifth of a launch's writes until other work runs.
STREAM_SHARE = {"read": 0.10, "write": 0.20}
LAYER_SHARE, STEP_SHARE = 0.05, 0.01
RUNS = 3
LEAST_COVERED = 0.95
# Live bytes of a path that has this part of the GPU's time.
HEAVY, MOST_LIVE_PERCENT = 0.05, 25
COLUMNS = ("read", "write")


def overlap(runner, table):
    """Several runs: the bound is a statement about many values."""
    covered = values = 0
    for run in range(RUNS):
        name = f"overlap_{run}"
        expected = runner.recorded(name, [f"{runner.bin}/case_overlap"], SAMPLED)
        report = runner.report(runner.trace_folder(name), "--section", "modules")["traces"][0]
        rows = {row["path"]: row for row in report["modules"]}
        check_copies(table, name, rows)
        for item in expected["paths"]:
            row = rows[item["path"]]
            if "/together/" not in item["path"]:
                check_streams(table, name, item, row)
            for column in COLUMNS:
                inside, known = is_covered(item, row, column)
                values += known
                covered += inside
        check_group(table, name, expected, report)
    table.at_least("overlap: values within their bound", LEAST_COVERED, round(covered / max(values, 1), 3))


def check_copies(table, name, rows):
    """All bytes but those of the copies, which are known, are the products'."""
    both, copy, gemm = (rows[f"overlap/copies{path}"] for path in ("", "/copy", "/gemm"))
    known = copy["memcpy_bytes"]["DtoD"]
    for column in COLUMNS:
        key = f"dram_{column}_bytes"
        table.near(f"{name}: copies, {column}", known, copy[key], SUM_SHARE)
        rest = both[key] - known
        table.near(f"{name}: products beside copies, {column}", rest, gemm[key], SUM_SHARE, SUM_SHARE * known)


def check_streams(table, name, item, row):
    """What L2 has taken of the writes follows in other work: that part is allowed."""
    for column in COLUMNS:
        truth = item[f"{column}_bytes"]
        if truth:
            table.near(f"{name}: {item['path']}, {column}", truth, row[f"dram_{column}_bytes"], STREAM_SHARE[column])


def is_covered(item, row, column):
    """(within its bound, is known)"""
    truth, found = item[f"{column}_bytes"], row.get(f"dram_{column}_bytes", 0)
    if truth == 0:
        return 0, 0  # the rest of others' writes: what L2 carried
    bound = row.get(f"dram_{column}_error_pct", 0) / 100 * found
    return int(abs(found - truth) <= bound), 1


def check_group(table, name, expected, report):
    pair = sorted(item["path"] for item in expected["paths"] if "/together/" in item["path"])
    groups = [group for group in report["samples"].get("inseparable", []) if set(pair) <= set(group["paths"])]
    table.equal(f"{name}: the pair that always runs together", [pair], [sorted(group["paths"]) for group in groups])
    truth = sum(item["read_bytes"] for item in expected["paths"] if item["path"] in pair)
    table.near(f"{name}: its sum", truth, groups[0]["dram_read_bytes"] if groups else None, SUM_SHARE)


def overlap_live(runner, table):
    """The summary that the application wrote: every known value within its bound, and bounds that say something."""
    folder = runner.trace_folder("overlap_live")
    environment = {"CUDA_INJECTION64_PATH": runner.injection_library, "RANGEFINDER_OUT": folder,
                   "RANGEFINDER_COUNTERS": "sampled", "RANGEFINDER_SAMPLE_CPU": "0"}
    shutil.rmtree(folder, ignore_errors=True)
    expected = runner.plain("overlap_live", [f"{runner.bin}/case_overlap"], environment=environment)
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    table.equal("overlap_live: live", True, summary.get("live"))
    rows = {row["path"]: row for row in summary["modules"]}
    total = sum(row["gpu_ns"] for row in rows.values() if row["depth"] == 1)
    outside = [f"{item['path']} {column}" for item in expected["paths"] for column in COLUMNS
               if "/together/" not in item["path"] and is_covered(item, rows[item["path"]], column) == (0, 1)]
    table.equal("overlap_live: values outside of their bound", [], outside)
    for path, row in rows.items():
        # The streams of `streaming` and `together` have never run apart when they are first seen.
        if row["gpu_ns"] >= HEAVY * total and "/together/" not in path and "/streaming/" not in path:
            table.at_most(f"overlap_live: bound of {path}", MOST_LIVE_PERCENT, row["bytes_error_pct"], " %")


def decoder(runner, table):
    program = [*runner.program("../../../workloads/cases/decoder.py")]
    truth = {}
    for mode, options in (("sampled", SAMPLED), ("exact", ["--counters", "exact"])):
        name = f"decoder_{mode}"
        truth, trace = runner.traced(name, program, options)
        table.equal(f"{name}: losses", {}, trace.loss)
        report = runner.report(runner.trace_folder(name), "--section", "modules")["traces"][0]
        rows = {row["path"]: row for row in report["modules"]}
        layers = [rows[f"decode/layer {number}"] for number in range(truth["layers"])]
        step = truth["layers"] * truth["layer_read_bytes"]
        table.near(f"{name}: decode, read", step, rows["decode"].get("dram_read_bytes"), STEP_SHARE)
        if mode == "exact":
            absent = [row.get("bytes_reason") for row in layers if "dram_read_bytes" not in row]
            table.equal(f"{name}: layers without bytes, and why", ["graph"] * truth["layers"], absent)
            continue
        worst = max(layers, key=lambda row: abs(row["dram_read_bytes"] - truth["layer_read_bytes"]))
        table.near(f"{name}: worst layer, read", truth["layer_read_bytes"], worst["dram_read_bytes"], LAYER_SHARE)
