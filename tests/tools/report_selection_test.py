# SPDX-License-Identifier: Apache-2.0
"""Selections of `rangefinder report`: those that match nothing, and as one row.
Usage: report_selection_test.py RANGEFINDER REPOSITORY REPLAY"""
import csv
import io

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded


class Unmatched(CommandLine):
    """A selection that matches nothing is wrong use; a trace without work is not."""

    def refused(self, trace, *options):
        done = self.call("report", trace, *options)
        self.check_code(done, 2)
        self.assertEqual(done.stdout, "")
        (line,) = done.stderr.splitlines()
        return line

    def test_each_selection_names_what_exists(self):
        trace = recorded("rtdetr_exact")
        count = len(self.report(trace, "--section", "iterations")["iterations"])
        for options, regex in (
                (("--range", "iteratoin"), r"--range iteratoin: no range .*; the nearest are iteration(, | or )"),
                (("--range", "iteration/modle/**"), r"the nearest are iteration/model, .* or "),
                (("--range", "**/fpn_block/1"), r"the nearest are \*\*/fpn_blocks/1(, | or )"),
                (("--kernel", "atention_mma"), r"--kernel atention_mma: no kernel .*; the nearest are \w*attention\w*"),
                (("--section", "kernel", "--kernel", "nosuchkernel"), r"--kernel nosuchkernel: no kernel "),
                (("--iterations", "100:200"),
                 rf"--iterations 100:200: the trace has {count} iterations of iteration, 0:{count}$"),
                (("--iteration-range", "iterashun"), r"--iteration-range iterashun: .* iteration(, | or )"),
                (("--iteration-range", "iterashun", "--iterations", "0:1"), r"--iteration-range iterashun: "),
                (("--iteration-range", "iterashun", "--section", "iterations"), r"--iteration-range iterashun: "),
                (("--range", "iteration/model/backbone/**", "--kernel", "deformable"),
                 r"--range \S+, --kernel deformable: each matches something, but nothing matches all "),
                (("--window", "100s:200s"), r"--window 100 s to 200 s: the trace is from \S+ \w*s to 2.6\d s$"),
                (("--window", ":-1s"), r"--window up to -1.00 s: the trace is from ")):
            for form in ((), ("--json",)):
                with self.subTest(options=options, form=form):
                    line = self.refused(trace, *options, *form)
                    self.assertRegex(line, "^rangefinder: .*" + regex)
                    self.assertLessEqual(line.count(", ") + line.count(" or "), 3)

    def test_what_matches_in_part_is_shown(self):
        trace = recorded("rtdetr_exact")
        for options in (("--iterations", "5:200"), ("--window", "0s:200s"), ("--range", "**/fpn_blocks/1")):
            self.check_code(self.call("report", trace, *options), 0)

    def test_a_trace_without_work_is_no_error(self):
        trace = self.make_trace([cli_case.HEADER])
        done = self.call("report", trace)
        self.check_code(done, 0)
        self.assertIn("No NVTX range and no GPU work", done.stdout)
        self.assertNotIn("Kernels overlap", done.stdout)
        for options, regex in ((("--range", "model"), "has no NVTX range"), (("--kernel", "k"), "has no kernel"),
                               (("--iterations", "0:1"), "has no iterations"), (("--window", "0:1"), "has no GPU work")):
            self.assertRegex(self.refused(trace, *options), regex)

    def test_of_ranks_one_match_is_enough(self):
        for rank, name in (("0", "encoder"), ("1", "decoder")):
            lines = [dict(line) for line in cli_case.TRACE]
            lines[0]["rank"] = rank
            lines[2]["name"] = name
            self.make_trace(lines, name=f"rank{rank}")
        for option in ("--range", "--iteration-range"):
            done = self.call("report", "rank0", "rank1", option, "decoder")
            self.check_code(done, 0)
            self.assertIn("decoder", done.stdout)
            self.assertRegex(done.stderr, rf"^rangefinder: nothing of 1 trace is selected: {option} decoder: ")
            done = self.call("report", "rank0", "rank1", option, "head")
            self.check_code(done, 2)
            self.assertEqual(done.stdout, "")


class Total(CommandLine):
    """--total: the selected paths as one row."""

    def test_a_total_is_one_row_in_each_form(self):
        options = (recorded("rtdetr_exact"), "--range", "**/self_attn/**", "--total")
        row = self.report(*options)["total"]
        modules = [row for row in self.report(options[0], "--range", "**/self_attn")["modules"]
                   if row["path"].endswith("/self_attn")]
        self.assertEqual([row[key] for key in ("range", "kernels", "calls")],
                         ["**/self_attn", sum(row["kernels"] for row in modules), sum(row["calls"] for row in modules)])
        (of_csv,) = csv.DictReader(io.StringIO(self.call("report", *options, "--csv").stdout))
        self.assertEqual(of_csv, {key: str(value) for key, value in row.items()})
        for form in ((), ("--md",), ("--section", "modules", "--wide")):
            done = self.call("report", *options, *form)
            self.check_code(done, 0)
            self.assertIn(f"{row['kernels']:,}", done.stdout)
            self.assertIn("Each kernel counts once", done.stdout)

    def test_a_total_is_of_modules_and_of_one_process(self):
        for options in (("--section", "kernels"), ("--fit",), ("--as-ranks",)):
            done = self.call("report", recorded("rtdetr_exact"), "--total", *options)
            self.check_code(done, 2)
            self.assertIn("--total", done.stderr)
        self.check_code(self.call("report", recorded("rtdetr_exact"), "--total", "--range", "nosuchrange"), 2)

    def test_runs_of_other_lengths_with_the_same_gpu_time_are_not_called_alike(self):
        runs = recorded("case_starved_one"), recorded("case_starved_pinned")
        text = " ".join(self.call("report", *runs, "--as-ranks").stdout.split())
        self.assertNotIn("No straggler", text)
        self.assertIn(f"Although the ranks' GPU times differ by less than 2 %, {runs[1]} ran for 385 ms and {runs[0]} for 2.91 s",
                      text)
        self.assertIn("No straggler", self.call("report", runs[0], runs[0], "--as-ranks").stdout)


if __name__ == "__main__":
    export_case.main(__doc__)
