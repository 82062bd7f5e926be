# SPDX-License-Identifier: Apache-2.0
"""Damaged traces and other bad input for the verbs that read: one sentence with the place, and the right exit code.

    damage_test.py RANGEFINDER REPOSITORY DAMAGED_TRACES

The traces and the message for each are in tests/unit/analysis/model/damages.h. `validate` ends with 1, the others
with 3. Unusual but correct input ends with 0 everywhere.
"""
import functools
import json
import os
import pathlib
import subprocess
import sys

import cli_case
from cli_case import HEADER, TRACE, CommandLine

FIRST = "trace-00000.ndjson"
HOSTILE = ["\x1b[2J\x1b[31m", "a\nb\tc\0d", "</script><script>alert(1)</script>", "'; DROP TABLE kernels; --", "=1+1",
           "../../etc/passwd", "\u202eevil", "%s%n", "x" * 16_000, "\\", "/", "\ud83d\ude00", "\"\"", " "]
CRASHES = ("terminate called", "what():", "Traceback", "core dumped", "AddressSanitizer", "std::", "basic_string",
           "[json.exception")
WRITER = ""


def listed(refused):
    """The names in "there is no section ?; use a, b or c"."""
    return refused.stderr.split("; use ")[1].replace(",", "").replace(" or ", " ").split()


class DamageCase(CommandLine):
    """Writes the corpus, and checks the messages of a verb."""

    @functools.cached_property
    def sections(self):
        names = listed(self.call("report", "x", "--section", "?"))
        return [name for name in names if name != "kernel"]  # which needs the name of one

    @functools.cached_property
    def formats(self):
        self.make_trace(name="formats")
        return listed(self.call("export", "formats", "--to", "?"))

    def corpus(self):
        done = subprocess.run([WRITER, self.folder], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def damaged(self, name):
        self.corpus()
        return self.folder / name

    def output(self, code, *arguments):
        """Output of the call, only the error if it is refused; without the paths that it was given."""
        done = self.call(*arguments)
        text = done.stderr if code == 3 else done.stdout + done.stderr
        for crash in CRASHES:
            self.assertNotIn(crash, text)
        self.assertNotIn("\x1b", text)
        self.check_code(done, code)
        if code == 3:
            self.assertTrue(done.stderr.startswith("rangefinder: "), done.stderr)
        if code == 1:  # validate: its findings are data
            self.assertEqual(done.stderr, "")
        for argument in arguments:
            text = text.replace(str(argument) + "/", "")
        return text

    def verbs(self, place):
        """Arguments of each verb that shows the trace in `place`."""
        out = {name: ["report", place, "--section", name] for name in self.sections}
        out["json"] = ["report", place, "--json"]
        for name in self.formats:
            out[name] = ["export", place, "--to", name, "--out", self.folder / f"out-{name}", "--force"]
        out["diff"] = ["diff", place, place]
        return out.items()

    def check_verbs(self, place, code=0, words=()):
        """All verbs that show a trace end with `code` and print all `words`."""
        for name, arguments in self.verbs(place):
            with self.subTest(place=str(place)[-60:], verb=name):
                text = self.output(code, *arguments)
                for word in words:
                    self.assertIn(word, text)

    def check_refused(self, place, *words):
        self.check_verbs(place, 3, words)
        text = self.output(1, "validate", place)
        for word in words:
            self.assertIn(word, text)

    def check_accepted(self, place):
        self.check_verbs(place)
        self.output(0, "validate", place)


class Damage(DamageCase):
    def test_each_verb_with_each_damaged_trace(self):
        for damage in self.corpus():
            place, words, problems = self.folder / damage["name"], damage["message"], damage["problems"]
            if words or not problems:
                self.check_verbs(place, 3 if words else 0, words)
            else:
                self.output(0, "report", place)
            with self.subTest(place=place.name, verb="validate"):
                text = self.output(1 if problems else 0, "validate", place)
                for kind in filter(None, problems.split(", ")):
                    self.assertIn(f"[{kind}]", text)
                if words and words[0].startswith("trace-"):
                    self.assertIn(words[0].split(": ")[0], text)

    def test_a_cut_by_a_kill_is_reported(self):
        trace = self.damaged("cut by a kill")
        self.assertIn(f"{FIRST}:14: the last line is torn", self.output(0, "validate", trace))
        self.assertIn("torn", self.output(0, "report", trace))

    def test_an_empty_folder(self):
        (self.folder / "empty").mkdir()
        self.check_refused("empty", "empty", "no trace")

    def test_a_folder_with_a_summary_alone(self):
        (self.folder / "alone").mkdir()
        (self.folder / "alone" / "summary.json").write_text("{}")
        self.check_refused("alone", "alone", "trace-*.ndjson")

    def test_a_segment_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        trace = self.make_trace()
        (trace / FIRST).chmod(0)
        self.check_refused(trace, FIRST, "Permission denied")

    def test_hostile_names(self):
        for number, name in enumerate(HOSTILE):
            lines = [dict(line) for line in TRACE]
            lines[0].update(host=name, executable=name, command=[name])
            lines[1]["name"] = lines[2]["name"] = name
            lines[3].update(mangled=name, demangled=name)
            self.check_accepted(self.make_trace(lines, f"hostile-{number}"))

    def test_a_folder_with_a_hostile_name(self):
        self.check_refused(self.make_trace([dict(HEADER, version="9.0")], "tr\x1b[2Jace"), FIRST)

    def test_a_missing_place(self):
        self.check_verbs("nowhere", 3, ["nowhere"])
        self.assertIn("nowhere", self.output(3, "validate", "nowhere"))


class Salvage(DamageCase):
    """`validate --fix`; tests/unit/analysis/validate/salvage_test.cpp tests the content of the result."""

    def setUp(self):
        super().setUp()
        self.trace = self.make_trace()
        with open(self.trace / FIRST, "a", encoding="utf-8") as file:
            file.write('{"t":"ker')

    def fix(self, code, *options):
        return self.output(code, "validate", self.trace, "--fix", *options)

    def check_valid(self, trace):
        self.output(0, "validate", "--strict", trace)

    def test_fix_writes_a_valid_trace_beside_the_cut_one(self):
        before = (self.trace / FIRST).read_bytes()
        self.fix(0)
        self.assertEqual((self.trace / FIRST).read_bytes(), before)
        self.check_valid(f"{self.trace}-salvaged")
        self.output(0, "report", f"{self.trace}-salvaged")

    def test_a_segment_that_was_just_created_is_skipped(self):
        (self.trace / "trace-00001.ndjson").write_text("")
        for options, repaired in (((), pathlib.Path(f"{self.trace}-salvaged")), (("--force",), self.trace)):
            self.fix(0, *options)
            self.check_valid(repaired)
            self.assertEqual(sorted(path.name for path in repaired.glob("trace-*")), [FIRST])

    def test_fix_with_force_repairs_in_place(self):
        self.fix(0, "--force")
        self.check_valid(self.trace)
        self.assertEqual(list(self.folder.iterdir()), [self.trace])

    def test_fix_of_a_valid_trace_writes_nothing(self):
        self.fix(0, "--force")
        self.assertIn("nothing to fix", self.fix(0))
        self.assertEqual(list(self.folder.iterdir()), [self.trace])

    def test_fix_refuses_an_existing_place(self):
        (self.folder / "taken").mkdir()
        self.assertIn("taken", self.fix(3, "--out", "taken"))

    def test_fix_reports_as_json(self):
        (result,) = json.loads(self.call("validate", self.trace, "--fix", "--json").stdout)["traces"]
        self.assertTrue(result["done"] and result["after"]["valid"])
        self.assertEqual((result["kept"], result["dropped"]), (8, 1))
        self.assertTrue(pathlib.Path(result["place"]).is_dir())

    def test_options_of_fix_need_fix(self):
        for arguments in (["--force"], ["--out", "x"], ["--fix", "--force", "--out", "x"]):
            self.output(2, "validate", self.trace, *arguments)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    WRITER = os.path.abspath(sys.argv.pop(3))
    cli_case.main(__doc__)
