#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table of a recorded run has the same numbers, and disjoint selections add up to the whole.

one_number_test.py RANGEFINDER FOLDER

FOLDER is that of a recording; its golden lines are the trace.
"""
import base64
import collections
import copy
import csv
import functools
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zlib

ADDED = ("calls", "kernels", "graphs", "gpu_ns", "gpu_ns_exclusive", "gpu_busy_ns", "host_ns")
BYTES = ("dram_read_bytes", "dram_write_bytes", "l2_bytes")
MOST_PATTERNS = 12  # a report each
LIMIT_S = 1500  # of a command, under ThreadSanitizer; CTest has a limit for each test
UNIT = 32  # bytes of one sample unit: parts of samples are rounded to it


def total(rows, key):
    return sum(row.get(key, 0) for row in rows)


def outermost(trace):
    return [row for row in trace["modules"] if row["depth"] == 1] + [trace["outside"]]


def by_path(rows):
    """Paths of different domains may have the same text."""
    out = collections.defaultdict(list)
    for row in rows:
        out[row.get("path")].append(row)
    return out


class OneNumber(unittest.TestCase):
    maxDiff = 4000
    program = recording = trace = ""
    lines = []
    all_iterations = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.trace = os.path.join(cls.folder.name, "trace")
        unpack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack_golden.py")
        subprocess.run([sys.executable, "-B", unpack, cls.recording, cls.trace], check=True, timeout=LIMIT_S)
        with open(os.path.join(cls.trace, "trace-00000.ndjson"), encoding="utf-8") as file:
            cls.lines = [json.loads(line) for line in file]
        cls.whole = cls.report("modules")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def report(cls, section, *options):
        command = [cls.program, "report", cls.trace, "--json", "--section", section, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: exit code {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)["traces"][0]

    @classmethod
    def table(cls, section):
        """Rows of the section's main table: faster than report(), which reads the samples for any section."""
        command = [cls.program, "report", cls.trace, "--csv", "--section", section]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        return list(csv.DictReader(done.stdout.splitlines()))

    @classmethod
    def sampled(cls):
        """Its reports take seconds: the samples are fitted each time."""
        return any(line["t"] == "samples" for line in cls.lines)

    def work(self, *kinds):
        return [line for line in self.lines if line["t"] in kinds]

    def ns(self, *kinds):
        return sum(line["end"] - line["start"] for line in self.work(*kinds) if "end" in line)

    def test_modules_kernels_and_copies_are_sums_of_the_lines(self):
        rows, kernels = outermost(self.whole), self.report("kernels")["kernels"]
        self.assertEqual(len(self.work("kernel")), total(rows, "kernels"))
        self.assertEqual(len(self.work("kernel")), total(kernels, "count"))
        self.assertEqual(self.ns("kernel"), total(kernels, "total_ns"))
        self.assertEqual(self.ns("kernel", "graph"), total(rows, "gpu_ns"))
        copied = collections.Counter()
        for row in rows:
            copied.update(row.get("memcpy_bytes", {}))
        of_lines, of_section = collections.Counter(), collections.Counter()
        for line in self.work("memcpy"):
            of_lines[line["kind"]] += line["bytes"]
        for row in self.table("memcpy"):
            of_section[row["kind"]] += int(row["bytes"])
        self.assertEqual(of_lines, copied)
        self.assertEqual(of_lines, of_section)

    def test_exact_bytes_are_sums_of_the_lines(self):
        exact = [line for line in self.work("exact") if line.get("measured") and BYTES[0] in line]
        rows = outermost(self.whole)
        if not exact or any(row.get("bytes_estimated") or row.get("bytes_reason") for row in rows):
            return
        for key in BYTES:
            self.assertEqual(total(exact, key), total(rows, key), key)

    def test_a_kernel_that_is_a_modules_only_work_has_its_bytes(self):
        if self.sampled() or not self.exact():
            return
        kernels_of, paths_of = collections.defaultdict(set), collections.defaultdict(set)
        for line in self.work("kernel"):
            kernels_of[line.get("path", 0)].add(line["name"])
            paths_of[line["name"]].add(line.get("path", 0))
        own_name = {line["id"]: line["name"] for line in self.work("path")}
        kernels = {row["mangled"]: row for row in self.report("kernels")["kernels"]}
        for name in self.work("kernel_name"):
            paths = paths_of[name["id"]]
            if len(paths) != 1 or kernels_of[min(paths)] != {name["id"]}:
                continue
            kernel = kernels[name["mangled"]]
            for row in self.whole["modules"]:
                launches = row.get("launches", row.get("measured_launches"))
                same = (row["kernels"], row.get("gpu_ns"), launches) == (kernel["count"], kernel["total_ns"], kernel["count"])
                if same and row["path"].endswith(own_name.get(min(paths), "")):
                    for key in (*BYTES, "measured_launches", "bytes_estimated"):
                        self.assertEqual(kernel.get(key), row.get(key), f"{key} of {row['path'][:200]}")

    def test_the_page_and_exports_have_the_numbers_of_the_report(self):
        page, database = (os.path.join(self.folder.name, name) for name in ("page.html", "trace.sqlite"))
        subprocess.run([self.program, "report", self.trace, "--html", page], check=True, timeout=LIMIT_S,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(page, encoding="utf-8") as file:
            packed = re.search(r'<script type="text/plain" id="tables">(.*?)</script>', file.read(), re.DOTALL).group(1)
        tables = json.loads(zlib.decompress(base64.b64decode(packed.strip())))["traces"][0]
        self.assertEqual(len(self.whole["modules"]), len(tables["modules"]))
        for row, shown in zip(self.whole["modules"], tables["modules"]):
            self.assertEqual({key: value for key, value in row.items() if key != "metrics"},
                             {key: shown.get(key) for key in row if key != "metrics"})
            for name, values in row.get("metrics", {}).items():  # the page has five digits of CUPTI's metrics
                for key, value in values.items():
                    self.assertAlmostEqual(shown["metrics"][name][key], value, delta=1e-4 * abs(value), msg=name)
        subprocess.run([self.program, "export", self.trace, "--to", "sqlite", "--out", database], check=True,
                       timeout=LIMIT_S, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        query = 'SELECT count(*), sum("end" - start) FROM CUPTI_ACTIVITY_KIND_KERNEL'
        with sqlite3.connect(database) as exported:
            count, ns = exported.execute(query).fetchone()
        exported.close()
        timed = [line for line in self.work("kernel") if "end" in line]
        self.assertEqual((len(timed), self.ns("kernel")), (count, ns or 0))

    def test_iterations_are_their_module(self):
        iterations = self.table("iterations")
        if not iterations:
            return
        rows = outermost(self.of_iterations())
        for key in ("kernels", "gpu_ns", *BYTES):
            if all(row.get(key) for row in iterations):
                self.assertEqual(sum(int(row[key]) for row in iterations), total(rows, key), key)

    def test_a_parent_has_at_least_what_each_child_has(self):
        rows = by_path(self.whole["modules"])
        for row in self.whole["modules"]:
            parents = rows.get(row["path"].rpartition("/")[0], [])
            if len(parents) != 1 or "\\" in row["path"]:  # a name with a slash
                continue
            for key in ("kernels", "gpu_ns", "gpu_busy_ns", *BYTES):
                if key in parents[0]:  # exact bytes of graphs are at the path that launches them
                    self.assertGreaterEqual(parents[0][key], row.get(key, 0), f"{key} of {row['path'][:200]}")

    def test_rates_are_below_the_peaks_and_zero_was_measured(self):
        for row in [*self.whole["modules"], self.whole["outside"]]:
            for key in ("dram_peak_share", "l2_peak_share"):
                self.assertLessEqual(row.get(key, 0), 1, f"{key} of {row.get('path', '')[:200]}")
            if row.get("declared_bytes") and row.get("bytes_source") == "sampled":
                if row["dram_read_bytes"] + row["dram_write_bytes"] == 0:
                    self.assertTrue({"dram_read_error_bytes", "dram_write_error_bytes"} & set(row), row["path"][:200])

    def test_busy_time_fits_into_wall_time_and_shares_add_up(self):
        for row in self.table("iterations"):
            if row["wall_ns"]:
                self.assertLessEqual(int(row["gpu_busy_ns"]), int(row["wall_ns"]), row)
        opening = self.overview()["opening"]
        if "gpu_busy_share" in opening:
            self.assertAlmostEqual(opening["gpu_busy_share"] + opening["gpu_idle_share"], 1, places=6)
            causes = opening.get("idle_shares", {}).values()
            self.assertLessEqual(sum(causes), opening["gpu_idle_share"] + 1e-6)
            if causes:  # those under 0.1 % are not listed
                self.assertGreaterEqual(sum(causes), opening["gpu_idle_share"] - 0.01)

    def test_savings_fit_into_the_wall_time(self):
        overview = self.overview()
        for finding in overview["findings"]:
            self.assertLessEqual(finding.get("share", 0), 1, finding["id"])
            if self.exact():  # wall times are those of launches one at a time
                continue
            saving = finding.get("saving_per_iteration_ns", finding.get("prize_ns", 0))
            self.assertLessEqual(saving, overview["opening"]["wall_ns"], finding["id"])
            parts = finding.get("modules", [])
            self.assertAlmostEqual(sum(part["share"] for part in parts), 1 if parts else 0, places=6)

    def exact(self):
        return any(line["t"] == "exact" for line in self.lines)

    @classmethod
    @functools.lru_cache(maxsize=None)
    def overview(cls):
        done = subprocess.run([cls.program, "report", cls.trace, "--json"], capture_output=True, text=True, timeout=LIMIT_S, check=True)
        return json.loads(done.stdout)["traces"][0]

    def test_a_range_selects_rows_and_changes_none(self):
        rows = self.whole["modules"]
        for row in rows[1:2] if self.sampled() else rows[:: max(1, len(rows) // 6)]:
            pattern = re.sub(r"([*?\[\]])", r"?", row["path"])
            found = self.report("modules", "--range", pattern)["modules"]
            self.assertIn(row, found)
            for path, same in by_path(found).items():
                self.assertEqual(by_path(rows)[path], same)

    def total_of(self, *options):
        row = self.report("modules", "--total", *options)["total"]
        return row.get("gpu_ns", 0), row["kernels"]

    def test_disjoint_totals_add_up_to_the_whole(self):
        def sums(rows, key="gpu_ns"):
            return total(rows, key), total(rows, "kernels")

        def added(*parts):
            return tuple(map(sum, zip(*parts)))

        whole, outside = self.total_of(), sums([self.whole["outside"]])
        self.assertEqual(whole, sums(outermost(self.whole)))
        if self.whole["modules"]:
            self.assertEqual(whole, added(outside, self.total_of("--range", "**")))
        if self.sampled():
            return
        outer = sorted({row["path"] for row in self.whole["modules"] if row["depth"] == 1 and row["kernels"]})
        if 0 < len(outer) <= MOST_PATTERNS:
            parts = [self.total_of("--range", "/" + path) for path in outer]
            self.assertEqual(whole, added(outside, *parts))
        # Of names that are at several levels: a kernel is in the innermost, and counts for none twice.
        names = sorted({re.split(r"(?<!\\)/", row["path"])[-1] for row in self.whole["modules"]})
        for name in random.Random(1).sample(names, min(3, len(names))):
            chosen = self.report("modules", "--range", "**/" + name)["modules"]
            self.assertEqual(self.total_of("--range", "**/" + name), sums(
                [row for row in chosen if name not in re.split(r"(?<!\\)/", row["path"])[:-1]]), name)

    @classmethod
    def of_iterations(cls):
        """The modules of all iterations."""
        if cls.all_iterations is None:
            cls.all_iterations = cls.report("modules", "--iterations", "0:")
        return copy.deepcopy(cls.all_iterations)

    def check_sum(self, parts, whole, pieces):
        """Rows of `parts`, one list for each selection, add up to those of `whole`."""
        found = by_path(row for part in parts for row in part)
        for path, rows in by_path(whole).items():
            for key in ADDED:
                self.assertEqual(total(rows, key), total(found[path], key), f"{key} of {path}")
            if all(row.get("bytes_source") == "sampled" for row in rows):
                for key in BYTES:
                    apart = abs(total(rows, key) - total(found[path], key))
                    self.assertLessEqual(apart, pieces * UNIT, f"{key} of {path}: {rows}, {found[path]}")

    def test_windows_add_up(self):
        work = [line for line in self.work("kernel", "memcpy", "graph") if "end" in line]
        if not work:
            return
        begin, end = min(line["start"] for line in work), max(line["end"] for line in work)
        chance = random.Random(1)
        # One in the middle of a piece of work, where it is cut.
        longest = max(work, key=lambda line: line["end"] - line["start"])
        edges = [(longest["start"] + longest["end"]) // 2]
        if not self.sampled():
            edges = sorted({*edges, chance.randrange(begin, end), chance.randrange(begin, end)})
        windows = zip(["", *(f"{edge}ns" for edge in edges)], [*(f"{edge}ns" for edge in edges), ""])
        parts = [self.report("modules", "--window", f"{first}:{last}") for first, last in windows]
        # A border cuts the pieces in flight in up to one sample, in each of which a part is rounded.
        self.check_sum([[*part["modules"], part["outside"]] for part in parts],
                       [*self.whole["modules"], self.whole["outside"]], 64 * len(edges))

    def test_iterations_add_up(self):
        count = len(self.table("iterations"))
        if count < 2:
            return
        edges = [count // 2] if self.sampled() else sorted({1, count // 2})
        spans = zip([0, *edges], [*edges, ""])
        parts = [self.report("modules", "--iterations", f"{first}:{last}") for first, last in spans if first != last]
        whole = self.of_iterations()
        rows = [[*part["modules"], part["outside"]] for part in parts]
        self.check_sum(rows, [*whole["modules"], whole["outside"]], 8)


if __name__ == "__main__":
    OneNumber.program, OneNumber.recording = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
