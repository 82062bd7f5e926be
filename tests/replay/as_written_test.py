#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of a recorded program as people write it: numbered iterations, and dotted names of modules below an empty one.

as_written_test.py RANGEFINDER FOLDER

FOLDER is that of the recording eval_rtdetr_exact (tests/gpu/programs/eval_rtdetr.py).
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ITERATIONS = 4
STAGES = [f"iterations*/model/backbone/model/encoder/stages/{stage}/layers/0" for stage in range(4)]


class AsWritten(unittest.TestCase):
    program = recording = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        unpack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack_golden.py")
        subprocess.run([sys.executable, "-B", unpack, cls.recording, cls.folder.name], check=True, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def report(self, *options):
        done = subprocess.run([self.program, "report", self.folder.name, *options], capture_output=True, text=True,
                              timeout=120, check=True)
        return done.stdout

    def data(self, *options):
        return json.loads(self.report("--json", *options))["traces"][0]

    def test_numbered_ranges_are_the_iterations(self):
        found = self.data("--section", "iterations")
        self.assertEqual(("iterations*", "numbered"), (found["iteration_path"], found["iteration_rule"]))
        self.assertEqual(ITERATIONS, len(found["iterations"]))
        self.assertEqual([True] + [False] * (ITERATIONS - 1), ["warm_up" in row for row in found["iterations"]])

    def test_all_iterations_are_one_tree_with_bytes(self):
        rows = {row["path"]: row for row in self.data()["modules"]}
        self.assertEqual(["iterations*"], [path for path, row in rows.items() if row["depth"] == 1])
        for path in ("iterations*/model", *(f"iterations*/model/{part}" for part in ("backbone", "encoder", "decoder")),
                     *STAGES, "iterations*/model/encoder/fpn_blocks/1"):
            self.assertEqual(ITERATIONS, rows[path]["calls"], path)
            self.assertEqual("exact", rows[path]["bytes_source"], path)
        parts = [row["gpu_ns"] for path, row in rows.items() if path.startswith("iterations*/model/") and row["depth"] == 3]
        self.assertLessEqual(sum(parts), rows["iterations*/model"]["gpu_ns"])

    def test_a_depth_shows_the_first_block_of_each_stage(self):
        rows = self.data("--depth", "9")["modules"]
        self.assertEqual(9, max(row["depth"] for row in rows))
        self.assertLessEqual({*STAGES, "iterations*/model/encoder/fpn_blocks/1"}, {row["path"] for row in rows})
        names = [line.split()[0] for line in self.report("--depth", "9").splitlines() if line.split()]
        self.assertIn("fpn_blocks", names)  # below those around it, not as a whole path

    def test_time_over_bytes_is_fitted_at_each_depth(self):
        fits = {row["depth"]: row for row in self.data("--fit")["byte_fit"]}
        self.assertGreater(fits[6]["l2_r"], 0.99)
        self.assertGreater(fits[6]["l2_r"], fits[6]["dram_r"])
        self.assertIn("us per MB of L2", self.report("--fit"))


if __name__ == "__main__":
    AsWritten.program, AsWritten.recording = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
