# SPDX-License-Identifier: Apache-2.0
"""The questions of findings_by_hand.py, for reports with known answers."""
import contextlib
import io
import math
import os
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)

import findings_by_hand
import fused_bytes
from module_rows import group, modules_of


def row(path, gpu_us, dram=None, l2=None, calls=1, kernels=1):
    made = {"path": path, "calls": calls, "kernels": kernels, "gpu_ns": round(gpu_us * 1000)}
    if dram is not None:
        made.update(dram_read_bytes=dram * 3 // 4, dram_write_bytes=dram - dram * 3 // 4)
    if l2 is not None:
        made["l2_bytes"] = l2
    return made


def modules(*rows):
    """The modules of a report of one pass."""
    return modules_of({"modules": [row("model", 99), *rows]})


def block(stage, number, gpu_us):
    return row(f"model/backbone/model/encoder/stages/{stage}/layers/{number}", gpu_us)


class Modules(unittest.TestCase):
    def test_values_are_of_one_pass(self):
        rows = [row("model", 40, calls=4), row("model/encoder", 20, 800, 1600, calls=4, kernels=8)]
        encoder = modules_of({"modules": rows})["model/encoder"]
        self.assertEqual((encoder.gpu_us, encoder.kernels), (5, 2))
        self.assertEqual(encoder.bytes, {"DRAM": 200, "L2": 400})

    def test_only_measured_passes_count_where_the_program_names_them(self):
        rows = [row("warmup/model", 100, calls=2), row("iteration/model", 30, calls=3),
                row("iteration/model/encoder", 6, calls=3), row("warmup/model/encoder", 50, calls=2)]
        self.assertEqual(modules_of({"modules": rows})["model/encoder"].gpu_us, 2)

    def test_bytes_that_were_not_measured_are_absent(self):
        self.assertEqual(modules(row("model/encoder", 1))["model/encoder"].bytes, {})

    def test_a_slash_in_a_name_is_no_level(self):
        self.assertIn("model/a\\/b", modules(row("model/a\\/b", 1)))

    def test_a_report_without_the_model_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no module named `model`"):
            modules_of({"modules": [row("training", 1)]})

    def test_a_group_is_the_sum_over_its_modules(self):
        rows = [row(f"model/decoder/layers/{i}/self_attn", 2, 10, 20) for i in range(3)]
        found = group(modules(*rows), r"model/decoder/layers/\d+/(self_attn)")["self_attn"]
        self.assertEqual((found.gpu_us, found.bytes), (6, {"DRAM": 30, "L2": 60}))


class Findings(unittest.TestCase):
    def test_a_later_block_that_is_heavier_breaks_the_finding(self):
        first_heavy = [block(stage, number, 10 - number) for stage in range(4) for number in range(2)]
        late = [*first_heavy[:-1], block(3, 1, 11)]
        for rows, wanted in ((first_heavy, True), (late, False)):
            answers = findings_by_hand.first_blocks(modules(*rows))
            self.assertEqual([holds for _, _, holds in answers], [wanted])

    def test_time_and_bytes_are_answered_apart(self):
        parts = modules(*(row("model/" + name, *values) for name, values in
                          (("backbone", (5, 10)), ("encoder", (3, 90)), ("decoder", (1, 20)))))
        by = {measure: said for measure, said, _ in findings_by_hand.largest_part(parts)}
        self.assertTrue(by["time"].startswith("backbone"))
        self.assertTrue(by["DRAM"].startswith("encoder"))
        self.assertNotIn("L2", by)

    def test_self_attention_must_follow_the_second_fpn_block(self):
        for attention_us, wanted in ((5, True), (2, False), (10, False)):
            parts = modules(row("model/encoder/fpn_blocks/0", 3), row("model/encoder/fpn_blocks/1", 9),
                            row("model/encoder/aifi/0/layers/0/self_attn", attention_us))
            self.assertEqual(findings_by_hand.encoder_order(parts)[0][2], wanted, attention_us)

    def test_a_straight_line_is_found(self):
        for found, wanted in zip(findings_by_hand.regression([(1, 5), (2, 7), (4, 11)]), (1, 2, 3)):
            self.assertAlmostEqual(found, wanted)

    def test_points_without_spread_have_no_correlation(self):
        self.assertTrue(math.isnan(findings_by_hand.regression([(1, 5), (1, 7), (1, 6)])[0]))


class FusedBytes(unittest.TestCase):
    def run_program(self, fused, unfused, kernel="attention_kernel<__half>"):
        """Exit code if attention's launches move this number of bytes, and a projection beside them 1000."""
        def kernels(folder, _):
            moved = fused if folder == "fused" else unfused
            return [{"name": kernel, "l2_bytes": moved}, {"name": "implicit_gemm_kernel", "l2_bytes": 1000}]
        layer = "model/decoder/layers/0/"
        parts = ("model/encoder/aifi/0/layers/0/self_attn", layer + "self_attn", layer + "encoder_attn")
        report = {"modules": [row("model", 9, 9, 9), *(row(part, 1, 9, 1500) for part in parts)]}
        with mock.patch.multiple(fused_bytes, kernels_of=kernels, read_report=lambda _: report), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return fused_bytes.main(["fused", "unfused"])

    def test_attention_alone_is_counted_and_must_fall_to_a_third(self):
        self.assertEqual(self.run_program(100, 310), 0)
        self.assertEqual(self.run_program(100, 290), 1)
        self.assertEqual(self.run_program(100, 310, kernel="postprocess_kernel"), 2)  # not measured


if __name__ == "__main__":
    unittest.main()
