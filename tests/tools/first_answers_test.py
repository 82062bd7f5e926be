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

PAGES = {"docs/internals/first-answers.md": 5, "docs/cuda-graphs.md": 2, "docs/nsight-compute.md": 5}  # and the number of recordings in each


WHOLE = ("metrics", "kernel", "kernels", "roofline")  # sections shown without what is above and below their tables
DIFF_LINES = 12


def shown(text, words):
    """A section's tables; a check's tables; from the first finding to the next; the head of a comparison; or from the
    title line to the module table."""
    if words[0] == "diff":
        return "\n".join(text.splitlines()[:DIFF_LINES])
    if "--total" in words or ("--section" in words and words[words.index("--section") + 1] in WHOLE):
        return re.search(r"\n\n(.*?)(?=\n\n[\d,]+ (?:kernels?|graphs?), )", text, re.S)[1]
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
            words = shlex.split(command)[1:]
            traces = {word: str(recorded(word)) for word in words if (cli_case.REPOSITORY / "tests/replay" / word / "recording.zst").exists()}
            printed = self.call(*(traces.get(word, word) for word in words), COLUMNS="100").stdout
            now = shown(printed, words) + "\n"
            for word, trace in traces.items():
                now = now.replace(trace, word)
            now = re.sub(r" +$", "", now, flags=re.M)
            if "UPDATE" in os.environ:
                text = text.replace(f"$ {command}\n{expected}", f"$ {command}\n{now}")
            else:
                self.assertEqual(expected, now, command)
        if "UPDATE" in os.environ:
            page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    export_case.main(__doc__)
