# SPDX-License-Identifier: Apache-2.0
"""Worked examples (docs/examples) and pages (docs): each output is what the command prints of the recording that its
folder is named after, of tests/replay or of tests/unit/analysis/ranks. `…` on a line of its own stands for omitted lines.
Usage: examples_test.py RANGEFINDER REPOSITORY REPLAY."""
import re
import shlex

import cli_case
import document_commands_test
import export_case
import first_answers_test
from cli_case import CommandLine
from document_commands_test import FENCED
from export_case import recorded

LONGEST_WORDS = 300
RECORDINGS = ("tests/replay", "tests/unit/analysis/ranks")


def examples():
    return sorted((cli_case.REPOSITORY / "docs/examples").glob("*.md"))


def pages():
    """With outputs: first_answers_test.py has its own pages."""
    others = [cli_case.REPOSITORY / page for page in first_answers_test.PAGES]
    return examples() + [page for page in sorted((cli_case.REPOSITORY / "docs").glob("*.md")) if page not in others]


def blocks(page, label=""):
    return [block for _, found, block in FENCED.findall(page.read_text(encoding="utf-8")) if found == label]


def trace_of(word):
    """The recorded trace, or the folder of recorded ranks, that a word of a command names; None: it names none."""
    replayed, ranks = (cli_case.REPOSITORY / folder / word for folder in RECORDINGS)
    if (replayed / "recording.zst").exists():
        return recorded(word)
    return ranks if re.match(r"recorded_\w+/?", word) and ranks.is_dir() else None


def shown(page):
    """(words of a command, its lines of output) for each command that has an output."""
    for block in blocks(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if output:
                yield shlex.split(command), output.splitlines()


class Examples(CommandLine):
    def test_outputs_are_what_the_recordings_say(self):
        for page in pages():
            for command, expected in shown(page):
                if command[1] == "sql":  # lake/lake_answers_test.py: DuckDB is needed
                    continue
                traces = {word: trace for word in command if (trace := trace_of(word))}
                self.assertTrue(traces, command)
                words = [traces.get(word, word) for word in command[1:]]
                lines = iter(self.call(*words, COLUMNS="100").stdout.splitlines())
                skips = False
                for wanted in expected:
                    with self.subTest(page=page.name, line=wanted):
                        if wanted == "…":
                            skips = True
                            continue
                        line = next((line for line in lines if not skips or line == wanted), None)
                        self.assertEqual(line, wanted)
                        skips = False
                self.assertTrue(skips or next(lines, None) is None, f"{page.name}: `…` is missing at the end of {command}")

    def test_they_are_short(self):
        for page in examples():
            prose = FENCED.sub("", page.read_text(encoding="utf-8"))
            self.assertLessEqual(len(prose.split()), LONGEST_WORDS, page.name)


    def test_a_block_without_a_command_has_a_language(self):
        for page in pages():
            for block in blocks(page):
                with self.subTest(page=page.name, block=block):
                    self.assertTrue(document_commands_test.shell_text(block), "an output begins with its command")

    def test_python_compiles(self):
        for page in pages():
            if page.name != "python-api.md":  # signatures
                for block in blocks(page, "python"):
                    compile(block, str(page), "exec")


if __name__ == "__main__":
    export_case.main(__doc__)
