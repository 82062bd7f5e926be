# SPDX-License-Identifier: Apache-2.0
"""Functions of the host in reports. Usage: report_stacks_test.py RANGEFINDER REPOSITORY"""
import re

import cli_case
import stacked_case
from cli_case import CommandLine


class Stacks(CommandLine):
    def setUp(self):
        super().setUp()
        self.trace = self.make_trace(stacked_case.lines())

    def text(self, *arguments):
        done = self.call("report", *arguments, COLUMNS="120")
        self.check_code(done, 0)
        return done.stdout

    def unwrapped(self, *arguments):
        return re.sub(r"\s+", " ", self.text(*arguments))

    def test_the_first_screen_names_the_function_of_host_code(self):
        text = self.unwrapped(self.trace)
        self.assertIn("; host code: data.py:41 Images.load (84 % of that time, of 107 samples)", text)

        opening = self.report(self.trace)["opening"]["host_code"]

        named = tuple(opening[key] for key in ("function", "file", "line"))
        self.assertEqual(("Images.load", "/app/data.py", 41), named)
        self.assertAlmostEqual(0.84, opening["share"], delta=0.01)

    def test_a_finding_names_the_function(self):
        (finding,) = [one for one in self.report(self.trace, "--section", "findings")["findings"]
                      if one["id"] == "idle_in_range" and one["where"] == "step/data"]

        self.assertEqual("Images.load", finding["function"]["function"])
        self.assertIn("Host code: data.py:41 Images.load (100 % of that time, of 80 samples).", finding["why"])

    def test_the_section_idle_has_a_table_of_functions_whose_shares_add_up(self):
        rows = self.report(self.trace, "--section", "idle")["idle_functions"]

        self.assertEqual([("Images.load", 41), ("train", 30)], [(row["function"], row["line"]) for row in rows])
        self.assertAlmostEqual(1, sum(row["share"] for row in rows))
        text = self.text(self.trace, "--section", "idle")
        self.assertRegex(text, r"(?m)^Images\.load +data\.py:41 ")
        self.assertIn("Own code: data.py:41 Images.load (83 % of that time, of 108 samples).", text)

    def test_waits_for_workers_of_a_dataloader_are_explained(self):
        trace = self.make_trace(stacked_case.lines(stacked_case.WAIT), name="waiting")
        text = self.unwrapped(trace)

        self.assertIn("host code: train.py:30 train, in dataloader.py:1284 "
                      "_MultiProcessingDataLoaderIter._try_get_data", text)
        self.assertIn("The process waits for the workers of the DataLoader (_MultiProcessingDataLoaderIter) that "
                      "train.py:30 iterates; workers use no CUDA and are not recorded", text)

    def test_few_samples_name_nothing(self):
        trace = self.make_trace(stacked_case.lines(every_ms=20), name="few")

        self.assertNotIn("; host code:", self.unwrapped(trace))
        self.assertNotIn("host_code", self.report(trace)["opening"])
        self.assertEqual([], self.report(trace, "--section", "idle")["idle_functions"])
        self.assertIn("too few to name functions", self.text(trace, "--section", "idle"))

    def test_the_section_stacks_has_self_total_and_a_tree(self):
        report = self.report(self.trace, "--section", "stacks")
        rows = {row["function"]: row for row in report["stacks"]}

        self.assertEqual(200 * stacked_case.MS, rows["train"]["total_ns"])
        self.assertEqual(0, rows["train"]["self_ns"])
        self.assertEqual(80 * stacked_case.MS, rows["train"]["busy_ns"])
        self.assertEqual("step/data", rows["Images.load"]["module"])
        tree = {node["id"]: node for node in report["stacks_tree"]}
        self.assertEqual({1: 0, 2: 1, 3: 1}, {number: node["caller"] for number, node in tree.items()})
        self.assertEqual(sum(node["self_ns"] for node in tree.values()), tree[1]["total_ns"])
        self.assertIn("200 samples of 1 thread, 200 ms: ", self.text(self.trace, "--section", "stacks"))

    def test_without_stacks_the_report_has_none_of_it(self):
        lines = [line for line in stacked_case.lines() if line["t"] not in ("frame", "stack", "stack_sample")]
        trace = self.make_trace(lines, name="without")

        self.assertNotIn("host_code", self.report(trace)["opening"])
        self.assertNotIn("idle_functions", self.report(trace, "--section", "idle"))
        self.assertNotIn("own code is in", self.text(trace, "--section", "idle"))
        self.assertIn("No stacks of host threads", self.text(trace, "--section", "stacks"))


if __name__ == "__main__":
    cli_case.main(__doc__)
