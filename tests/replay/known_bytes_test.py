#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes that the report gives for recorded programs of known bytes: overlapping work, layers inside of graph replays.

known_bytes_test.py REPLAY RANGEFINDER FOLDER

FOLDER is that of the recordings. Beside the recording, expected.json is what the program printed.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest


class KnownBytes(unittest.TestCase):
    replay = report_program = folder = ""

    def report(self, name, split_by=None):
        """(what the program printed, its trace's modules and samples in the report, its losses)"""
        recording = os.path.join(self.folder, name)
        with open(os.path.join(recording, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        with tempfile.TemporaryDirectory() as out:
            command = [self.report_program, "report", "--json", "--section", "modules", self.played(name, out)]
            if split_by:
                command += ["--split-by", self.played(split_by, out)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        found = json.loads(done.stdout)["traces"][0]
        return expected, {row["path"]: row for row in found["modules"]}, found

    def played(self, name, out):
        """The folder of the recording's trace."""
        trace = os.path.join(out, name)
        played = subprocess.run([self.replay, os.path.join(self.folder, name, "recording.zst"), "--out", trace],
                                capture_output=True, text=True, timeout=300, check=False)
        if played.returncode == 3 and "libcupti" in played.stderr:
            self.skipTest(played.stderr.strip())
        self.assertEqual(0, played.returncode, played.stderr)
        return trace

    def near(self, truth, found, share, what):
        self.assertLessEqual(abs(found - truth), share * truth, f"{what}: {found}, expected {truth}")

    def test_copies_have_their_bytes_and_the_products_the_rest(self):
        _, rows, _ = self.report("case_overlap")
        known = rows["overlap/copies/copy"]["memcpy_bytes"]["DtoD"]
        for key in ("dram_read_bytes", "dram_write_bytes"):
            self.near(known, rows["overlap/copies/copy"][key], 0.02, key)
        rest = rows["overlap/copies"]["dram_read_bytes"] - known
        self.near(rest, rows["overlap/copies/gemm"]["dram_read_bytes"], 0.02, "products")

    def test_streams_with_varying_overlap_have_their_bytes(self):
        expected, rows, _ = self.report("case_overlap")
        for item in expected["paths"]:
            for key in ("read", "write"):
                if item[f"{key}_bytes"] and "/together/" not in item["path"]:
                    # L2 keeps up to a fifth of a launch's writes until other work runs.
                    share = 0.20 if key == "write" else 0.10
                    self.near(item[f"{key}_bytes"], rows[item["path"]][f"dram_{key}_bytes"], share, item["path"])

    def test_a_pair_that_always_runs_together_is_a_group(self):
        expected, rows, found = self.report("case_overlap")
        pair = sorted(item["path"] for item in expected["paths"] if "/together/" in item["path"])
        groups = [group for group in found["samples"]["inseparable"] if sorted(group["paths"]) == pair]
        self.assertEqual(1, len(groups), found["samples"])
        truth = sum(item["read_bytes"] for item in expected["paths"] if item["path"] in pair)
        self.near(truth, groups[0]["dram_read_bytes"], 0.02, "sum")
        for path in pair:
            self.assertGreater(rows[path]["dram_read_error_pct"], 100)

    def test_layers_of_a_replayed_graph_read_weights_and_cache(self):
        expected, rows, found = self.report("decoder_sampled")
        for number in range(expected["layers"]):
            row = rows[f"decode/layer {number}"]
            self.near(expected["layer_read_bytes"], row["dram_read_bytes"], 0.05, row["path"])
        self.near(expected["layers"] * expected["layer_read_bytes"], rows["decode"]["dram_read_bytes"], 0.01, "decode")
        self.assertEqual(set(), set(found.get("loss", {})) - {"samples_lost"})  # while the sampler found its pace

    def test_exact_bytes_of_a_graph_are_where_all_its_nodes_are(self):
        expected, rows, found = self.report("decoder_exact")
        self.near(expected["layers"] * expected["layer_read_bytes"], rows["decode"]["dram_read_bytes"], 0.01, "decode")
        for number in range(expected["layers"]):
            row = rows[f"decode/layer {number}"]
            self.assertNotIn("dram_read_bytes", row)
            self.assertEqual("graph", row["bytes_reason"])
        self.assertEqual({}, found.get("loss", {}))

    def test_samples_of_another_run_split_the_exact_bytes_of_a_graph(self):
        expected, rows, _ = self.report("decoder_exact", split_by="decoder_sampled")
        for number in range(expected["layers"]):
            row = rows[f"decode/layer {number}"]
            self.assertEqual("split", row["bytes_source"])
            self.near(expected["layer_read_bytes"], row["dram_read_bytes"], 0.05, row["path"])
        self.assertEqual("exact", rows["decode"]["bytes_source"])
        parts = sum(row["dram_read_bytes"] for path, row in rows.items() if path.startswith("decode/layer "))
        self.near(rows["decode"]["dram_read_bytes"], parts, 0.01, "sum of the layers")


if __name__ == "__main__":
    KnownBytes.replay, KnownBytes.report_program, KnownBytes.folder = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
