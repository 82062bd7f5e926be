#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`validate --fix` from outside: what a cut trace becomes, and where.

    salvage_test.py PATH_OF_RANGEFINDER REPOSITORY

Needs no GPU. tests/unit/analysis/validate/salvage_test.cpp looks at what is in the result.
"""
import json
import pathlib

import cli_case
from bad_input_test import END, FIRST
from cli_case import TRACE, CommandLine


class Salvage(CommandLine):
    def cut(self):
        trace = self.make_trace()
        with open(trace / FIRST, "a", encoding="utf-8") as file:
            file.write('{"t":"ker')
        return trace

    def test_fix_writes_a_valid_trace_beside_the_cut_one(self):
        trace = self.cut()
        before = (trace / FIRST).read_bytes()
        self.check_code(self.call("validate", trace, "--fix"), 0)
        self.assertEqual((trace / FIRST).read_bytes(), before)
        self.check_code(self.call("validate", "--strict", f"{trace}-salvaged"), 0)
        self.check_code(self.call("report", f"{trace}-salvaged"), 0)

    def test_a_segment_that_was_just_made_is_left_out(self):
        trace = self.cut()
        (trace / "trace-00001.ndjson").write_text("")
        for options, mended in (((), trace.with_name(f"{trace.name}-salvaged")), (("--force",), trace)):
            self.check_code(self.call("validate", trace, "--fix", *options), 0)
            self.check_code(self.call("validate", "--strict", mended), 0)
            self.assertEqual(sorted(path.name for path in mended.glob("trace-*")), [FIRST])

    def test_fix_with_force_mends_in_place(self):
        trace = self.cut()
        self.check_code(self.call("validate", trace, "--fix", "--force"), 0)
        self.check_code(self.call("validate", "--strict", trace), 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], [trace.name])

    def test_fix_of_a_valid_trace_writes_nothing(self):
        trace = self.make_trace([*TRACE, END])
        done = self.call("validate", trace, "--fix")
        self.check_code(done, 0)
        self.assertIn("nothing to fix", done.stdout)
        self.assertEqual([path.name for path in self.folder.iterdir()], [trace.name])

    def test_fix_refuses_a_place_that_is_taken(self):
        trace = self.cut()
        (self.folder / "taken").mkdir()
        done = self.call("validate", trace, "--fix", "--out", "taken")
        self.check_code(done, 3)
        self.assertIn("taken", done.stderr)

    def test_fix_says_what_it_did_as_json(self):
        done = self.call("validate", self.cut(), "--fix", "--json")
        self.check_code(done, 0)
        (trace,) = json.loads(done.stdout)["traces"]
        self.assertTrue(trace["done"] and trace["after"]["valid"])
        self.assertEqual((trace["kept"], trace["dropped"]), (8, 1))
        self.assertTrue(pathlib.Path(trace["place"]).is_dir())

    def test_options_of_fix_need_it(self):
        trace = self.cut()
        for arguments in (["--force"], ["--out", "x"], ["--fix", "--force", "--out", "x"]):
            self.check_code(self.call("validate", trace, *arguments), 2)


if __name__ == "__main__":
    cli_case.main(__doc__)
