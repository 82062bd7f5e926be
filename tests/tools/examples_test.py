# SPDX-License-Identifier: Apache-2.0
"""Worked examples (docs/examples): each output is what the command prints of the recording that its folder is named after.
Usage: examples_test.py RANGEFINDER REPOSITORY REPLAY. `…` on a line of its own stands for lines that are left out."""
import re
import shlex

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

LONGEST_WORDS = 300
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages():
    return sorted((cli_case.REPOSITORY / "docs/examples").glob("*.md"))


def shown(page):
    """(words of a command, its lines of output) for each command that has an output."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if output:
                yield shlex.split(command), output.splitlines()


class Examples(CommandLine):
    def test_outputs_are_what_the_recordings_say(self):
        for page in pages():
            for command, expected in shown(page):
                traces = {word: recorded(word) for word in command
                          if (cli_case.REPOSITORY / "tests/replay" / word / "recording.zst").exists()}
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
        for page in pages():
            prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
            self.assertLessEqual(len(prose.split()), LONGEST_WORDS, page.name)


if __name__ == "__main__":
    export_case.main(__doc__)
