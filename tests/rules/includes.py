# SPDX-License-Identifier: Apache-2.0
"""Allowed includes between folders: one line per folder, the lowest folder first.

A line lists what the folder may include besides its own files. Each of these is listed above the line, so no include
points upwards. tests/ may include anything.

Only CATCH includes Catch2, whose versions have other headers.

Headers of the hot path include none of SLOW: most of the profiler would be compiled with them. Headers of the tools
include none of SLOW_IN_TOOLS, and only REGEX includes <regex>.
"""
import os
import re

import repository

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
SLOW = ("filesystem", "functional", "regex", "nlohmann")
SLOW_IN_TOOLS = ("regex", "iostream")
REGEX = "profiler/base/name_pattern.cpp"
CATCH = ("tests/catch.h", "tests/catch_main.cpp")
HOT_PATH = ("profiler/activity", "profiler/counters/exact", "profiler/events", "profiler/guest", "profiler/launch",
            "profiler/nvtx")
ALLOWED = {
    "profiler/base": "",
    "schema": "profiler/base",
    "profiler/metrics": "",
    "profiler/guest": "",
    "profiler/options": "profiler/base profiler/guest",
    "profiler/cupti": "profiler/guest",
    "profiler/events": "schema profiler/guest",
    "profiler/attribution": "profiler/base profiler/metrics schema profiler/guest",
    "profiler/output": "profiler/base schema profiler/guest profiler/events profiler/attribution",
    "profiler/nvtx": "profiler/guest profiler/events",
    "profiler/activity": "profiler/base schema profiler/options profiler/cupti profiler/events",
    "profiler/conditions": "profiler/base schema profiler/guest",
    "profiler/stacks": "schema profiler/guest profiler/events",
    "profiler/counters": "profiler/guest profiler/cupti",
    "profiler/counters/metrics": "profiler/base profiler/metrics profiler/cupti",
    "profiler/counters/exact": "profiler/base schema profiler/guest profiler/options profiler/cupti "
                               "profiler/events profiler/output profiler/counters profiler/counters/metrics",
    "profiler/counters/sampling": "profiler/base schema profiler/guest profiler/cupti profiler/events "
                                  "profiler/counters profiler/counters/metrics",
    "profiler/launch": "schema profiler/guest profiler/options profiler/cupti profiler/events "
                       "profiler/counters/exact profiler/counters/sampling",
    "profiler/control": "profiler/base profiler/guest profiler/options profiler/events profiler/output",
    "profiler/drain": "profiler/base schema profiler/guest profiler/options profiler/cupti profiler/events "
                      "profiler/attribution profiler/output profiler/nvtx profiler/activity profiler/conditions "
                      "profiler/stacks "
                      "profiler/counters/metrics profiler/counters/exact profiler/counters/sampling profiler/launch",
    "profiler/session": "profiler/base profiler/guest profiler/options profiler/cupti profiler/events profiler/output "
                        "profiler/nvtx profiler/activity profiler/conditions profiler/stacks profiler/counters/exact "
                        "profiler/counters/sampling profiler/launch profiler/control profiler/drain",
    "injection": "profiler/guest profiler/events profiler/nvtx profiler/session",
    "injection/mpi": "",
    "tools/python": "",
    "tools/command_line": "profiler/base",
    "tools/analysis/table": "profiler/base",
    "tools/analysis/model": "profiler/base schema profiler/attribution",
    "tools/analysis/sampling": "schema profiler/attribution tools/analysis/model",
    "tools/analysis/queries": "profiler/base profiler/metrics schema profiler/attribution tools/analysis/table "
                              "tools/analysis/model tools/analysis/sampling",
    "tools/analysis/findings": "profiler/base profiler/metrics schema profiler/attribution tools/analysis/table "
                               "tools/analysis/model tools/analysis/queries",
    "tools/analysis/ranks": "profiler/base schema tools/analysis/table tools/analysis/model tools/analysis/queries "
                            "tools/analysis/findings",
    "tools/analysis/report": "profiler/base schema profiler/attribution tools/analysis/table tools/analysis/model "
                             "tools/analysis/sampling tools/analysis/queries tools/analysis/findings "
                             "tools/analysis/ranks",
    "tools/analysis/diff": "profiler/base profiler/metrics schema profiler/attribution tools/analysis/table "
                         "tools/analysis/model "
                           "tools/analysis/queries tools/analysis/findings tools/analysis/ranks",
    "tools/analysis/validate": "schema profiler/attribution tools/analysis/table tools/analysis/model "
                               "tools/analysis/queries tools/analysis/findings tools/analysis/report",
    "tools/attach": "profiler/guest tools/analysis/model",
    "tools/export": "profiler/base schema profiler/attribution tools/analysis/table tools/analysis/model "
                    "tools/analysis/sampling tools/analysis/queries",
    "tools/lake": "profiler/base schema profiler/attribution tools/analysis/table tools/analysis/model "
                  "tools/analysis/sampling tools/analysis/queries tools/analysis/findings tools/analysis/ranks "
                  "tools/export",
    "tools/page": "profiler/base schema profiler/attribution profiler/metrics tools/analysis/table tools/analysis/model "
                  "tools/analysis/sampling tools/analysis/queries tools/analysis/findings tools/analysis/report "
                  "tools/analysis/diff",
    "tools/serve": "profiler/base schema tools/analysis/table tools/analysis/model tools/analysis/queries "
                   "tools/analysis/findings tools/analysis/report tools/attach tools/export tools/page",
    "tools/replay": "schema profiler/cupti profiler/drain tools/command_line",
    "tools/rangefinder": "profiler/base profiler/conditions profiler/options profiler/cupti profiler/attribution "
                         "profiler/output "
                         "profiler/launch profiler/guest profiler/metrics profiler/counters/metrics tools/command_line "
                         "tools/analysis/table tools/analysis/model tools/analysis/queries tools/analysis/findings "
                         "tools/analysis/report tools/analysis/ranks tools/analysis/diff tools/analysis/validate "
                         "tools/attach tools/export tools/lake tools/page tools/serve",
    "kernels": "",
    "workloads": "",
    "workloads/probes": "workloads",
    "workloads/cases": "kernels workloads workloads/probes",
    "workloads/rtdetr": "kernels workloads/probes",
}


def folder_of(path):
    """The folder of ALLOWED that contains `path`: the longest match. None: no folder matches."""
    folder = os.path.dirname(path)
    while folder and folder not in ALLOWED:
        folder = os.path.dirname(folder)
    return folder or None


def include_direction(files):
    for path in files.code("cpp", "cuda"):
        folder = folder_of(path)
        if folder is None:
            if not path.startswith("tests/"):
                yield path, "its folder has no line in tests/rules/includes.py"
            continue
        for included in INCLUDE.findall(files.text(path)):
            if folder_of(included) not in [folder, *ALLOWED[folder].split()]:
                yield path, f"must not include {included}"


def with_included(files, header):
    """`header` and the repository's headers that it includes, directly or not."""
    found, left = set(), [header]
    while left:
        path = left.pop()
        if path not in found and os.path.exists(os.path.join(files.root, path)):
            found.add(path)
            left += INCLUDE.findall(files.text(path))
    return sorted(found)


def slow_includes(files, path, slow):
    """Of a header, directly or through others of ours."""
    for header in with_included(files, path):
        for included in SYSTEM_INCLUDE.findall(files.text(header)):
            if included.split("/")[0] in slow:
                yield path, f"must not include <{included}>" + ("" if header == path else f", as {header} does")


def hot_path_headers(files):
    for path in files.code("cpp"):
        if path.endswith(".h") and folder_of(path) in HOT_PATH:
            yield from slow_includes(files, path, SLOW)


def tool_headers(files):
    for path in files.code("cpp"):
        if path.startswith("tools/") and path.endswith(".h"):
            yield from slow_includes(files, path, SLOW_IN_TOOLS)
        elif path != REGEX and not path.startswith("tests/") and "regex" in SYSTEM_INCLUDE.findall(files.text(path)):
            yield path, f"must not include <regex>: use {REGEX}"


def one_catch(files):
    """Catch2 3 has no catch.hpp: a test that includes it builds with version 2 alone."""
    for path in files.code("cpp"):
        if path not in CATCH and any(name.startswith("catch2/") for name in SYSTEM_INCLUDE.findall(files.text(path))):
            yield path, f"must not include Catch2 itself: use {CATCH[0]}"


if __name__ == "__main__":
    repository.run({"include_direction": include_direction, "hot_path_headers": hot_path_headers,
                    "tool_headers": tool_headers, "one_catch": one_catch})
