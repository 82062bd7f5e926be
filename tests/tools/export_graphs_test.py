# SPDX-License-Identifier: Apache-2.0
"""Whole CUDA graphs (`--graphs whole`) in every export: export_graphs_test.py RANGEFINDER REPOSITORY"""
import contextlib
import csv
import json
import sqlite3

from cli_case import TRACE, CommandLine, main

LAUNCH = {**TRACE[5], "start": 2000, "end": 2100, "api": "cuGraphLaunch", "corr": 9}
GRAPH = {"t": "graph", "start": 3000, "end": 7500, "gpu": 0, "ctx": 1, "stream": 7, "corr": 9, "path": 1, "range": 1,
         "graph": 4}
UNTIMED = {"t": "graph", "gpu": 0, "ctx": 1, "stream": 7, "corr": 10, "graph": 4}


class GraphsTest(CommandLine):
    def export(self, to, lines):
        trace = self.make_trace([*TRACE, LAUNCH, *lines])
        out = self.folder / "out"
        self.check_code(self.call("export", trace, "--to", to, "--out", out), 0)
        return out

    def check_slice(self, events):
        (one,) = [event for event in events if event.get("cat") == "gpu_graph"]
        self.assertEqual((one["name"], one["dur"]), ("CUDA graph 4", 4.5))
        self.assertEqual({key: one["args"][key] for key in ("stream", "correlation", "module", "graph id")},
                         {"stream": 7, "correlation": 9, "module": "model", "graph id": 4})
        kernel = next(event for event in events if event.get("cat") == "kernel")
        self.assertEqual((kernel["pid"], kernel["tid"]), (one["pid"], one["tid"]), "the row of its stream")
        flows = [event for event in events if event.get("ph") in "stf" and event.get("id", 0) & 0xffffffff == 9]
        self.assertEqual({event["ph"] for event in flows}, {"s", "f"}, "an arrow from its launch")

    def test_perfetto_shows_a_slice_in_the_row_of_its_stream(self):
        self.check_slice(json.loads(self.export("perfetto", [GRAPH, UNTIMED]).read_text()))

    def test_kineto_shows_the_same(self):
        out = self.export("kineto", [GRAPH])
        file = out if out.is_file() else next(out.iterdir())
        self.check_slice(json.loads(file.read_text())["traceEvents"])

    def test_csv_has_a_table_of_graphs(self):
        with open(self.export("csv", [GRAPH, UNTIMED]) / "graphs.csv", newline="", encoding="utf-8") as file:
            timed, untimed = csv.DictReader(file)

        wanted = {"duration_ns": "4500", "gpu": "0", "stream": "7", "correlation": "9", "module": "model",
                  "graph": "4"}
        self.assertEqual({key: timed[key] for key in wanted}, wanted)
        self.assertEqual(untimed["start_ns"], "")

    def test_sqlite_has_the_table_of_nsight_systems(self):
        out = self.export("sqlite", [GRAPH, UNTIMED])
        file = out if out.is_file() else next(out.iterdir())
        with contextlib.closing(sqlite3.connect(file)) as database:
            rows = database.execute("SELECT start, end, deviceId, streamId, correlationId, graphId, pathId FROM "
                                    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE ORDER BY correlationId").fetchall()

        self.assertEqual(rows, [(3000, 7500, 0, 7, 9, 4, 1), (None, None, 0, 7, 10, 4, None)])

    def test_sums_include_the_time_of_graphs_like_the_report(self):
        prometheus = self.export("prometheus", [GRAPH]).read_text()

        self.assertEqual(self.report("trace")["modules"][0]["gpu_ns"], 5500)
        counts = {"kernel_seconds": "0.000005500", "graph_launches": 1, "kernel_launches": 1}
        for name, value in counts.items():
            line = f'rangefinder_{name}_total{{gpu="0",uuid="GPU-1",module="model"}} {value}\n'
            self.assertIn(line, prometheus)

    def test_speedscope_names_them(self):
        profiles = json.loads(self.export("speedscope", [GRAPH]).read_text())

        self.assertIn("CUDA graph", [frame["name"] for frame in profiles["shared"]["frames"]])


if __name__ == "__main__":
    main(__doc__)
