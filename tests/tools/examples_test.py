# SPDX-License-Identifier: Apache-2.0
"""Worked examples (docs/examples) and pages (docs): each output is what the command prints of recordings: of tests/replay,
by the name of the folder, of recorded ranks, and of recorded jobs, `job_NAME`.
Usage: examples_test.py RANGEFINDER REPOSITORY REPLAY

`…` on a line of its own stands for lines that are left out. `rangefinder run` needs a GPU and is not run. With UPDATE=1
each line becomes the nearest one that is printed; read the difference.
"""
import difflib
import os
import re
import shlex
import shutil

import cli_case
import document_commands_test
import export_case
import first_answers_test
from cli_case import CommandLine
from document_commands_test import FENCED
from export_case import recorded

LONGEST_WORDS = 300
PICTURE = re.compile(r"!\[[^\]]+\]\(\.\./pictures/[\w.]+\)")
RANKS = "tests/unit/analysis/ranks"
CUT = "…"


def examples():
    return sorted((cli_case.REPOSITORY / "docs/examples").glob("*.md"))


def pages():
    """With outputs: first_answers_test.py has its own pages."""
    others = [cli_case.REPOSITORY / page for page in first_answers_test.PAGES]
    return examples() + [page for page in sorted((cli_case.REPOSITORY / "docs").glob("*.md")) if page not in others]


def blocks(page, label=""):
    return [block for _, found, block in FENCED.findall(page.read_text(encoding="utf-8")) if found == label]


def shown(page):
    """(words of a command, its lines of output), in order. In an example a block without `$ ` has commands without
    outputs. On other pages commands without outputs are left out: no recording has what they name."""
    follows = page in examples()
    for block in blocks(page):
        all_commands = follows and not re.search(r"^\$ ", block, re.MULTILINE)
        for part in re.split(r"^\$ ", re.sub("(?m)^(?=.)", "$ ", block) if all_commands else block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if follows or output:
                yield shlex.split(command), output.splitlines()


def provide(word, folder):
    """Puts the recorded trace or job of this name into the folder. False: there is none."""
    if (cli_case.REPOSITORY / "tests/replay" / word / "recording.zst").exists():
        recorded(word)
        return True
    ranks = cli_case.REPOSITORY / RANKS
    if re.fullmatch(r"recorded_\w+(/\w+)?/?", word) and (ranks / word).is_dir():
        shutil.copytree(ranks / word, folder / word, dirs_exist_ok=True)
        return True
    job = ranks / "recorded_jobs" / word.removeprefix("job_")
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
            if command[:2] == ["rangefinder", "sql"]:  # lake/lake_answers_test.py: with DuckDB
                continue
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
        for page in examples():
            prose = FENCED.sub("", page.read_text(encoding="utf-8"))
            self.assertLessEqual(len(prose.split()), LONGEST_WORDS, page.name)
            self.assertRegex(prose, PICTURE, page.name)

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
