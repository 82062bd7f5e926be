# SPDX-License-Identifier: Apache-2.0
"""Rules for single files: length, length of functions, names, first lines and words."""
import os
import re

import function_lengths
import repository

MAX_LINES_OF_FILE = 450
MAX_LINES_OF_FUNCTION = 60
MAX_LINES_OF_KERNEL = 90
# A file with such a name holds two things, or its name does not describe its content.
BANNED_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "manager"}
SPDX = "SPDX-License-Identifier: Apache-2.0"
NO_COMMENTS_IN = {".json", ".ndjson", ".md", ".txt", ".map", ".zst", ".png", ".svg"}
# Paths of a personal machine; written in two parts so that this file does not break the rule.
OWN_FOLDERS = re.compile("(?<![\\w.~$}])/(?:" + "ro" + "ot|ho" + "me|wo" + "rk)/")


def file_length(files):
    for path in files.code():
        lines = files.text(path).count("\n")
        if lines > MAX_LINES_OF_FILE:
            yield path, f"{lines} lines, {MAX_LINES_OF_FILE} is the maximum: split the state of its class, or move what is not of it"


def function_length(files):
    for path in files.code("cpp", "cuda", "python", "shell"):
        for line, length, is_kernel in function_lengths.functions(files.language(path), files.text(path)):
            limit = MAX_LINES_OF_KERNEL if is_kernel else MAX_LINES_OF_FUNCTION
            if length > limit:
                yield path, f"the function at line {line} has {length} lines, {limit} is the maximum"


def file_names(files):
    for path in files.files():
        stem = os.path.basename(path).split(".")[0].lower()
        parts = set(re.split(r"[_-]", stem))
        if parts & BANNED_NAMES:
            yield path, "the name does not say what is inside"


def first_line(files):
    for path in files.files():
        name, ending = os.path.basename(path), os.path.splitext(path)[1]
        is_code = files.language(path) is not None or name == "CMakeLists.txt" or ending == ".cmake"
        if not is_code or (ending in NO_COMMENTS_IN and name != "CMakeLists.txt"):
            continue
        lines = files.text(path).split("\n", 2)
        line = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        if SPDX not in line:
            yield path, f"the first line (behind #!) is not `{SPDX}`"


def own_folders(files):
    for path in files.files():
        for number, line in enumerate(files.text(path).splitlines(), 1):
            found = OWN_FOLDERS.search(line)
            if found:
                yield path, f"line {number} names a folder of one machine: {found.group(0)}…"


RULES = {"file_length": file_length, "function_length": function_length, "file_names": file_names,
         "first_line": first_line, "own_folders": own_folders}

if __name__ == "__main__":
    repository.run(RULES)
