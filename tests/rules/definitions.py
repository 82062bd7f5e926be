# SPDX-License-Identifier: Apache-2.0
"""One name, one type: two headers that define a type of the same name in the same namespace must not end
up in one program. Nobody would notice: the linker keeps one of the two."""
import collections
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


if __name__ == "__main__":
    repository.run({"unique_types": unique_types})
