# SPDX-License-Identifier: Apache-2.0
"""Worked examples (docs/examples): each output is what the command prints of recordings: of tests/replay, by the name of the
folder, and of recorded jobs, `job_NAME`. Usage: examples_test.py RANGEFINDER REPOSITORY REPLAY

`…` on a line of its own stands for lines that are left out. `rangefinder run` needs a GPU and is not run. With UPDATE=1
each line becomes the nearest one that is printed; read the difference.
"""
import difflib
import os
import re
import shlex
import shutil

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

LONGEST_WORDS = 300
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]+\]\(\.\./pictures/[\w.]+\)")
JOBS = "tests/unit/analysis/ranks/recorded_jobs"
CUT = "…"


def pages():
    return sorted((cli_case.REPOSITORY / "docs/examples").glob("*.md"))


def shown(page):
    """(words of a command, its lines of output), in order. A block without `$ ` is commands alone."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        commands = block if re.search(r"^\$ ", block, re.MULTILINE) else re.sub("^", "$ ", block.rstrip(), flags=re.MULTILINE)
        for part in re.split(r"^\$ ", commands, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield shlex.split(command), output.splitlines()


def provide(word, folder):
    """Puts the recorded trace or job of this name into the folder. False: there is none."""
    if (cli_case.REPOSITORY / "tests/replay" / word / "recording.zst").exists():
        recorded(word)
        return True
    job = cli_case.REPOSITORY / JOBS / word.removeprefix("job_")
    if not word.startswith("job_") or not job.is_dir():
        return False
    for rank in sorted(job.iterdir()):
        shutil.copytree(rank, folder / word / "host=node7" / rank.name / f"pid={4711 + int(rank.name[5:])}", dirs_exist_ok=True)
    return True


def compared(expected, printed):
    """(line of the page, line that is printed or None) for each line of an output, and what follows the last one."""
    at, skips, pairs = 0, False, []
    for wanted in expected:
        if wanted == CUT:
            skips = True
            continue
        found = next((i for i in range(at, len(printed)) if not skips or printed[i] == wanted), None)
        pairs.append((wanted, None if found is None else printed[found]))
        at, skips = at if found is None else found + 1, False
    return pairs, [] if skips else printed[at:]


def nearest(expected, printed):
    """The lines of an output, each as it is printed now."""
    at, out = 0, []
    for wanted in expected:
        if wanted != CUT:
            rest = range(at, len(printed) if CUT in out[-1:] else min(at + 1, len(printed)))
            at = max(rest, key=lambda i: difflib.SequenceMatcher(None, wanted, printed[i]).ratio(), default=at)
            out += printed[at:at + 1]
            at += 1
        else:
            out.append(wanted)
    return out


class Examples(CommandLine):
    def outputs(self, page):
        """(command, lines of the page, lines that are printed) for each command that has an output."""
        folder, code = recorded("copy_storm").parent, 0
        for command, expected in shown(page):
            printed = [str(code)]
            if command[:2] == ["rangefinder", "run"]:
                self.assertEqual(expected, [], command)
                continue
            if command != ["echo", "$?"]:
                self.assertTrue(any([provide(word, folder) for word in command]), f"no recording in {command}")
                done = self.call(*command[1:], cwd=folder, COLUMNS="100")
                code, printed = done.returncode, done.stdout.splitlines()
            yield command, expected, printed

    def test_outputs_are_what_the_recordings_say(self):
        for page in pages():
            text = page.read_text(encoding="utf-8")
            for command, expected, printed in self.outputs(page):
                if "UPDATE" in os.environ:
                    text = text.replace("\n".join(expected), "\n".join(nearest(expected, printed)), 1)
                    continue
                pairs, rest = compared(expected, printed)
                for wanted, line in pairs:
                    with self.subTest(page=page.name, line=wanted):
                        self.assertEqual(line, wanted)
                self.assertEqual(rest, [], f"{page.name}: `{CUT}` is missing at the end of {command}")
            if "UPDATE" in os.environ:
                page.write_text(text, encoding="utf-8")

    def test_they_are_short_and_have_a_picture(self):
        for page in pages():
            prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
            self.assertLessEqual(len(prose.split()), LONGEST_WORDS, page.name)
            self.assertRegex(prose, PICTURE, page.name)


if __name__ == "__main__":
    export_case.main(__doc__)
