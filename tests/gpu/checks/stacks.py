# SPDX-License-Identifier: Apache-2.0
"""Six ways in which Python makes the GPU wait: the opening of the report names the function and its line."""
import os
import re
import sys

from checks.runner import REPOSITORY

PROGRAM = os.path.join(REPOSITORY, "tests", "injection", "programs", "stacks.py")
# case: the function that is named; of the loop its launches and waits are functions too
NAMED = {"slow_loader": r"Loader\.decode_image$", "waits_for_lock": "waits_for_lock$", "tokenize": "tokenize$",
         "makes_garbage": r"\(garbage collection\) in .*makes_garbage$", "imports_late": "import in .*imports_late$",
         "reads_items": "reads_items|launch|synchronize"}


def host_stacks(runner, table):
    with open(PROGRAM, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for case, named in NAMED.items():
        run = f"stacks_{case}"
        runner.traced(run, ["env", "STACKS_SECONDS=1.5", sys.executable, PROGRAM, case], ["--stacks", "on"])
        opening = runner.report(runner.trace_folder(run))["traces"][0]["opening"].get("host_code", {})
        table.row(f"{run}: function", named, opening.get("function"), re.search(named, opening.get("function") or ""))
        line = opening.get("line", 0)
        table.row(f"{run}: line", "of the program", line, 0 < line <= len(lines))
        table.at_least(f"{run}: share", 0.3, opening.get("share", 0))
