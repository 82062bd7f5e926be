# SPDX-License-Identifier: Apache-2.0
"""Files of `rangefinder diff --save`: they stand for their trace, are small, and a damaged one is refused.
Usage: diff_baseline_test.py RANGEFINDER REPOSITORY REPLAY"""
import json
import shutil

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded
from jsonschema import Draft202012Validator

PAIRS = (("case_starved_pinned", "case_starved_one"), ("rtdetr_unfused", "rtdetr_exact"),
         ("rtdetr_sampled", "rtdetr_exact"), ("hf_rtdetr_trace", "hf_rtdetr_sampled"), ("graph_replay", "multi_stream"),
         ("hazards_exact", "nvtx_shapes"))


class Baseline(CommandLine):
    maxDiff = 2000

    def saved(self, name, *options):
        file = self.folder / f"{name}.json"
        done = self.call("diff", "--save", file, recorded(name), *options)
        self.check_code(done, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn("Next:  rangefinder diff", done.stderr)
        return file

    def test_a_baseline_gives_what_its_trace_gives(self):
        for before, after in PAIRS:
            files = self.saved(before), self.saved(after)
            traces = recorded(before), recorded(after)
            for options in ([], ["--json", "--all"], ["--md"], ["--csv", "--all"], ["--fail-over", "5%"]):
                expected = self.call("diff", *traces, *options)
                for a in (traces[0], files[0]):
                    for b in (traces[1], files[1]):
                        with self.subTest(a=a, b=b, options=options):
                            done = self.call("diff", a, b, *options)
                            self.assertEqual((done.returncode, done.stdout), (expected.returncode, expected.stdout))

    def job(self, recorded_as):
        """A recorded job of two ranks: slow_rank.py, see tests/unit/analysis/ranks."""
        for rank in (0, 1):
            shutil.copytree(cli_case.REPOSITORY / "tests/unit/analysis/ranks/recorded_jobs" / recorded_as / f"rank={rank}",
                            self.folder / recorded_as / f"host=a/rank={rank}/pid={rank}")
        return self.folder / recorded_as

    def test_two_jobs_are_compared_by_waits_own_time_and_late_ranks_and_so_are_their_baselines(self):
        before, after, file = self.job("none"), self.job("gpu"), self.folder / "none.json"
        self.check_code(self.call("diff", "--save", file, before), 0)
        schema = json.loads((cli_case.REPOSITORY / "schema" / "baseline.schema.json").read_text())
        self.assertEqual([e.message for e in Draft202012Validator(schema).iter_errors(json.loads(file.read_text()))], [])
        whole = json.loads(self.call("diff", before, after, "--json").stdout)
        self.assertEqual((whole["a"]["late"], whole["b"]["ranks"]), ("No rank is late.", 2))
        self.assertTrue(whole["b"]["late"].startswith("Rank 1 makes the other wait 2.75 ms an iteration"), whole["b"])
        rows = {row["path"]: row for row in whole["modules"]}
        self.assertEqual(rows["step/forward/extra"]["verdict"], "new")
        self.assertGreater(rows["step"]["b_max_ns"], rows["step"]["b_min_ns"] + 3_000_000)
        self.assertIn("rank_wait_ns", {row["quantity"] for row in whole["iteration"]})
        for a in (before, file):
            done = self.call("diff", a, after, "--fail-over", "iteration=5%")
            self.check_code(done, 1)
            self.assertIn("No rank is late.", done.stdout)
            self.assertNotIn("Kernels\n", done.stdout)
        self.check_code(self.call("diff", before, after / "host=a/rank=0"), 2)

    def test_a_baseline_keeps_the_selected_iterations(self):
        file = self.saved("case_starved_one", "--iterations", "10:30")
        whole = json.loads(self.call("diff", file, recorded("case_starved_one"), "--json").stdout)
        self.assertEqual((whole["a"]["iterations"], whole["b"]["iterations"]), (20, 59))

    def test_a_baseline_is_in_its_schema_and_small(self):
        schema = json.loads((cli_case.REPOSITORY / "schema" / "baseline.schema.json").read_text())
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for name, limit in (("case_starved_one", 4_000), ("rtdetr_sampled", 150_000), ("rtdetr_exact", 150_000),
                            ("hf_rtdetr_sampled", 200_000), ("hazards_exact", 4_000)):
            with self.subTest(name=name):
                file = self.saved(name)
                self.assertLess(file.stat().st_size, limit)
                whole = json.loads(file.read_text())
                self.assertEqual([error.message for error in validator.iter_errors(whole)], [])
                for key in schema["required"]:
                    self.assertFalse(validator.is_valid({k: v for k, v in whole.items() if k != key}), key)

    def refused(self, text, message, name="bad.json"):
        file = self.folder / name
        file.write_text(text)
        done = self.call("diff", file, recorded("case_starved_one"))
        self.check_code(done, 3)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, message)
        self.assertRegex(done.stderr, r"\n  Write it again with: rangefinder diff --save \S+ TRACE\n$")

    def test_a_damaged_or_foreign_file_is_refused(self):
        text = self.saved("case_starved_one").read_text()
        self.refused("", "is no baseline: the JSON is damaged or incomplete")
        self.refused("[]", 'its "schema" is not rangefinder.baseline')
        self.refused((recorded("case_starved_one") / "summary.json").read_text(), 'its "schema" is not rangefinder.baseline')
        self.refused(text.replace('"1.3"', '"2.0"'), r'this program reads version 1\.3, the file has "2\.0"')
        for at in range(1, len(text) - 2, 37):
            self.refused(text[:at], "is no baseline: the JSON is damaged or incomplete")

    def test_a_value_of_another_kind_is_refused(self):
        whole = json.loads(self.saved("case_starved_one").read_text())

        def places(value):
            for key in (range(len(value)) if isinstance(value, list) else list(value)):
                yield value, key
                if isinstance(value[key], (dict, list)):
                    yield from places(value[key])
        names = 0
        for number, (parent, key) in enumerate(list(places(whole))):
            before = parent[key]
            for wrong in (None, ({"x": 1}, -1.5, 1e400)[number % 3]):
                parent[key] = wrong
                text = json.dumps(whole)
                done = self.call("diff", self.write_file(text), recorded("case_starved_one"))
                self.assertIn(done.returncode, (0, 3), (key, wrong, done.stderr))
                names += done.returncode == 3
            parent[key] = before
        self.assertGreater(names, 50)

    def write_file(self, text):
        file = self.folder / "changed.json"
        file.write_text(text)
        return file

    def test_wrong_use_is_exit_2(self):
        trace = recorded("case_starved_one")
        for words in (["--save", "base", trace], ["--save", "base.json", trace, trace], [trace], []):
            with self.subTest(words=words):
                self.check_code(self.call("diff", *words), 2)
        done = self.call("diff", "--save", "no such folder/base.json", trace)
        self.check_code(done, 3)
        self.assertIn("no such folder", done.stderr)


if __name__ == "__main__":
    export_case.main(__doc__)
