#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every recording was made by the command that `record` has for it, and README.md says the same.

    recordings_test.py FOLDER [--update]     --update writes the table of README.md; the last column is kept

What was run is in the header of the golden lines. Options that a header does not have are taken from `record`, which is
run with a stand-in for the program.
"""
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BLOCK = re.compile(r"(<!-- recordings -->\n)(.*?)(<!-- /recordings -->)", re.DOTALL)
HEAD = "| folder | card | `rangefinder run …` | |\n|---|---|---|---|\n"
STAND_IN = '#!/bin/sh\n[ "$1" != run ] || { printf "%s\\0" "$@"; echo; } >>"$0.commands"\n'


def line_of_kind(file, kind):
    return next(line for line in map(json.loads, file) if line["t"] == kind)


def without_build(command):
    """The programs of build/bin by their name, paths without `./`."""
    return [re.sub(r".*\bbin/", "", command[0]), *(re.sub(r"^(\./)+", "", word) for word in command[1:])]


def recorded(folder):
    """Name of a recording to what its golden lines say: card, counters, command."""
    out = {}
    for path in sorted(folder.glob("*/golden.ndjson.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            header, gpu = line_of_kind(file, "header"), line_of_kind(file, "gpu")
        out[path.parent.name] = (gpu["name"].split()[1], header["counters"], without_build(header["command"]))
    return out


def scripted(folder):
    """Name of a recording to the options and the command of `record`, in its order."""
    with tempfile.TemporaryDirectory() as out:
        program = pathlib.Path(out, "bin", "rangefinder")
        program.parent.mkdir()
        program.write_text(STAND_IN, encoding="utf-8")
        program.chmod(0o755)
        subprocess.run([folder / "record", out, out], check=True, stdout=subprocess.DEVNULL, timeout=60)
        lines = pathlib.Path(f"{program}.commands").read_text(encoding="utf-8").splitlines()
    commands = {}
    for words in (line.split("\0")[:-1] for line in lines):
        trace, dashes = words.index("--out") + 1, words.index("--")
        commands[pathlib.Path(words[trace]).parent.name] = (words[trace + 1:dashes], without_build(words[dashes + 1:]))
    return commands


def table(traces, scripts, text):
    """The table, with the last column of `text`."""
    notes = dict(re.findall(r"(?m)^\| `(\w+)` \|.*\| (.*?) ?\|$", text))
    out = HEAD
    for name, (options, command) in scripts.items():
        card = traces[name][0]
        out += f"| `{name}` | {card} | `{' '.join([*options, '--', *command])}` | {notes.get(name, '')} |\n"
    return out


class Recordings(unittest.TestCase):
    folder = pathlib.Path()
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.traces, cls.scripts = recorded(cls.folder), scripted(cls.folder)

    def test_the_script_has_the_command_of_every_recording(self):
        wanted = {name: " ".join([counters, *command]) for name, (_, counters, command) in self.traces.items()}
        found = {name: " ".join([options[options.index("--counters") + 1], *command])
                 for name, (options, command) in self.scripts.items()}
        self.assertEqual(wanted, found)

    def test_the_table_has_card_options_and_command_of_every_recording(self):
        block = BLOCK.search((self.folder / "README.md").read_text(encoding="utf-8"))
        self.assertIsNotNone(block, "no <!-- recordings -->")
        self.assertEqual(block.group(2), table(self.traces, self.scripts, block.group(2)),
                         "tests/replay/recordings_test.py tests/replay --update writes it")


def update(folder):
    path = folder / "README.md"
    text = path.read_text(encoding="utf-8")
    rows = table(recorded(folder), scripted(folder), BLOCK.search(text).group(2))
    path.write_text(BLOCK.sub(lambda match: match.group(1) + rows + match.group(3), text), encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update(pathlib.Path(sys.argv[1]))
    else:
        Recordings.folder = pathlib.Path(sys.argv[1])
        unittest.main(argv=sys.argv[:1])
