#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One training in FP32 and in mixed precision: attention as one figure, the units of products, what diff says.

bert_test.py RANGEFINDER FOLDER     FOLDER has case_bert_fp32 and case_bert_amp
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LAYERS, STEPS = 12, 10  # with the warm-up
PARTS = ("qkv", "scores", "softmax", "dropout", "context", "out")


class Bert(unittest.TestCase):
    program = recordings = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        unpack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack_golden.py")
        cls.traces = {}
        for precision in ("fp32", "amp"):
            cls.traces[precision] = os.path.join(cls.folder.name, precision)
            subprocess.run([sys.executable, "-B", unpack, os.path.join(cls.recordings, f"case_bert_{precision}"),
                            cls.traces[precision]], check=True, timeout=60)

    def answer(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--json"], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def report(self, precision, *options):
        return self.answer("report", self.traces[precision], *options)["traces"][0]

    def total(self, precision, pattern):
        return self.report(precision, "--range", pattern, "--total")["total"]

    def test_attention_is_one_figure_of_all_layers_and_both_passes(self):
        for precision in self.traces:
            with self.subTest(precision=precision):
                row = self.total(precision, "**/attention/**")
                self.assertEqual((row["calls"], row["iterations"]), (LAYERS * STEPS, STEPS - 1))
                self.assertTrue(0 < row["share"] < 1 and 0 < row["iteration_share"] < 1, row)
                self.assertGreater(row["backward_gpu_ns"], row["forward_gpu_ns"])
                self.assertEqual(row["gpu_ns"], row["forward_gpu_ns"] + row["backward_gpu_ns"])
                self.assertNotIn("unselected_backward_gpu_ns", row)

    def test_totals_of_the_parts_add_up(self):
        for precision in self.traces:
            with self.subTest(precision=precision):
                parts = sum(self.total(precision, f"**/attention/{part}")["gpu_ns"] for part in PARTS)
                own = sum(row["gpu_ns_exclusive"] for row in self.report(precision, "--section", "modules")["modules"]
                          if row["path"].endswith("/attention"))
                self.assertEqual(self.total(precision, "**/attention")["gpu_ns"], parts + own)

    def test_each_layer_has_both_passes_in_one_row(self):
        rows = {row["path"]: row for row in self.report("fp32", "--section", "layers")["layers"]}
        for layer in range(LAYERS):
            for part in PARTS:
                row = rows[f"step/forward/layers/{layer}/attention/{part}"]
                self.assertGreater(min(row["forward_gpu_ns"], row["backward_gpu_ns"]), 0, row)

    def test_products_are_on_the_fp32_pipes_or_on_tensor_cores(self):
        def units(precision):
            kernels = self.report(precision, "--section", "kernels")["kernels"]
            return {row["unit"] for row in kernels if "unit" in row}
        self.assertEqual(units("fp32"), {"FP32"})
        self.assertEqual(units("amp"), {"tensor fp16"})

    def test_the_fp32_rule_fires_in_fp32_alone(self):
        for precision, wanted in (("fp32", True), ("amp", False)):
            found = {finding["id"] for finding in self.report(precision, "--section", "findings")["findings"]}
            self.assertEqual("fp32_math" in found, wanted, precision)

    def test_diff_has_both_ratios_and_compares_modules(self):
        whole = self.answer("diff", self.traces["fp32"], self.traces["amp"], "--all")
        self.assertGreater(whole["ratios"]["kernels"], 1)
        self.assertRegex(whole["ratios"]["text"], r"^Kernels \d\.\d\dx as fast, iterations \d\.\d\dx as fast\.$")
        scores = [row for row in whole["modules"] if row["path"] == "step/forward/layers/0/attention/scores"]
        self.assertTrue(all("a" in row and "b" in row for row in scores) and scores, scores)


if __name__ == "__main__":
    Bert.program, Bert.recordings = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
