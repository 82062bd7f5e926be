# SPDX-License-Identifier: Apache-2.0
"""Tests trace_maker: usage trace_maker_test.py BUILD."""
import collections
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
FLAGS = ("--sampled", "--graphs", "--exact", "--ranges")
COLUMNS = ("dram_read", "dram_write", "l2")
# Of all lines but the header, which has the version of the format. Measured numbers are of the trace without options:
# if the format changes its lines, store the new hash; else nothing may change it.
DEFAULT_SHA256 = "c7ef5e77ba8c2fba0fe7d1e00706efe2b6368ab51a6aa05400accd4c270397fd"


class TraceMaker(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.truth = self.folder / "truth"

    def make(self, *flags, kernels=2000, name="trace"):
        out = self.folder / name
        subprocess.run([BUILD / "tests/trace_maker", "--kernels", str(kernels), "--paths", "30", *flags, "--truth",
                        self.truth, "--out", out], check=True, capture_output=True, timeout=60)
        return out

    def text(self, trace):
        (segment,) = sorted(trace.glob("trace-*.ndjson"))
        return segment.read_text()

    def counts(self, trace):
        return collections.Counter(json.loads(line)["t"] for line in self.text(trace).splitlines())

    def report(self, trace, section="modules"):
        done = subprocess.run([BUILD / "bin/rangefinder", "report", trace, "--section", section, "--json"],
                              check=True, capture_output=True, timeout=60)
        (report,) = json.loads(done.stdout)["traces"]
        return report

    def true_bytes(self):
        rows = (line.split("\t") for line in self.truth.read_text().splitlines())
        return {path: [int(value) for value in values] for path, *values in rows}

    def test_the_trace_without_options_does_not_change(self):
        lines = self.text(self.make()).split("\n", 1)[1]
        self.assertEqual(DEFAULT_SHA256, hashlib.sha256(lines.encode()).hexdigest())

    def test_every_combination_is_valid_and_has_all_kernels(self):
        for count in range(len(FLAGS) + 1):
            for flags in itertools.combinations(FLAGS, count):
                trace = self.make(*flags, kernels=800, name="".join(flags) or "plain")
                done = subprocess.run([BUILD / "bin/rangefinder", "validate", "--strict", trace], text=True,
                                      capture_output=True, timeout=60)
                self.assertEqual(0, done.returncode, f"{flags}: {done.stdout}{done.stderr}")
                self.assertEqual(800, self.counts(trace)["kernel"], flags)

    def test_the_same_options_give_the_same_bytes(self):
        one, other = (self.make("--sampled", "--graphs", name=name) for name in "ab")
        self.assertEqual(self.text(one), self.text(other))

    def test_sampled_bytes_are_the_true_ones_within_their_error(self):
        trace = self.make("--sampled", kernels=10_000)
        report = self.report(trace)
        rows = {row["path"]: row for row in report["modules"]}
        inside = []
        for path, true in self.true_bytes().items():
            for column, value in zip(COLUMNS, true):
                found = rows[path][f"{column}_bytes"]
                inside.append(abs(found - value) <= found * rows[path].get(f"{column}_error_pct", 0) / 100)
        self.assertGreaterEqual(sum(inside), 0.95 * len(inside))
        self.assertEqual({"unmixed"}, set(report["samples"]["method"].values()))
        self.assertGreater(report["samples"]["idle"], 0)
        # A sample holds several kernels, or nothing would have to be unmixed.
        self.assertGreater(10_000, report["samples"]["count"])

    def test_exact_bytes_are_the_true_ones(self):
        for flags in (["--exact"], ["--ranges"], ["--exact", "--sampled"]):
            trace = self.make(*flags, name="".join(flags))
            for row in self.report(trace)["modules"]:
                found = [row[f"{column}_bytes"] for column in COLUMNS]
                self.assertEqual(self.true_bytes()[row["path"]], found, f"{flags}: {row['path']}")

    def test_graphs_are_captured_once_and_replayed(self):
        trace = self.make("--graphs")
        graphs = self.report(trace, "graphs")["graphs"]
        self.assertEqual({"2", "3", "4"}, {graph["graph"] for graph in graphs})
        self.assertTrue(all(graph["launches"] > 10 and graph["nodes"] > 1 for graph in graphs), graphs)
        self.assertEqual(2 * len(graphs), self.counts(trace)["capture"])

    def test_wrong_use_prints_the_options(self):
        done = subprocess.run([BUILD / "tests/trace_maker", "--smapled", "--out", self.folder], text=True,
                              capture_output=True, timeout=60)
        self.assertEqual(2, done.returncode)
        for flag in FLAGS:
            self.assertIn(flag, done.stderr)


if __name__ == "__main__":
    unittest.main()
