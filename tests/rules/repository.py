# SPDX-License-Identifier: Apache-2.0
"""Shared by all rules: the repository's own files, the exceptions, and the report of a rule.

A rule is a function that yields (path, what is wrong). run() skips problems that exceptions.txt
excuses, and fails on an exception that is no longer needed.
"""
import argparse
import os
import sys

FOLDERS_LEFT_OUT = {"node_modules", "__pycache__", "dist"}
# Recorded runs and generated lines are data, with any file name extension.
DATA = ("tests/replay/", "schema/examples/")
CODE_ENDINGS = {".cpp": "cpp", ".h": "cpp", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".ts": "ts", ".tsx": "ts",
                ".mjs": "ts", ".sh": "shell"}


class Repository:
    def __init__(self, root):
        self.root = os.path.abspath(root)

    def files(self):
        """Paths from the root, sorted; without build folders, hidden caches and data."""
        for folder, folders, names in os.walk(self.root):
            here = os.path.relpath(folder, self.root)
            folders[:] = sorted(name for name in folders if not self._left_out(here, name))
            for name in sorted(names):
                path = os.path.normpath(os.path.join(here, name))
                if not self.is_data(path) and path != ".git":  # a file in a worktree of git
                    yield path

    @staticmethod
    def _left_out(parent, name):
        """Hidden folders are personal, except .ci and .github."""
        is_build = parent == "." and (name == "build" or name.startswith("build-"))
        return is_build or name in FOLDERS_LEFT_OUT or (name.startswith(".") and name not in (".ci", ".github"))

    @staticmethod
    def is_data(path):
        """Code beside the recordings (a README, a test) is not data."""
        return path.startswith(DATA) and not path.endswith((".cpp", ".h", ".py", ".md", "CMakeLists.txt"))

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def language(self, path):
        """cpp, cuda, python, ts, shell; None: not code."""
        ending = os.path.splitext(path)[1]
        if ending:
            return CODE_ENDINGS.get(ending)
        first = self.text(path).split("\n", 1)[0]
        if not first.startswith("#!"):
            return None
        return "python" if "python" in first else "shell"

    def code(self, *languages):
        for path in self.files():
            language = self.language(path)
            if language is not None and (not languages or language in languages):
                yield path


def read_exceptions(repository, rule):
    """{path: reason} of one rule. A line: rule, path, reason, separated by spaces."""
    excused = {}
    for line in repository.text("tests/rules/exceptions.txt").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, path, reason = line.split(None, 2)
        if name == rule:
            excused[path] = reason
    return excused


def judge(problems, excused):
    """Problems without an exception, and exceptions without a problem, as lines of text."""
    lines, used = [], set()
    for path, what in problems:
        if path in excused:
            used.add(path)
        else:
            lines.append(f"{path}: {what}")
    lines += [f"exceptions.txt: {path} needs no exception any more" for path in sorted(set(excused) - used)]
    return lines


def run(rules, add_arguments=None):
    """main() of a file of rules: RULE [--repository DIR]. Exit code 1 and one line per problem."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rule", choices=sorted(rules))
    parser.add_argument("--repository", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    if add_arguments is not None:
        add_arguments(parser)
    options = parser.parse_args()
    repository = Repository(options.repository)
    rule = rules[options.rule]
    found = rule(repository, options) if add_arguments is not None else rule(repository)
    lines = judge(list(found), read_exceptions(repository, options.rule))
    print("\n".join(lines) if lines else f"{options.rule}: ok")
    sys.exit(1 if lines else 0)
