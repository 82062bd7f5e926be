# SPDX-License-Identifier: Apache-2.0
"""`report` over several traces: ranks of a job, and traces that are none.
Usage: report_ranks_test.py RANGEFINDER REPOSITORY"""
import json
import re
import shutil

import cli_case
from cli_case import CommandLine


class Ranks(CommandLine):
    def make_ranks(self, *names):
        """One trace a name; the n-th took n times 500 ns more."""
        for number, name in enumerate(names):
            lines = [dict(line) for line in cli_case.TRACE]
            lines[0]["rank"] = str(number)
            lines[6]["end"] = 1100 + 500 * number
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            self.make_trace(lines, name=name)

    def test_traces_of_two_ranks_merge_and_the_slower_is_named(self):
        self.make_ranks("job/host=a/rank=0/pid=1", "job/host=b/rank=1/pid=1")
        for folders in (["job"], ["job/"], ["job/host=a/rank=0/pid=1/", "job/host=b"], [self.folder / "job"]):
            done = self.call("report", *folders)
            self.check_code(done, 0)
            self.assertIn("Straggler: rank 1", done.stdout, folders)
        self.make_ranks("copied/rank=0", "copied/rank=1")
        self.assertIn("Straggler: rank 1", self.call("report", "copied").stdout)
        whole = json.loads(self.call("report", "job", "--json").stdout)
        self.assertEqual(whole["merged"][0]["max_gpu_ns"], 1500)
        self.assertEqual(whole["merged"][0]["slowest"], "rank 1")
        self.assertEqual(whole["rank_findings"][0]["where"], "model")
        self.check_code(self.call("report", "job", "--csv"), 2)

    def test_an_absent_rank_is_said_first_and_fails_strict(self):
        self.make_ranks(*(f"job/host=a/rank={rank}/pid={rank + 1}" for rank in range(3)))
        shutil.rmtree(self.folder / "job/host=a/rank=1")
        done = self.call("report", "job")
        self.check_code(done, 0)
        self.assertTrue(done.stdout.startswith("Missing: no trace of rank 1.\nMissing: rank 0 has no end"), done.stdout)
        self.check_code(self.call("report", "job", "--strict"), 1)
        self.assertEqual(json.loads(self.call("report", "job", "--json").stdout)["missing_ranks"][0],
                         {"rank": "rank 1", "problem": "absent", "text": "no trace of rank 1"})
        shutil.rmtree(self.folder / "job/host=a/rank=0")
        self.check_code(self.call("report", "job", "--strict"), 1)

    def test_a_selection_that_one_rank_matches_shows_that_one(self):
        self.make_ranks("job/host=a/rank=0/pid=1", "job/host=a/rank=1/pid=2")
        file = self.folder / "job/host=a/rank=1/pid=2/trace-00000.ndjson"
        file.write_text(file.read_text().replace('"name":"model"', '"name":"decoder"'))
        done = self.call("report", "job", "--range", "decoder")
        self.check_code(done, 0)
        self.assertIn("decoder", done.stdout)
        self.assertIn("nothing of 1 trace is selected", done.stderr)

    def test_kernels_that_the_user_names_communicate(self):
        self.make_trace(name="one")
        kernel = next(line["demangled"] for line in cli_case.TRACE if line["t"] == "kernel_name")
        plain = self.call("report", "one", "--section", "communication", "--json")
        self.assertEqual(json.loads(plain.stdout)["traces"][0]["communication"], [])
        for pattern in (kernel[:3], f"^{re.escape(kernel)}$"):
            done = self.call("report", "one", "--section", "communication", "--json", "--communication", pattern)
            row = json.loads(done.stdout)["traces"][0]["communication"][0]
            self.assertEqual((row["library"], row["kernels"] > 0, done.stderr), ("communication", True, ""))
        wrong = self.call("report", "one", "--communication", "nothing_like_it")
        self.check_code(wrong, 0)
        self.assertIn("--communication nothing_like_it: no kernel of the trace matches", wrong.stderr)
        self.check_code(self.call("report", "one", "--communication", "("), 2)
        self.check_code(self.call("diff", "one", "one", "--communication", kernel[:3]), 0)

    def test_traces_that_are_not_the_ranks_of_one_job_are_reported_one_by_one(self):
        self.make_ranks("before", "after")
        self.make_ranks("out/run=1/host=a/rank=0/pid=1", "out/run=2/host=a/rank=1/pid=1")
        self.make_ranks("runs/x", "runs/host=a/rank=1/pid=2")
        for folders in (["before", "after"], ["out"], ["runs"]):
            done = self.call("report", *folders)
            self.check_code(done, 0)
            self.assertEqual(len(re.findall(r"^model ", done.stdout, re.MULTILINE)), 2, done.stdout)
            self.assertEqual(done.stdout.splitlines()[-2:],
                             ["Each trace by itself: these are not the ranks of one job. To compare them as ranks:",
                              f"  rangefinder report {' '.join(folders)} --as-ranks"])
            self.assertNotIn("traggler", done.stdout)
            self.assertNotIn("ranks", json.loads(self.call("report", *folders, "--json").stdout))
        self.assertIn("Straggler: rank 1", self.call("report", "before", "after", "--as-ranks").stdout)
        self.assertIn("Straggler: rank 1", self.call("report", "out/run=1", "out/run=2", "--as-ranks").stdout)

    def test_of_ranks_a_selection_fails_only_where_none_matches(self):
        self.make_ranks("job/host=a/rank=0/pid=1", "job/host=a/rank=1/pid=2")
        self.check_code(self.call("report", "job", "--range", "model"), 0)
        self.check_code(self.call("report", "job", "--range", "modle"), 2)


if __name__ == "__main__":
    cli_case.main(__doc__)
