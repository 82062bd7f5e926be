# SPDX-License-Identifier: Apache-2.0
"""Bytes of NVML's GPM against known traffic, by iteration and module; auto where counters are refused."""
import os
import statistics
import subprocess
import time

GOAL = 0.10


def gpm(runner, table):
    for name, milliseconds, more in (("120", 120, ()), ("120_mixed", 120, ("--mixed",)), ("400", 400, ()),
                                     ("400_mixed", 400, ("--mixed",)), ("1000", 1000, ())):
        run = f"gpm_{name}"
        command = [*runner.program("long_steps.py"), "--milliseconds", str(milliseconds), *more]
        expected, trace = runner.traced(run, command, ["--counters", "gpm"])
        _check_modules(runner, table, run, expected)
        if milliseconds > 120:
            _check_iterations(runner, table, run, expected)
        table.equal(f"{run}: losses", {}, trace.loss)
    _check_fallback(runner, table)


def _rows(runner, run, section):
    return runner.report(runner.trace_folder(run), "--section", section)["traces"][0][section]


def _check_modules(runner, table, run, expected):
    rows = {row.get("path"): row for row in _rows(runner, run, "modules")}
    known = expected["bytes"] * expected["steps"]
    step = rows["step"]
    table.equal(f"{run}: source of step's bytes", "gpm", step.get("bytes_source"))
    table.near(f"{run}: bytes of step", known, step.get("dram_bytes"), GOAL)
    for path, bytes_ in (("step", known), ("step/copy", known)):
        row = rows.get(path, {})
        if "dram_bytes" in row:
            bound = row["dram_bytes"] * row["bytes_error_pct"] / 100
            table.at_most(f"{run}: {path}: error over its bound of {row['bytes_error_pct']} %", 1.0,
                          round(abs(row["dram_bytes"] - bytes_) / bound, 2))


def _check_iterations(runner, table, run, expected):
    # The first has the caches' warm-up; the last ends with the trace.
    rows = [row for row in _rows(runner, run, "iterations")[1:-1] if "dram_bytes" in row]
    table.at_least(f"{run}: iterations with bytes", 1, len(rows))
    errors = [row["dram_bytes"] / expected["bytes"] - 1 for row in rows]
    if errors:
        table.at_most(f"{run}: error of an iteration, median of {len(rows)}", GOAL,
                      round(statistics.median(map(abs, errors)), 4))
        worst = max(abs(error) / (row["bytes_error_pct"] / 100) for error, row in zip(errors, rows))
        table.at_most(f"{run}: largest error over its bound", 1.0, round(worst, 2))


def _check_fallback(runner, table):
    """Another process holds the counters, so that they are refused."""
    holder = os.path.join(runner.out, "gpm_holder")
    os.makedirs(holder, exist_ok=True)
    command = [os.path.join(runner.bin, "rangefinder"), "run", "--counters", "sampled", "--quiet", "--out",
               os.path.join(holder, "trace"), "--", *runner.program("long_steps.py"), "--seconds", "25"]
    with open(os.path.join(holder, "log"), "wb") as log:
        other = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            time.sleep(10)  # PyTorch starts, and sampling has begun
            run = "gpm_refused"
            _, trace = runner.traced(run, [*runner.program("long_steps.py"), "--seconds", "5"], ["--counters", "auto"])
        finally:
            other.terminate()
            other.wait(60)
    table.equal(f"{run}: counters", "refused", trace.lines["header"][-1]["counters"])
    rows = {row.get("path"): row for row in _rows(runner, run, "modules")}
    table.equal(f"{run}: source of step's bytes", "gpm", rows["step"].get("bytes_source"))
