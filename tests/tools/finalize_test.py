# SPDX-License-Identifier: Apache-2.0
"""`rangefinder finalize`: the summary of every recording gets the values of the report.
Usage: finalize_test.py RANGEFINDER REPOSITORY REPLAY"""
import collections
import json
import re
import shutil

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded


class Finalize(CommandLine):
    """The summary that the application wrote, completed afterwards."""

    def test_the_live_bytes_are_replaced_by_those_of_the_report(self):
        folder = self.folder / "trace"
        shutil.copytree(recorded("rtdetr_sampled"), folder)
        live = json.loads((folder / "summary.json").read_text())
        self.assertTrue(live["live"])
        self.assertEqual(live["samples"]["method"]["l2_bytes"], "live")
        for row in live["modules"]:
            if row.get("bytes_source") == "sampled" and row["dram_read_bytes"] + row["dram_write_bytes"] > 0:
                self.assertGreater(row["bytes_error_pct"], 0)

        done = self.call("finalize", folder)

        self.check_code(done, 0)
        final = json.loads((folder / "summary.json").read_text())
        self.assertNotIn("live", final)
        self.assertGreater(len(final["findings"]), 0)

    def test_the_summary_has_the_values_of_the_report(self):
        for recording in sorted((cli_case.REPOSITORY / "tests/replay").glob("*/recording.zst")):
            with self.subTest(recording.parent.name):
                folder = self.folder / recording.parent.name
                shutil.copytree(recorded(recording.parent.name), folder)
                self.assertTrue(json.loads((folder / "summary.json").read_text())["live"])
                self.check_code(self.call("finalize", folder), 0)
                summary = json.loads((folder / "summary.json").read_text())
                self.check_code(self.call("validate", folder), 0)
                report = self.report(folder, "--section", "modules")
                self.assertNotIn("live", summary)
                for key in ("modules", "memcpy", "loss", "samples", "truth", "duration_ns"):
                    self.assertEqual(summary.get(key), report.get(key), key)
                self.assertEqual({key: summary["outside"].get(key) for key in report["outside"]}, report["outside"])
                self.assertEqual(summary["findings"], self.report(folder, "--section", "findings")["findings"])
                kernels = self.report(folder, "--section", "kernels")["kernels"]
                self.assertEqual(self.sums_by_name(summary["kernels"]), self.sums_by_name(kernels))
                self.check_prometheus(folder, report)

    @staticmethod
    def sums_by_name(rows):
        """Of kernels: several may have one demangled name."""
        out = collections.defaultdict(collections.Counter)
        for row in rows:
            for key in ("count", "total_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"):
                out[row["name"]][key] += row.get(key, 0)
        return out

    def check_prometheus(self, folder, report):
        """The modules of both have what they launched themselves. Prometheus keeps the program's names of iterations."""
        done = self.call("export", folder, "--to", "prometheus", "--out", "-")
        self.check_code(done, 0)
        launches = collections.Counter()
        for module, value in re.findall(r'^rangefinder_kernel_launches_total\{.*?(?:,module="((?:[^"\\]|\\.)*)")?\} (\d+)$', done.stdout, re.MULTILINE):
            launches[re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], module)] += int(value)
        rows = {row["path"]: row["kernels"] for row in report["modules"]}
        own = collections.Counter(rows)
        for path, kernels in rows.items():
            own[export_case.parent_text(path)] -= kernels
        self.assertEqual(sum(launches.values()), sum(row["kernels"] for row in report["modules"] if row["depth"] == 1) +
                         report["outside"]["kernels"])
        own["(outside of any range)"] = report["outside"]["kernels"]
        for module in set(launches) & set(own) - {""}:
            self.assertEqual(launches[module], own[module], module)
        self.assertRegex(done.stdout, rf"\nrangefinder_trace_seconds_total {report['duration_ns'] / 1e9:.9f}\n")

    def test_a_place_without_a_trace_is_missing(self):
        self.check_code(self.call("finalize", "nowhere"), 3)


if __name__ == "__main__":
    export_case.main(__doc__)
