# SPDX-License-Identifier: Apache-2.0
"""C++ and CUDA code is formatted by clang-format 14. Other versions differ: without version 14 the rule is skipped."""
import os
import re
import shutil
import subprocess
import sys

import repository

PROGRAMS = ("clang-format-14", "clang-format")
DIFFERENCE = re.compile(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", re.MULTILINE)
SKIPPED = 77


def clang_format_14():
    """The clang-format program; None: that version is not installed."""
    for name in PROGRAMS:
        if shutil.which(name) is None:
            continue
        version = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
        if "version 14." in version:
            return name
    return None


def formatting(files, program=None):
    """Files that `program` would format differently: the file, its first such line, the number of lines.
    Raises RuntimeError with the program's message if it fails without reporting a difference."""
    program = program or clang_format_14()
    paths = [os.path.join(files.root, path) for path in files.code("cpp", "cuda")]
    if not paths:
        return
    done = subprocess.run([program, "--dry-run", "--Werror", *paths], capture_output=True, text=True, check=False)
    found = {}
    for path, line in DIFFERENCE.findall(done.stderr):
        found.setdefault(os.path.relpath(path, files.root), []).append(line)
    if done.returncode != 0 and not found:
        raise RuntimeError(f"{program} failed ({done.returncode}): {done.stderr[:500]}")
    for path, lines in found.items():
        yield path, f"{len(lines)} places differ from {program}'s, the first at line {lines[0]}: {program} -i {path}"


if __name__ == "__main__":
    if clang_format_14() is None:
        print("skipped: there is no clang-format 14 (tools/setup --all)")
        sys.exit(SKIPPED)
    repository.run({"formatting": formatting})
