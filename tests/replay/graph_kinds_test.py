#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded graphs of every kind: each kernel is under the range that its name says, as often as the program printed.

graph_kinds_test.py RANGEFINDER FOLDER     FOLDER has graph_kinds_off, graph_kinds_sampled and graph_kinds_exact
"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

COUNTERS = ("off", "sampled", "exact")


class Recording:
    def __init__(self, folder):
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            self.expected = json.load(file)
        self.lines, self.paths, self.names = collections.defaultdict(list), {}, {}
        with gzip.open(os.path.join(folder, "golden.ndjson.gz"), "rt", encoding="utf-8") as file:
            for line in map(json.loads, file):
                if line["t"] == "path":
                    self.paths[line["id"]] = (*self.paths.get(line["parent"], ()), line["name"])
                elif line["t"] == "kernel_name":
                    self.names[line["id"]] = line["demangled"]
                else:
                    self.lines[line["t"]].append(line)

    def path(self, line, key="path"):
        return self.paths.get(line.get(key, 0), ())


class GraphKinds(unittest.TestCase):
    program = recordings = ""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.of = {counters: Recording(os.path.join(cls.recordings, f"graph_kinds_{counters}")) for counters in COUNTERS}

    def test_every_kernel_is_under_the_range_that_its_name_says(self):
        for counters, recording in self.of.items():
            for line in recording.lines["kernel"]:
                path = recording.path(line)
                wanted = recording.names[line["name"]].split("_")[1].split("(")[0]
                self.assertEqual(path[-1:], (wanted,), f"{counters}: {line}")

    def test_every_kind_has_its_kernels(self):
        for counters, recording in self.of.items():
            found = collections.defaultdict(collections.Counter)
            for line in recording.lines["kernel"]:
                found[recording.path(line)[0]][recording.names[line["name"]].split("(")[0]] += 1
            wanted = {kind: kernels for kind, kernels in recording.expected["kinds"].items() if kernels}
            self.assertEqual({kind: dict(kernels) for kind, kernels in found.items()}, wanted, counters)

    def test_every_launch_has_its_record_and_nothing_is_lost(self):
        for counters, recording in self.of.items():
            end = recording.lines["end"][0]
            loss = {cause: count for cause, count in end["loss"].items() if cause != "exact_unmeasured"}
            self.assertEqual(loss, {}, counters)
            graphs = end["launches"]["graph"]
            without_record = 0 if counters == "exact" else recording.expected["without_record"]
            self.assertEqual(graphs["launched"], recording.expected["graph_launches"] - without_record, counters)
            self.assertEqual(graphs["lost"], 0, counters)

    def test_records_of_bodies_name_a_launch_of_their_executable(self):
        for counters, recording in self.of.items():
            launches = {line["corr"] for kind in ("launch", "exact") for line in recording.lines[kind]
                        if line.get("api") == "cuGraphLaunch"}
            bodies = [line for line in recording.lines["kernel"] if recording.path(line)[-1] == "body"]
            self.assertEqual(len(bodies), 95, counters)
            self.assertEqual([line for line in bodies if line["corr"] not in launches], [], counters)

    def test_exact_bytes_are_at_the_path_that_all_nodes_of_the_launch_share(self):
        recording = self.of["exact"]
        found = collections.defaultdict(collections.Counter)
        for line in recording.lines["exact"]:
            if line.get("kind") == "graph":
                found[recording.path(line)[0]]["/".join(recording.path(line, "bytes_path")[1:])] += 1
        self.assertEqual(found["recapture"], {"even": 10, "odd": 10})
        self.assertEqual(found["failed_update"], {"first": 10})
        self.assertEqual(found["child_update"], {"first": 10, "": 10})
        self.assertEqual(found["children"], {"": 20})
        self.assertEqual(found["eager"], {"first": 10})

    def test_the_traces_are_valid(self):
        unpack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack_golden.py")
        for counters in COUNTERS:
            with tempfile.TemporaryDirectory() as folder:
                trace = os.path.join(folder, "trace")
                source = os.path.join(self.recordings, f"graph_kinds_{counters}")
                subprocess.run([sys.executable, "-B", unpack, source, trace], check=True, timeout=60)
                done = subprocess.run([self.program, "validate", trace], capture_output=True, text=True, timeout=60,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    GraphKinds.program, GraphKinds.recordings = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
