#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No report of a recorded run recommends what the run already had.

hints_test.py RANGEFINDER FOLDER

FOLDER holds the recordings; their golden lines are the traces.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import unpack_golden

SECTIONS = {"sampled": ("overview", "findings"),
            "exact": ("overview", "findings", "modules", "layers", "metrics", "roofline")}
# What a run with these counters must not be told. `run --counters exact …` is a whole command, for other metrics.
HAS = {"sampled": re.compile(r"([Rr]ecord with|[Nn]eeds?:?) --counters sampled"),
       "exact": re.compile(r"([Rr]ecord with|[Nn]eeds?:?) --counters exact|[Rr]ecord with --counters sampled")}


class Hints(unittest.TestCase):
    program = folder = ""

    def lines_of(self, recording):
        with tempfile.TemporaryDirectory() as place:
            unpack_golden.unpack(os.path.join(self.folder, recording), place)
            with open(os.path.join(place, "trace-00000.ndjson"), encoding="utf-8") as file:
                return file.readlines()

    def report(self, lines, section):
        with tempfile.TemporaryDirectory() as place:
            with open(os.path.join(place, "trace-00000.ndjson"), "w", encoding="utf-8") as file:
                file.writelines(lines)
            done = subprocess.run([self.program, "report", place, "--section", section], capture_output=True, text=True,
                                  timeout=120, check=True)
        return " ".join(done.stdout.split())  # without the line breaks

    def recordings(self, *modes):
        names = [name for name in sorted(os.listdir(self.folder))
                 if os.path.exists(os.path.join(self.folder, name, "golden.ndjson.gz"))]
        self.assertGreater(len(names), 30)
        for name in names:
            lines = self.lines_of(name)
            mode = json.loads(lines[0])["counters"]
            if mode in modes:
                yield name, mode, lines

    def test_no_recording_is_told_to_use_the_counters_it_has(self):
        for name, mode, lines in self.recordings("sampled", "exact"):
            for section in SECTIONS[mode]:
                self.assertNotRegex(self.report(lines, section), HAS[mode], f"{name}, {section}")

    def test_a_sampled_run_without_samples_is_told_so(self):
        for name, _, lines in self.recordings("sampled"):
            has_samples = any(line.startswith('{"t": "samples"') for line in lines)
            self.assertEqual(name != "compiled_origins", has_samples, name)  # there another process had the counters
            for ended in ("", "the GPU was lost")[:1 + has_samples]:
                kept = [line.replace('"reason": "stop"', f'"reason": "{ended or "stop"}"') if '"t": "sampling"' in line else line
                        for line in lines if not line.startswith('{"t": "samples"')]
                text = self.report(kept, "overview")
                self.assertIn("DRAM – not measured: no hardware sample was taken" + (f": {ended}" if ended else ""), text,
                              name)
                self.assertNotRegex(text, "run --counters sampled|" + HAS["sampled"].pattern, name)
            self.assertIn("Needs hardware samples, of which none was taken", self.report(kept, "findings"), name)


if __name__ == "__main__":
    Hints.program, Hints.folder = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
