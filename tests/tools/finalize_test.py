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


def prometheus_sums(text):
    """{module, direction, cause or what: {family, with op and source: sum}}, time in ns."""
    out = collections.defaultdict(collections.Counter)
    for family, text_of_labels, whole, part in re.findall(
            r"^rangefinder_(\w+)_total(?:\{(.*)\})? (\d+)(?:\.(\d{9}))?$", text, re.MULTILINE):
        labels = {key: re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], value)
                  for key, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', text_of_labels)}
        name = next((labels[key] for key in ("module", "direction", "cause", "what") if key in labels), "")
        out[name][" ".join([family, *(labels[key] for key in ("op", "source") if key in labels)])] += int(whole + part)
    return out


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
                self.check_prometheus(folder, report, summary["own_cost"])

    def test_kernels_of_an_older_summary_get_the_estimates_of_the_report(self):
        folder = self.folder / "trace"
        shutil.copytree(recorded("rtdetr_rotated"), folder)
        summary = json.loads((folder / "summary.json").read_text())
        summary["version"] = "1.2"  # sums of the measured launches
        for row in summary["kernels"]:
            row["dram_read_bytes"] //= 2
            row.pop("bytes_estimated", None)
        (folder / "summary.json").write_text(json.dumps(summary))
        self.check_code(self.call("finalize", folder), 0)
        self.check_code(self.call("validate", folder), 0)
        kernels = json.loads((folder / "summary.json").read_text())["kernels"]
        report = self.report(folder, "--section", "kernels")["kernels"]
        self.assertEqual([row.get("bytes_estimated") for row in kernels], [row.get("bytes_estimated") for row in report])
        self.assertEqual(self.sums_by_name(kernels), self.sums_by_name(report))

    @staticmethod
    def sums_by_name(rows):
        """Of kernels: several may have one demangled name."""
        out = collections.defaultdict(collections.Counter)
        for row in rows:
            for key in ("count", "total_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"):
                out[row["name"]][key] += row.get(key, 0)
        return out

    def check_prometheus(self, folder, report, own_cost):
        done = self.call("export", folder, "--to", "prometheus", "--modules", "100000", "--out", "-")
        self.check_code(done, 0)
        sums = prometheus_sums(done.stdout)
        below = collections.defaultdict(collections.Counter)  # of a module and all modules below it
        for name in sums:
            at = name
            while at:
                below[at].update(sums[name])
                at = export_case.parent_text(at)
        rows = [*report["modules"], {**report["outside"], "path": "(outside of any range)"}]
        wanted = collections.defaultdict(collections.Counter)  # paths of two domains may have one text
        for row in rows:
            keys = {"kernels": "kernel_launches", "gpu_ns": "kernel_seconds", "graphs": "graph_launches"}
            source = row.get("bytes_source")
            if source:
                keys.update(dram_read_bytes=f"dram_bytes read {source}", dram_write_bytes=f"dram_bytes write {source}",
                            l2_bytes=f"l2_bytes {source}")
            if source == "exact":
                keys["measured_launches"] = "measured_launches"
            for key, name in keys.items():
                wanted[row["path"]][name] += row.get(key, 0)
        self.assertEqual({name for name in sums if "kernel_launches" in sums[name]} - set(wanted), set())
        for path, values in wanted.items():
            self.assertEqual({name: below[path][name] for name in values}, dict(values), path[:200])
        copies = collections.defaultdict(collections.Counter)
        for row in report["memcpy"]:
            copies[row["kind"]].update(memcpy_bytes=row["bytes"], memcpy_seconds=row["total_ns"])
        self.assertEqual({name: values for name, values in sums.items() if "memcpy_bytes" in values}, copies)
        self.assertEqual({name: values["records_lost"] for name, values in sums.items() if values["records_lost"]},
                         report["loss"])
        for what in ("drain_cpu", "sampler_cpu", "exact"):
            self.assertEqual(sums[what]["overhead_seconds"], own_cost[what + "_ns"], what)
        self.assertEqual(sums[""]["trace_seconds"], report["duration_ns"])

    def test_a_place_without_a_trace_is_missing(self):
        self.check_code(self.call("finalize", "nowhere"), 3)


if __name__ == "__main__":
    export_case.main(__doc__)
