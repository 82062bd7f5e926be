# SPDX-License-Identifier: Apache-2.0
"""What docs/internals/first-answers.md shows is what the commands print for the recordings.
Usage: first_answers_test.py RANGEFINDER REPOSITORY REPLAY. With UPDATE=1 in the environment it writes the page's blocks
anew."""
import os
import re
import shlex

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded


def shown(text):
    """From the title line to the module table, or from the first finding to the next."""
    if "\n1. " in text:
        return re.search(r"^1\. .*?(?=\n\n)", text, re.M | re.S)[0]
    return text.partition("\n\nmodule ")[0]


class FirstAnswers(CommandLine):
    def test_the_page_shows_what_the_commands_print(self):
        page = cli_case.REPOSITORY / "docs/internals/first-answers.md"
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```\n\$ (rangefinder (\S+) (\S+).*)\n((?:.*\n)*?)```$", text, re.M)
        self.assertEqual(len({name for _, _, name, _ in blocks}), 5)

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
