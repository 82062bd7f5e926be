# SPDX-License-Identifier: Apache-2.0
"""Answers of `rangefinder serve` about traces: answers_test.py RANGEFINDER REPOSITORY REPLAY BUILD"""
import base64
import collections
import json
import os
import re
import zlib

from serve_case import ServeCase, flat, main, metric_values  # first: it extends sys.path
from cli_case import HEADER, TRACE
from export_case import HOSTILE, RECORDINGS, recorded

OUTSIDE = "(outside of any range)"


class AnswersTest(ServeCase):
    def serve_recorded(self, *words):
        """Serves the folder of all recordings replayed so far."""
        return self.serve(recorded("rtdetr_sampled").parent, *words)

    def test_traces_are_listed_latest_first_with_their_process(self):
        self.make_trace(name="a")
        later = self.make_trace([{**HEADER, "rank": "3", "executable": "/usr/bin/later"}, *TRACE[1:]], name="b")
        os.utime(later / "trace-00000.ndjson", (2_000_000_000, 2_000_000_000))
        (self.folder / ".hidden").mkdir()
        self.make_trace(name=".hidden/c")

        rows = self.serve().json("/api/traces")

        self.assertEqual([row["trace"] for row in rows], ["b", "a"])
        self.assertEqual((rows[0]["executable"], rows[0]["rank"], rows[0]["pid"]), ("/usr/bin/later", "3", 4711))
        self.assertEqual(rows[0]["started_unix_ms"], 1_700_000_000_000)
        self.assertEqual(rows[0]["changed_unix_ms"], 2_000_000_000_000)

    def test_the_columns_of_the_lists_are_keys_of_their_rows(self):
        self.make_trace([{**HEADER, "rank": "3"}, *TRACE[1:]])
        served = self.serve()

        columns = served.json("/api/columns")

        self.assertEqual(columns["traces"][-1], {"key": "bytes", "title": "Size", "unit": "bytes"})
        [row] = served.json("/api/traces")
        self.assertLessEqual({column["key"] for column in columns["traces"]}, row.keys())
        self.assertEqual(columns["processes"][0], {"key": "name", "title": "Program", "unit": "text"})

    def test_several_folders_are_distinguished(self):
        for name in ("x", "y"):
            (self.folder / name).mkdir()
            self.make_trace(name=name + "/trace")

        served = self.serve("x", "y")

        self.assertEqual({row["trace"] for row in served.json("/api/traces")}, {"1:trace", "2:trace"})
        self.assertEqual(len(served.json("/api/modules", trace="2:trace")), 2)

    def test_modules_are_those_of_report_json(self):
        for name in RECORDINGS:
            report = self.report(recorded(name))
            expected = [flat(row) for row in report["modules"]]
            expected.append({"path": OUTSIDE, "depth": 0, "calls": 0, **flat(report["outside"])})

            rows = self.serve_recorded().json("/api/modules", trace=name)

            self.assertEqual(rows, expected, name)

    def test_kernels_and_findings_are_those_of_report_json(self):
        for name in RECORDINGS:
            for section in ("kernels", "findings"):
                report = self.report(recorded(name), "--section", section)

                rows = self.serve_recorded().json(f"/api/{section}", trace=name)

                self.assertEqual(rows, [flat(row) for row in report[section]], f"{section} of {name}")
        self.assertTrue(self.serve_recorded().json("/api/findings", trace="rtdetr_sampled"))

    def test_the_timeline_adds_up_to_the_report(self):
        for name in RECORDINGS:
            report = self.report(recorded(name))
            roots = [row for row in report["modules"] if row["depth"] == 1] + [report["outside"]]
            for stretches in (1, 100):
                rows = self.serve_recorded().json("/api/timeline", trace=name, stretches=stretches)

                self.assertEqual(sum(row["kernels"] for row in rows), sum(row["kernels"] for row in roots), name)
                self.assertEqual(sum(row["gpu_ns"] for row in rows), sum(row.get("gpu_ns", 0) for row in roots), name)
                self.assertEqual(sum(row["memcpy_bytes"] for row in rows), sum(row["bytes"] for row in report["memcpy"]))
                self.assertLessEqual(len({row["start_ns"] for row in rows}), stretches)

    def test_whole_graphs_are_in_the_timeline_as_in_the_report(self):
        graph = {"t": "graph", "start": 3000, "end": 7500, "gpu": 0, "ctx": 1, "stream": 7, "corr": 9, "path": 1, "graph": 4}
        trace = self.make_trace([*TRACE, graph])

        rows = self.serve().json("/api/timeline", trace="trace", stretches=10)

        self.assertEqual(sum(row["gpu_ns"] for row in rows), self.report(trace)["modules"][0]["gpu_ns"])
        self.assertEqual((sum(row["graphs"] for row in rows), sum(row["kernels"] for row in rows)), (1, 1))

    def test_the_timeline_has_the_bytes_of_the_samples(self):
        trace = recorded("rtdetr_sampled")
        sums = dict.fromkeys(("dram_read", "dram_write", "l2"), 0)
        for line in map(json.loads, (trace / "trace-00000.ndjson").read_text().splitlines()):
            for name in sums if line["t"] == "samples" else ():
                values = line.get(name, [])
                sums[name] += 32 * sum(values.values() if isinstance(values, dict) else values)

        rows = self.serve_recorded().json("/api/timeline", trace="rtdetr_sampled", stretches=50)

        for name, value in sums.items():
            self.assertGreater(value, 0)
            self.assertEqual(sum(row.get(name + "_bytes", 0) for row in rows), value, name)
        times = [row["time_unix_ms"] for row in rows]
        self.assertEqual(times, sorted(times))

    def test_the_page_is_that_of_report_html(self):
        trace = recorded("rtdetr_exact")
        self.check_code(self.call("report", trace, "--html", "page.html"), 0)

        status, headers, body = self.serve_recorded().ask("/trace?trace=rtdetr_exact")

        def tables(page):
            packed = re.search(rb'id="tables">([^<]*)<', page).group(1)
            return json.loads(zlib.decompress(base64.b64decode(packed)))

        self.assertEqual((status, headers["content-type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(tables(body), tables((self.folder / "page.html").read_bytes()))

    def test_perfetto_gets_the_export(self):
        trace = recorded("multi_stream_ranges")
        self.check_code(self.call("export", trace, "--to", "perfetto", "--out", "trace.json"), 0)

        status, headers, body = self.serve_recorded().ask("/api/perfetto?trace=multi_stream_ranges")

        self.assertEqual((status, headers["content-type"]), (200, "application/json"))
        self.assertEqual(json.loads(body), json.loads((self.folder / "trace.json").read_bytes()))

    def test_without_a_program_metrics_are_those_of_the_latest_trace(self):
        for name in ("rtdetr_sampled", "eval_rtdetr_exact", "copy_storm"):
            trace = recorded(name)
            self.check_code(self.call("export", trace, "--to", "prometheus", "--out", f"{name}.prom"), 0)
            exported = metric_values((self.folder / f"{name}.prom").read_text())

            served = self.serve(trace)
            metrics = served.metrics()

            self.assertEqual({key: metrics.get(key) for key in exported}, exported)
            more = {key.split("{")[0] for key in metrics.keys() - exported.keys()}
            self.assertEqual(more, {"rangefinder_programs_running", "rangefinder_programs_unresponsive",
                                    "rangefinder_windows_missed_total", "rangefinder_serve_refused_requests_total"})
            self.assertNotIn("kernel=", served.ask("/metrics")[2].decode())

    def test_rows_of_modules_are_bounded_and_omitted_ones_are_counted(self):
        trace = recorded("rtdetr_sampled")
        all_metrics = self.serve(trace, "--modules", "100000").metrics()
        few = self.serve(trace, "--modules", "5").metrics()

        def seconds(metrics):
            return {key: value for key, value in metrics.items() if key.startswith("rangefinder_kernel_seconds_total")}

        self.assertEqual(len(seconds(few)), 6)
        self.assertEqual(sum('module="(other)"' in key for key in seconds(few)), 1)
        self.assertAlmostEqual(sum(seconds(few).values()), sum(seconds(all_metrics).values()), places=9)
        self.assertGreater(few["rangefinder_modules_left_out"], 5)
        self.assertEqual(all_metrics["rangefinder_modules_left_out"], 0)

    def test_kernel_names_are_labels_only_on_request_and_bounded(self):
        trace = recorded("rtdetr_sampled")
        metrics = self.serve(trace, "--kernel-labels", "--kernels", "3").metrics()
        rows = {key: value for key, value in metrics.items() if key.startswith("rangefinder_kernel_name_launches_total")}

        self.assertEqual(len(rows), 4)
        self.assertEqual(sum('kernel="(other)"' in key for key in rows), 1)
        self.assertEqual(sum(rows.values()), sum(value for key, value in metrics.items()
                                                 if key.startswith("rangefinder_kernel_launches_total")))
        self.assertGreater(metrics["rangefinder_kernel_names_left_out"], 0)

    def test_kernels_have_the_values_of_the_report(self):
        trace = recorded("rtdetr_sampled")
        metrics = self.serve(trace, "--kernel-labels", "--kernels", "100000").metrics()

        for family, key, unit in (("launches", "count", 1), ("seconds", "total_ns", 1e9)):
            wanted = collections.Counter()
            for row in self.report(trace, "--section", "kernels")["kernels"]:
                wanted[row["name"]] += row[key]
            served = {re.search('kernel="(.*)"', name)[1]: round(value * unit) for name, value in metrics.items()
                      if name.startswith(f"rangefinder_kernel_name_{family}_total")}
            self.assertEqual(served, wanted)

    def test_hostile_names_arrive_unchanged(self):
        lines = [*TRACE[:2]] + [{"t": "path", "id": i + 1, "parent": 0, "name": name} for i, name in enumerate(HOSTILE)]
        lines += [*TRACE[3:5]]
        for i in range(len(HOSTILE)):
            lines.append({**TRACE[6], "corr": i + 1, "path": i + 1, "start": 1000 * i, "end": 1000 * i + 500})
        self.make_trace(lines)
        served = self.serve()

        rows = served.json("/api/modules", trace="trace")
        text = served.ask("/metrics")[2].decode()

        escaped = {name.replace("\\", "\\\\").replace("/", "\\/") for name in HOSTILE if name}
        self.assertEqual({row["path"] for row in rows if row["path"] != OUTSIDE}, escaped)
        self.assertEqual(len(metric_values(text)), len([line for line in text.split("\n") if line and line[0] != "#"]))

    def test_a_trace_that_grows_is_read_again(self):
        folder = self.make_trace()
        served = self.serve()
        self.assertEqual(served.json("/api/modules", trace="trace")[0]["kernels"], 1)
        more = {**TRACE[6], "start": 2000, "end": 2500, "corr": 2}
        with open(folder / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write(json.dumps(more) + "\n")

        self.assertEqual(served.json("/api/modules", trace="trace")[0]["kernels"], 2)

    def test_answers_about_a_damaged_trace_say_so(self):
        folder = self.make_trace()
        served = self.serve()
        self.assertNotIn("rangefinder-damage", served.ask("/api/modules")[1])
        with open(folder / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write('{"t":"kernel"}\n' + json.dumps({**TRACE[6], "corr": 2}) + "\n")

        for question in ("/api/modules", "/api/kernels", "/api/findings", "/api/timeline", "/api/modules"):
            _, headers, _ = served.ask(question)
            self.assertIn("trace-00000.ndjson:9", headers.get("rangefinder-damage", ""), question)

    def test_an_unreadable_trace_gives_an_error_and_serve_continues(self):
        folder = self.make_trace([{"t": "nonsense"}])
        served = self.serve(folder)

        status, _, body = served.ask("/api/modules")

        self.assertEqual(status, 404)
        self.assertIn("error", json.loads(body))
        self.assertEqual(served.ask("/api/traces")[0], 200)
        self.assertEqual(served.ask("/metrics")[0], 200)

    def test_without_traces_and_programs_the_answers_say_so(self):
        served = self.serve()

        self.assertEqual(served.json("/api/traces"), [])
        self.assertEqual(served.ask("/api/modules")[0], 404)
        self.assertEqual(served.metrics()["rangefinder_programs_running"], 0)


if __name__ == "__main__":
    main(__doc__)
