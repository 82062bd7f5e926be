# SPDX-License-Identifier: Apache-2.0
"""`rangefinder report --section graphs --check` from outside: exit codes, formats, wrong use, several traces.
Usage: capture_check_test.py RANGEFINDER REPOSITORY REPLAY"""
import csv
import io
import json

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

CHECK = ("--section", "graphs", "--check")


class CaptureCheck(CommandLine):
    def checked(self, trace, code, *more):
        done = self.call("report", trace, *CHECK, "--json", *more)
        self.check_code(done, code)
        (one,) = json.loads(done.stdout)["traces"]
        return one

    def test_exit_code_verdict_and_rows_agree(self):
        for name, code, more in (("hf_rtdetr_trace", 1, ()), ("case_starved_one", 1, ()), ("case_starved_pinned", 1, ()),
                                 ("graph_replay", 0, ()), ("decoder_sampled", 0, ()), ("decoder_sampled", 1, ("--all",)),
                                 ("copy_storm", 1, ("--iteration-range", "copy_storm"))):
            with self.subTest(name=name, more=more):
                trace = self.checked(recorded(name), code, *more)
                failed = [row for row in trace["capture_check"] if row["verdict"] == "fail"]
                self.assertEqual(bool(failed), code == 1)
                self.assertEqual(trace["verdict"], "fail" if code else "pass")
                self.assertTrue(trace["not_judged"])
                self.assertTrue(all(row["why"] and row["instead"] for row in failed), failed)
                self.assertTrue(all(row["per_iteration"] > 0 for row in failed if row["when"] != "while capturing"))
                calls = sum(row["count"] for row in failed)
                self.assertRegex(trace["summary"], f"FAIL: {calls:,} call" if code else "PASS: nothing")

    def test_what_the_finding_counts_fails_the_check(self):
        trace = recorded("hf_rtdetr_trace")
        found = self.report(trace, "--section", "findings")["findings"]
        self.assertTrue(any("capture_obstacles" in str(one["evidence"].get("also")) for one in found), found)
        rows = [row for row in self.checked(trace, 1)["capture_check"] if row["verdict"] == "fail"]
        self.assertTrue({"cuLaunchKernel", "cuMemcpyHtoDAsync", "cuStreamSynchronize"} <= {row["api"] for row in rows})

    def test_text_csv_and_markdown_have_the_same_rows_and_exit_code(self):
        trace = recorded("case_starved_one")
        rows = self.checked(trace, 1)["capture_check"]
        text, table, page = (self.call("report", trace, *CHECK, *form) for form in ([], ["--csv"], ["--md"]))
        for done in (text, table, page):
            self.check_code(done, 1)
        self.assertEqual([row["api"] for row in csv.DictReader(io.StringIO(table.stdout))], [row["api"] for row in rows])
        for done in (text, page):
            self.assertRegex(done.stdout, r"(?m)^\**FAIL: \d+ calls of \d modules? stand")
            self.assertRegex(done.stdout, "(?m)^Not judged: ")
            self.assertTrue(all(row["api"] in done.stdout for row in rows))

    def test_selections_apply(self):
        trace = recorded("case_starved_one")
        rows = self.checked(trace, 1, "--range", "iteration/copy")["capture_check"]
        self.assertEqual({row["module"] for row in rows}, {"iteration/copy"})
        named = self.checked(trace, 1, "--iteration-range", "iteration")
        self.assertEqual(named["capture_check"], self.checked(trace, 1)["capture_check"])
        self.check_code(self.call("report", trace, *CHECK, "--iteration-range", "nothing"), 2)

    def test_one_failing_trace_of_several_fails_ranks_or_not(self):
        for name in ("graph_replay", "case_starved_one"):
            lines = export_case.lines_of(recorded(name))
            for folder in (f"plain/{name}", f"job/host=a/rank={int(name == 'graph_replay')}/pid=1"):
                (self.folder / folder).parent.mkdir(parents=True, exist_ok=True)
                self.make_trace(lines, name=folder)
        for folder in ("plain", "job"):
            done = self.call("report", folder, *CHECK)
            self.check_code(done, 1)
            self.assertRegex(done.stdout, "(?ms)^(FAIL|PASS): .*^(FAIL|PASS): ")
            self.assertNotIn("traggler", done.stdout)
        self.check_code(self.call("report", "plain/graph_replay", "plain/graph_replay", *CHECK), 0)

    def test_wrong_use(self):
        trace = recorded("graph_replay")
        for words in (["--check"], ["--section", "sync", "--check"], [*CHECK, "--html", "page.html"],
                      [*CHECK, "--json", "--csv"]):
            self.check_code(self.call("report", trace, *words), 2)
        self.assertIn("--check needs --section graphs", self.call("report", trace, "--check").stderr)


if __name__ == "__main__":
    export_case.main(__doc__)
