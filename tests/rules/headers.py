# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with the flags of this build. A file of this build that includes a header before all
else has shown it for that one. Headers that only CUDA code includes are not looked at: *.cuh."""
import concurrent.futures
import json
import os
import shlex
import subprocess

import repository

# Flags of one target; a header must not depend on them.
OF_TARGETS = ("-DRANGEFINDER_VERSION", "-DRANGEFINDER_LIBDIR", "-DRANGEFINDER_DATADIR")
OF_MPI = "injection/mpi/"


def search_flags(commands):
    """All -I, -isystem and -D of the build's C++ files, once each, and the compiler."""
    flags, compiler = [], "g++"
    for entry in commands:
        if not entry["file"].endswith(".cpp"):
            continue
        words = shlex.split(entry["command"])
        compiler = next(word for word in words if os.path.basename(word) not in ("ccache", "sccache"))
        for at, word in enumerate(words):
            group = [word, words[at + 1]] if word in ("-isystem", "-I") else [word]
            wanted = word.startswith(("-I", "-isystem", "-D")) and not word.startswith(OF_TARGETS)
            if wanted and group not in flags:
                flags.append(group)
    return compiler, [word for group in flags for word in group]


def shown_by_build(files, commands):
    """Headers that come first in some C++ file that this build compiles, with nothing defined before them."""
    found = set()
    for entry in commands:
        path = os.path.relpath(entry["file"], files.root)
        if not path.endswith(".cpp") or path.startswith(".."):
            continue
        first = next((line for line in files.text(path).splitlines() if line.startswith("#")), "")
        if first.startswith('#include "'):
            found.add(first.split('"')[1])
    return found


def compile_alone(root, compiler, flags, path):
    """The compiler's first error; None if there is none."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", f"-I{root}", *flags, "-"]
    done = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])


def headers_compile(files, options):
    with open(os.path.join(options.build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    compiler, flags = search_flags(commands)
    # What is built only where mpi.h was found compiles only there.
    has_mpi = any(f"/{OF_MPI}" in entry["file"] for entry in commands)
    headers = [path for path in files.code("cpp")
               if path.endswith(".h") and (has_mpi or not path.startswith(OF_MPI))]
    for path in headers:
        if "#pragma once" not in files.text(path):
            yield path, "has no #pragma once"
    shown = shown_by_build(files, commands)
    headers = [path for path in headers if path not in shown]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        errors = pool.map(lambda path: compile_alone(files.root, compiler, flags, path), headers)
        for path, error in zip(headers, errors):
            if error is not None:
                yield path, f"does not compile alone: {error}"


if __name__ == "__main__":
    repository.run({"headers_compile": headers_compile},
                   lambda parser: parser.add_argument("--build", required=True))
