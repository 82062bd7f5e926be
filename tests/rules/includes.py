# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the picture of docs/architecture.md as a table.

        schema
        /    \\
   profiler ◀─ tools (a few headers)        injection ─▶ profiler
                                            workloads, kernels: never any of these
"""
import re

import repository

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
# The longest folder that fits a file decides. What a file may include: folders and single headers.
ALLOWED = {
    "schema/": ["schema/"],
    "profiler/attribution/": ["schema/", "profiler/attribution/", "profiler/guest/reserve_large.h"],
    "profiler/": ["schema/", "profiler/"],
    "injection/": ["profiler/"],
    "injection/mpi/": ["injection/mpi/"],
    "tools/": ["schema/", "tools/", "profiler/attribution/", "profiler/cupti/", "profiler/counters/metric_",
               "profiler/options/options.h", "profiler/options/capture_request.h", "profiler/control/control_socket.h",
               "profiler/output/process_facts.h"],
    "tools/analysis/": ["schema/", "tools/analysis/", "profiler/attribution/"],
    "tools/replay/": ["schema/", "tools/replay/", "tools/command_line/", "profiler/"],
    "workloads/": ["workloads/", "kernels/"],
    "kernels/": ["kernels/"],
}


def rule_of(path):
    """What `path` may include; None: anything."""
    fitting = [folder for folder in ALLOWED if path.startswith(folder)]
    return ALLOWED[max(fitting, key=len)] if fitting else None


def wrong_includes(path, text):
    allowed = rule_of(path)
    if allowed is None:
        return
    for included in INCLUDE.findall(text):
        if not included.startswith(tuple(allowed)):
            yield included


def include_direction(files):
    for path in files.code("cpp", "cuda"):
        for included in wrong_includes(path, files.text(path)):
            yield path, f"must not include {included}"


if __name__ == "__main__":
    repository.run({"include_direction": include_direction})
