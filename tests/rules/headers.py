# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with the flags of a build. tools/check compiles the headers that the last commit and
the working tree changed (--changed), tests/nightly compiles all. Headers for CUDA code only (*.cuh) are excluded."""
import concurrent.futures
import json
import os
import shlex
import subprocess

import repository

# Flags of single targets; a header must not depend on them.
OF_TARGETS = ("-DRANGEFINDER_VERSION",)
OF_MPI = "injection/mpi/"


def search_flags(commands):
    """All -I, -isystem and -D of the build's C++ files, once each, and the compiler."""
    flags, compiler = [], "g++"
    for entry in commands:
        if not entry["file"].endswith((".cpp", ".cxx")):
            continue
        words = shlex.split(entry["command"])
        compiler = next(word for word in words if os.path.basename(word) not in ("ccache", "sccache"))
        for at, word in enumerate(words):
            group = [word, words[at + 1]] if word in ("-isystem", "-I") else [word]
            wanted = word.startswith(("-I", "-isystem", "-D")) and not word.startswith(OF_TARGETS)
            if wanted and group not in flags:
                flags.append(group)
    return compiler, [word for group in flags for word in group]


def changed_paths(root):
    """Files changed by the working tree and the last commit. None: unknown, as in a tree without history."""
    try:
        lists = [subprocess.run(["git", "-C", root, *command], capture_output=True, text=True, check=True).stdout
                 for command in (["diff", "--name-only", "HEAD~1"], ["ls-files", "--others", "--exclude-standard"])]
    except (OSError, subprocess.CalledProcessError):
        return None
    return set("".join(lists).split("\n"))


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
    # MPI headers compile only where mpi.h was found.
    has_mpi = any(f"/{OF_MPI}" in entry["file"] or "rangefinder_mpi" in entry["file"] for entry in commands)
    headers = [path for path in files.code("cpp")
               if path.endswith(".h") and (has_mpi or not path.startswith(OF_MPI))]
    for path in headers:
        if "#pragma once" not in files.text(path):
            yield path, "has no #pragma once"
    changed = changed_paths(files.root) if options.changed else None
    if changed is not None:
        headers = [path for path in headers if path in changed]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        errors = pool.map(lambda path: compile_alone(files.root, compiler, flags, path), headers)
        for path, error in zip(headers, errors):
            if error is not None:
                yield path, f"does not compile alone: {error}"


def add_arguments(parser):
    parser.add_argument("--build", required=True)
    parser.add_argument("--changed", action="store_true", help="only headers that the last commit or the tree changed")


if __name__ == "__main__":
    repository.run({"headers_compile": headers_compile}, add_arguments)
