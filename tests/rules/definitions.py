# SPDX-License-Identifier: Apache-2.0
"""One name, one type, one file. Two headers that define a type of the same name in the same namespace must not end up
in one program: the linker keeps one of the two without a warning."""
import collections
import os
import re

import repository

NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?) (\w+)(?: final)?(?: : [^;{]+)? \{", re.MULTILINE)


def types_of(text):
    """Full names of the types that a header defines at the level of its namespace."""
    namespace = NAMESPACE.search(text)
    return [f"{namespace[1] if namespace else ''}::{name}" for name in TYPE.findall(text)]


def unique_types(files):
    homes = collections.defaultdict(list)
    for path in files.code("cpp", "cuda"):
        if path.endswith((".h", ".cuh")) and not path.startswith("tests/"):
            for name in types_of(files.text(path)):
                homes[name].append(path)
    for name, paths in sorted(homes.items()):
        for path in sorted(paths)[1:]:
            yield path, f"defines {name}, which {sorted(paths)[0]} defines too"


METHOD = re.compile(r"^(?!\s|#|//)[^;{}()=]*?\b([A-Z]\w*)::~?\w+\(", re.MULTILINE)


def one_file_a_class(files):
    """The functions of a class are defined in one .cpp. A class that needs two holds too much state."""
    homes = collections.defaultdict(set)
    for path in files.code("cpp"):
        if path.endswith(".cpp") and not path.startswith("tests/"):
            for name in METHOD.findall(files.text(path)):
                homes[os.path.dirname(path), name].add(path)
    for (_, name), paths in sorted(homes.items()):
        for path in sorted(paths)[1:]:
            yield path, f"defines functions of {name}, as {sorted(paths)[0]} does"


if __name__ == "__main__":
    repository.run({"unique_types": unique_types, "one_file_a_class": one_file_a_class})
