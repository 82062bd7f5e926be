# SPDX-License-Identifier: Apache-2.0
"""What these pages show is what the commands print for the recordings.
Usage: first_answers_test.py RANGEFINDER REPOSITORY REPLAY. With UPDATE=1 in the environment it writes the pages'
blocks anew."""
import os
import re
import shlex

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

PAGES = {"docs/internals/first-answers.md": 5, "docs/cuda-graphs.md": 2}  # and the number of recordings in each


def shown(text):
    """A check's tables; from the first finding to the next; or from the title line to the module table."""
    for first in (r"(?:PASS|FAIL): ", r"1\. "):
        found = re.search(rf"^{first}.*?(?=\n\n(?!why )|\nNot judged)", text, re.M | re.S)
        if found:
            return found[0]
    return text.partition("\n\nmodule ")[0]


class FirstAnswers(CommandLine):
    def test_the_pages_show_what_the_commands_print(self):
        for name, recordings in PAGES.items():
            with self.subTest(page=name):
                self.check_page(cli_case.REPOSITORY / name, recordings)

    def check_page(self, page, recordings):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```\n\$ (rangefinder (\S+) (\S+).*)\n((?:.*\n)*?)```$", text, re.M)
        self.assertEqual(len({name for _, _, name, _ in blocks}), recordings)

        for command, _, name, expected in blocks:
            trace = str(recorded(name))
            words = [trace if word == name else word for word in shlex.split(command)[1:]]
            printed = self.call(*words, COLUMNS="100").stdout
            now = shown(printed).replace(trace, name) + "\n"
            if "UPDATE" in os.environ:
                text = text.replace(f"$ {command}\n{expected}", f"$ {command}\n{now}")
            else:
                self.assertEqual(expected, now, command)
        if "UPDATE" in os.environ:
            page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    export_case.main(__doc__)
