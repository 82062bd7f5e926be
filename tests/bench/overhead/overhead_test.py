# SPDX-License-Identifier: Apache-2.0
"""Tests overhead/run with a load that needs no GPU: usage overhead_test.py BUILD."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(FOLDER))

from intervals import median_interval
from trace_facts import trace_facts

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
EXAMPLE = FOLDER.parents[2] / "schema/examples"


class Intervals(unittest.TestCase):
    def test_twenty_values_give_the_sixth_from_both_ends(self):
        middle, low, high, coverage = median_interval(list(range(1, 21)))
        self.assertEqual((middle, low, high), (10.5, 6, 15))
        self.assertAlmostEqual(coverage, 0.9586, places=4)

    def test_few_values_give_all_of_them_and_say_what_that_is_worth(self):
        self.assertEqual(median_interval([3, 1, 2]), (2, 1, 3, 0.75))


class Traces(unittest.TestCase):
    def test_the_facts_are_those_of_the_trace(self):
        lines = [json.loads(line) for line in (EXAMPLE / "trace-00000.ndjson").read_text().splitlines()]
        end = lines[-1]
        launched = sum(kind["launched"] for kind in end["launches"].values())
        facts = trace_facts(EXAMPLE)
        self.assertEqual(facts["launches"], launched)
        self.assertEqual(facts["bytes_per_launch"], (EXAMPLE / "trace-00000.ndjson").stat().st_size / launched)
        self.assertEqual(facts["loss"], end["loss"])


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "nvidia-smi").write_text("#!/bin/sh\necho 'No GPU at all, 1.0'\n")
            (folder / "nvidia-smi").chmod(0o755)
            for inside, real in (("lib/librangefinder.so", "lib/librangefinder.so"),
                                 ("tests/overhead_load.so", "tests/fake_overhead_load.so")):
                (folder / "build" / inside).parent.mkdir(parents=True, exist_ok=True)
                (folder / "build" / inside).symlink_to(BUILD / real)
            only = [word for name in ("storm1", "graph1000", "trace") for word in ("--only", name)]
            cls.done = subprocess.run(
                [sys.executable, FOLDER / "run", folder / "build", "--pairs", "4", *only, "--json", folder / "out.json"],
                env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}, capture_output=True, text=True,
                timeout=120, check=False)
            if not (folder / "out.json").exists():
                raise AssertionError(cls.done.stdout + cls.done.stderr)
            cls.found = json.loads((folder / "out.json").read_text())

    def test_twice_the_time_is_a_ratio_of_two(self):
        ratio = self.found["works"]["storm1"]["trace"]["ratio"]
        self.assertAlmostEqual(ratio["median"], 2)
        self.assertGreaterEqual(ratio["pairs"], 3)

    def test_a_process_that_dies_is_left_out_with_its_last_words(self):
        self.assertIn("the graph was too long", self.found["left_out"]["trace"])
        self.assertEqual(len(self.found["times_us"]["graph1000"]["trace"]), 2)
        self.assertEqual(len(self.found["times_us"]["storm1"]["trace"]), 3)

    def test_all_that_others_measured_is_there_all_the_same(self):
        self.assertEqual(len(self.found["times_us"]["graph1000"]["plain"]), 3)


if __name__ == "__main__":
    unittest.main()
