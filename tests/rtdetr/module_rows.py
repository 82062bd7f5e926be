# SPDX-License-Identifier: Apache-2.0
"""Rows of `rangefinder report --json` by the names of RT-DETR's modules, per forward pass.

A place is a trace folder (this module runs the report), or a file with the report's JSON. Paths begin at the module
`model`: the ranges around it (iteration, warmup) are cut off, and passes are added up.
"""
import json
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RANGEFINDER = os.path.join(REPOSITORY, "build/bin/rangefinder")
BYTES = {"DRAM": ("dram_read_bytes", "dram_write_bytes"), "L2": ("l2_bytes",)}


@dataclass
class Module:
    """Average of one forward pass."""
    path: str
    gpu_us: float
    kernels: float
    bytes: dict  # level -> bytes; absent: not measured


def read_report(place, rangefinder=RANGEFINDER):
    if os.path.isdir(place):
        done = subprocess.run([rangefinder, "report", place, "--json"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        report = json.loads(done.stdout)
    else:
        with open(place, encoding="utf-8") as file:
            report = json.load(file)
    # one process: the report itself; several: a list
    return report["traces"][0] if "traces" in report else report


def components(path):
    return tuple(re.split(r"(?<!\\)/", path))


def below_model(path, around):
    """The part of a path from `model` on, or None. `around`: the range around a measured pass, or None."""
    parts = components(path)
    if "model" not in parts:
        return None
    at = parts.index("model")
    if around is not None and around not in parts[:at]:
        return None
    return "/".join(parts[at:])


def measured_pass(rows):
    """Our programs put measured passes into `iteration`; others have no such range."""
    return "iteration" if any("iteration" in components(row["path"]) for row in rows) else None


def sums_of(report):
    """{path: {field: sum}} of all measured passes."""
    rows = [row for row in report["modules"] if "path" in row]
    around = measured_pass(rows)
    sums = defaultdict(lambda: defaultdict(float))
    for row in rows:
        path = below_model(row["path"], around)
        if path is None:
            continue
        for field in ("calls", "kernels", "gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"):
            if field in row:
                sums[path][field] += row[field]
    if not sums.get("model", {}).get("calls", 0):
        raise ValueError("the report has no module named `model`: was it RT-DETR, with ranges?")
    return sums


def passes_of(report):
    return sums_of(report)["model"]["calls"]


def modules_of(report):
    """{path: Module}. Raises ValueError if there is no `model`."""
    sums = sums_of(report)
    passes = sums["model"]["calls"]
    made = {}
    for path, total in sums.items():
        measured = {level: sum(total[field] for field in fields) / passes
                    for level, fields in BYTES.items() if all(field in total for field in fields)}
        made[path] = Module(path, total["gpu_ns"] / 1e3 / passes, total["kernels"] / passes, measured)
    return made


def group(modules, pattern):
    """{text of the pattern's groups, joined by '/': sum over all modules that match entirely}. Modules of one pattern
    must not be inside one another."""
    found = defaultdict(list)
    for path, module in modules.items():
        match = re.fullmatch(pattern, path)
        if match:
            found["/".join(match.groups())].append(module)
    sums = {}
    for name, ones in found.items():
        levels = set.intersection(*(set(one.bytes) for one in ones))
        sums[name] = Module(name, sum(one.gpu_us for one in ones), sum(one.kernels for one in ones),
                            {level: sum(one.bytes[level] for one in ones) for level in levels})
    return sums
