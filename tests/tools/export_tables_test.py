# SPDX-License-Identifier: Apache-2.0
"""`export --to csv`, `sqlite`, `speedscope` and `prometheus`, read with other libraries.

    export_tables_test.py RANGEFINDER REPOSITORY REPLAY
"""
import collections
import contextlib
import csv
import json
import re
import shutil
import sqlite3
import subprocess

import cli_case
import export_case
from export_case import HOSTILE, RECORDINGS, Export, kernel_ns, lines_of, of_kind, path_texts, recorded

SOURCES = ("/opt/app/model.py:214", "/opt/app/train.py:30")  # of model/encoder\/0 of the example
# CSV and SQL text cannot hold NUL, which becomes U+FFFD.
READABLE = [text.replace("\x00", "\ufffd") for text in HOSTILE]


class Csv(Export):
    def table(self, folder, name):
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, strict=True))

    def test_every_line_of_a_recording_is_a_row(self):
        tables = {"kernel": "kernels", "memcpy": "memcpys", "memset": "memsets", "sync": "syncs", "range": "ranges",
                  "mark": "marks", "exact": "exact", "overhead": "overhead", "hold": "holds", "capture": "captures"}
        for name in RECORDINGS:
            with self.subTest(recording=name):
                lines = lines_of(recorded(name))
                folder = self.export(recorded(name), "csv", out=name)
                for kind, table in tables.items():
                    self.assertEqual(len(self.table(folder, table)), len(of_kind(lines, kind)), table)
                launches = len(of_kind(lines, "launch")) + sum(1 for line in of_kind(lines, "exact") if "corr" in line)
                self.assertEqual(len(self.table(folder, "launches")), launches)
                self.assertEqual(sum(int(row["duration_ns"]) for row in self.table(folder, "kernels")), kernel_ns(lines))

    def test_a_value_of_a_condition_is_a_row(self):
        folder = self.export(cli_case.REPOSITORY / "schema" / "examples", "csv")
        rows = [tuple(row[key] for key in ("at_ns", "gpu", "thread", "condition", "value"))
                for row in self.table(folder, "conditions")]
        self.assertEqual(rows, [("100", "0", "", "sm_mhz", "1455"), ("100", "0", "", "memory_mhz", "3201"),
                                ("100", "0", "", "power_w", "691"), ("100", "0", "", "throttle", "4"),
                                ("110", "", "", "cpu_ms", "5210"), ("110", "", "", "rss_mib", "812"),
                                ("120", "", "4712", "cpu_ms", "990")])

    def test_a_sample_of_a_stack_is_a_row_and_its_frames_are_found_by_id(self):
        folder = self.export(cli_case.REPOSITORY / "schema" / "examples", "csv")
        wanted = {"frames": [("1", "train", "/opt/app/train.py", "30"), ("2", "Loader.decode_image", "/opt/app/data.py", "41")],
                  "stacks": [("1", "", "1", "train"), ("2", "1", "2", "Loader.decode_image")],
                  "stack_samples": [("4712", "10000", "2", "10000"), ("4712", "20000", "2", "10000"),
                                    ("4712", "30000", "1", "10000")]}
        columns = {"frames": ["frame", "function", "file", "line"], "stacks": ["stack", "caller", "frame", "function"],
                   "stack_samples": ["thread", "at_ns", "stack", "interval_ns"]}
        for name, rows in wanted.items():
            found = self.table(folder, name)
            self.assertEqual(list(found[0]), ["trace", *columns[name]])
            self.assertEqual([tuple(row[column] for column in columns[name]) for row in found], rows)

    def test_a_hold_has_its_thread_and_cause(self):
        folder = self.export(cli_case.REPOSITORY / "schema" / "examples", "csv")
        rows = [(row["duration_ns"], row["thread"], row["cause"]) for row in self.table(folder, "holds")]
        self.assertEqual(rows, [("36000", "4712", "counter_batch")])

    def test_a_gap_has_its_cause(self):
        folder = self.export(cli_case.REPOSITORY / "schema" / "examples", "csv")
        rows = [(row["start_ns"], row["end_ns"], row["cause"]) for row in self.table(folder, "gaps")]
        self.assertEqual(rows, [("92000", "93000", "torch.profiler")])

    def test_rows_have_the_values_of_the_lines(self):
        lines = lines_of(recorded("hf_rtdetr_trace"))
        paths, names = path_texts(lines), {line["id"]: line["demangled"] for line in of_kind(lines, "kernel_name")}
        rows = self.table(self.export(recorded("hf_rtdetr_trace"), "csv"), "kernels")
        for row, line in zip(rows, of_kind(lines, "kernel")):
            self.assertEqual((row["module"], row["kernel"], int(row["start_ns"]), int(row["correlation"])),
                             (paths[line.get("path", 0)], names[line["name"]], line["start"], line["corr"]))

    def test_bytes_of_samples_add_up_to_those_of_the_lines(self):
        lines = lines_of(recorded("rtdetr_sampled"))
        wanted = 32 * sum(sum(values.values() if isinstance(values, dict) else values)
                          for line in of_kind(lines, "samples") for values in [line.get("dram_write", [])])
        rows = self.table(self.export(recorded("rtdetr_sampled"), "csv"), "samples")
        self.assertEqual(sum(int(row["dram_write_bytes"]) for row in rows), wanted)

    def test_values_that_were_not_measured_are_empty(self):
        trace = self.make_trace([*cli_case.TRACE[:6], {**{k: v for k, v in cli_case.TRACE[6].items()
                                                          if k not in ("start", "end")}}])
        row = self.table(self.export(trace, "csv"), "kernels")[0]
        self.assertEqual((row["start_ns"], row["end_ns"], row["duration_ns"]), ("", "", ""))

    def test_hostile_names_are_kept_and_formulas_are_quoted(self):
        folder = self.export(self.hostile_trace(), "csv")
        self.assertEqual([row["kernel"] for row in self.table(folder, "kernels")], READABLE)
        self.assertEqual([row["name"] for row in self.table(folder, "ranges")], READABLE)
        self.assertIn(b',"=1+1",', (folder / "kernels.csv").read_bytes())
        self.assertEqual(self.table(folder, "traces")[0]["host"], 'ho"st\n')

    def test_a_module_has_its_source_lines(self):
        rows = self.table(self.export(cli_case.REPOSITORY / "schema" / "examples", "csv"), "modules")
        self.assertEqual({row["module"]: (row["class_source"], row["call_source"]) for row in rows},
                         {"model": ("", ""), "model/encoder\\/0": SOURCES})

    def test_two_traces_share_the_tables_with_distinct_ids(self):
        out = self.exported_together("csv", "both", *self.two_traces(rank="1"))
        self.assertEqual([row["trace"] for row in self.table(out, "kernels")], ["0", "1"])
        self.assertEqual([row["rank"] for row in self.table(out, "traces")], ["", "1"])


class Sqlite(Export):
    def database(self, trace, out="one.sqlite"):
        return contextlib.closing(sqlite3.connect(self.export(trace, "sqlite", out=out)))

    def test_every_line_of_a_recording_is_a_row(self):
        tables = {"kernel": "CUPTI_ACTIVITY_KIND_KERNEL", "memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
                  "memset": "CUPTI_ACTIVITY_KIND_MEMSET", "sync": "syncs", "exact": "exact", "path": "paths",
                  "overhead": "PROFILER_OVERHEAD", "hold": "holds", "capture": "captures"}
        for name in RECORDINGS:
            lines = lines_of(recorded(name))
            with self.subTest(recording=name), self.database(recorded(name), name) as database:
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                for kind, table in tables.items():
                    count = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    self.assertEqual(count, len(of_kind(lines, kind)), table)
                total = database.execute("SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
                self.assertEqual(total or 0, kernel_ns(lines))

    def test_a_hold_has_its_thread_and_cause(self):
        with self.database(cli_case.REPOSITORY / "schema" / "examples") as database:
            rows = database.execute("SELECT end - start, globalTid % 0x1000000, cause FROM holds").fetchall()
        self.assertEqual(rows, [(36000, 4712, "counter_batch")])

    def test_a_gap_has_its_cause(self):
        with self.database(cli_case.REPOSITORY / "schema" / "examples") as database:
            rows = database.execute("SELECT start, end, cause FROM gaps").fetchall()
        self.assertEqual(rows, [(92000, 93000, "torch.profiler")])

    def test_functions_have_the_time_of_the_samples_below_them(self):
        """The query of docs/reference/export.md."""
        document = (cli_case.REPOSITORY / "docs" / "reference" / "export.md").read_text(encoding="utf-8")
        query = re.search(r"WITH RECURSIVE .*?(?=;)", document, re.DOTALL).group()
        with self.database(cli_case.REPOSITORY / "schema" / "examples") as database:
            rows = database.execute(query).fetchall()
        self.assertEqual(rows, [("train", "/opt/app/train.py", 0.03), ("Loader.decode_image", "/opt/app/data.py", 0.02)])

    def test_common_queries_for_nsight_systems_work(self):
        with self.database(recorded("hf_rtdetr_trace")) as database:
            rows = database.execute("""
                SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
                JOIN StringIds AS s ON k.demangledName = s.id GROUP BY s.value ORDER BY 3 DESC""").fetchall()
            joined = database.execute("""
                SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
                ON k.correlationId = r.correlationId WHERE k.start >= r.start""").fetchone()[0]
            threads = database.execute("""
                SELECT DISTINCT globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000
                FROM CUPTI_ACTIVITY_KIND_RUNTIME""").fetchall()
        by_name = collections.Counter()
        for row in self.report(recorded("hf_rtdetr_trace"), "--section", "kernels")["kernels"]:
            by_name[row["name"]] += row["total_ns"]
        self.assertEqual({name: total for name, _, total in rows}, dict(by_name))
        self.assertEqual(joined, 11894)
        self.assertEqual(threads, [(578, 578)])

    def test_the_view_of_modules_agrees_with_the_report(self):
        modules = self.report(recorded("rtdetr_exact"))["modules"]
        wanted = {row["path"]: (row["kernels"], row["gpu_ns"]) for row in modules if row["kernels"]}
        with self.database(recorded("rtdetr_exact")) as database:
            found = {row[0]: row[1:] for row in database.execute("SELECT module, kernels, gpuNs FROM modules")}
        self.assertEqual(found, wanted)

    def test_a_module_has_its_source_lines(self):
        with self.database(cli_case.REPOSITORY / "schema" / "examples") as database:
            for view in ("paths", "modules"):
                rows = database.execute(f"SELECT classSource, callSource FROM {view} ORDER BY depth").fetchall()
                self.assertEqual(rows, [(None, None), SOURCES])

    def test_the_view_of_kernels_has_their_exact_bytes(self):
        lines = lines_of(recorded("rtdetr_exact"))
        wanted = sum(line["l2_bytes"] for line in of_kind(lines, "exact")
                     if line["kind"] == "kernel" and "l2_bytes" in line)
        with self.database(recorded("rtdetr_exact")) as database:
            self.assertEqual(database.execute("SELECT sum(l2Bytes) FROM kernels").fetchone()[0], wanted)

    def test_copies_have_the_labels_of_their_direction(self):
        with self.database(recorded("copy_storm")) as database:
            rows = dict(database.execute("""
                SELECT e.label, sum(m.bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY m
                JOIN ENUM_CUDA_MEMCPY_OPER e ON e.id = m.copyKind GROUP BY e.label"""))
        bytes_of = collections.Counter()
        for line in of_kind(lines_of(recorded("copy_storm")), "memcpy"):
            bytes_of[line["kind"]] += line["bytes"]
        self.assertEqual(rows["Host-to-Device"], bytes_of["HtoD"])
        self.assertEqual(rows["Device-to-Device"], bytes_of["DtoD"])

    def test_hostile_names_are_unchanged(self):
        with self.database(self.hostile_trace()) as database:
            names = [row[0] for row in database.execute("""SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k
                JOIN StringIds s ON s.id = k.demangledName ORDER BY k.start""")]
            ranges = [row[0] for row in database.execute("SELECT text FROM NVTX_EVENTS WHERE eventType = 59")]
            payloads = {row[0] for row in database.execute("SELECT doubleValue FROM NVTX_EVENTS WHERE eventType = 59")}
        self.assertEqual(names, READABLE)
        self.assertEqual(ranges, READABLE)
        self.assertEqual(payloads, {None})


class Speedscope(Export):
    def profiles(self, trace):
        content = json.loads(self.export(trace, "speedscope", "--force").read_text(encoding="utf-8"))
        self.assertEqual(content["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = content["shared"]["frames"]
        for profile in content["profiles"]:
            self.assertEqual(profile["type"], "sampled")
            self.assertIn(profile["unit"], ("nanoseconds", "bytes"))
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(profile["endValue"] - profile["startValue"], sum(profile["weights"]))
            self.assertEqual(len({tuple(stack) for stack in profile["samples"]}), len(profile["samples"]))
            for stack in profile["samples"]:
                self.assertTrue(all(0 <= frame < len(frames) for frame in stack))
        return frames, {profile["name"]: profile for profile in content["profiles"]}

    def test_weights_of_kernels_add_up_to_the_time_of_all_kernels(self):
        for name in RECORDINGS:
            with self.subTest(recording=name):
                _, profiles = self.profiles(recorded(name))
                self.assertEqual(profiles["GPU time of kernels"]["endValue"], kernel_ns(lines_of(recorded(name))))

    def test_weights_below_a_module_add_up_to_its_inclusive_time(self):
        frames, profiles = self.profiles(recorded("hf_rtdetr_trace"))
        profile = profiles["GPU time of kernels"]
        total = sum(weight for stack, weight in zip(profile["samples"], profile["weights"])
                    if [frames[frame]["name"] for frame in stack[:3]] == ["step", "model", "decoder"])
        modules = self.report(recorded("hf_rtdetr_trace"))["modules"]
        row = next(row for row in modules if row["path"] == "step/model/decoder")
        self.assertEqual(total, row["gpu_ns"])

    def test_exact_bytes_are_those_of_the_exact_lines(self):
        _, profiles = self.profiles(recorded("rtdetr_exact"))
        wanted = sum(line["l2_bytes"] for line in of_kind(lines_of(recorded("rtdetr_exact")), "exact")
                     if "l2_bytes" in line)
        self.assertEqual(profiles["L2 bytes (measured launches)"]["endValue"], wanted)

    def test_sampled_bytes_are_those_of_all_samples(self):
        _, profiles = self.profiles(recorded("rtdetr_sampled"))
        samples = self.report(recorded("rtdetr_sampled"))["samples"]
        # A quarter of the samples was lost in the recording.
        self.assertGreater(samples["estimated"]["l2_bytes"], samples["all"]["l2_bytes"] / 5)
        self.assertEqual(profiles["L2 bytes (sampled)"]["endValue"],
                         samples["all"]["l2_bytes"] + samples["estimated"]["l2_bytes"])

    def test_a_host_thread_has_a_profile_of_its_sampled_stacks(self):
        frames, profiles = self.profiles(cli_case.REPOSITORY / "schema" / "examples")
        profile = profiles["rank 0: host thread 4712 (main)"]
        stacks = [[frames[frame] for frame in stack] for stack in profile["samples"]]
        train = {"name": "train", "file": "/opt/app/train.py", "line": 30}
        decode = {"name": "Loader.decode_image", "file": "/opt/app/data.py", "line": 41}
        self.assertEqual(list(zip(stacks, profile["weights"])), [([train], 10000), ([train, decode], 20000)])

    def test_hostile_names_are_frames(self):
        frames, _ = self.profiles(self.hostile_trace())
        names = {frame["name"] for frame in frames}
        self.assertEqual({text or "(no name)" for text in HOSTILE} - names, set())


class Prometheus(Export):
    SAMPLE = re.compile(r'^([a-z0-9_]+)(\{(?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\d+(?:\.\d+)?)$')
    LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"')

    def metrics(self, text):
        """{family: {labels: value}}; fails on violations of the format."""
        out, typed = {}, {}
        for line in text.split("\n")[:-1]:
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.assertNotIn(name, typed, "a family is in two places")
                typed[name] = kind
                self.assertEqual(kind == "counter", name.endswith("_total"))
            elif not line.startswith("# HELP "):
                name, labels, value = self.SAMPLE.match(line).groups()
                self.assertEqual(name, list(typed)[-1])
                key = tuple(self.LABEL.findall(labels or ""))
                self.assertNotIn(key, out.setdefault(name, {}), "two samples with the same labels")
                out[name][key] = float(value)
        return out

    def exported(self, trace, *more):
        file = self.export(trace, "prometheus", "--force", *more)
        return self.metrics(file.read_bytes().decode("utf-8"))  # not text mode, which splits lines at CR

    def test_the_last_value_of_a_condition_is_a_gauge(self):
        values = self.exported(recorded("gemm_power"))["rangefinder_condition"]
        gpu = {dict(labels)["condition"]: value for labels, value in values.items() if "gpu" in dict(labels)}
        process = {dict(labels)["condition"]: value for labels, value in values.items() if "gpu" not in dict(labels)}
        last = [line for line in of_kind(lines_of(recorded("gemm_power")), "condition") if "sm_mhz" in line][-1]
        self.assertEqual(gpu["sm_mhz"], last["sm_mhz"])
        self.assertEqual(gpu["power_limit_w"], 700)
        self.assertEqual(process["millicores"], 16000)

    def test_the_thread_that_reads_stacks_is_among_the_overhead(self):
        end = {"t": "end", "at": 2000, "reason": "exit", "records": {"kernel": 1, "launch": 1, "range": 1},
               "launches": {kind: {"launched": one, "recorded": one, "exact": 0, "lost": 0}
                            for kind, one in (("kernel", 1), ("memcpy", 0), ("memset", 0), ("graph", 0))}, "loss": {}}
        example = lines_of(cli_case.REPOSITORY / "schema" / "examples")[-1]
        end["own_cost"] = {**example["own_cost"], "stacks_cpu_ns": 3_000_000_000}
        overhead = self.exported(self.make_trace([*cli_case.TRACE, end]))["rangefinder_overhead_seconds_total"]
        self.assertEqual({value for key, value in overhead.items() if ("what", "stacks_cpu") in key}, {3.0})

    def test_seconds_of_kernels_add_up_over_modules(self):
        for name in RECORDINGS:
            for limit in ("3", "100000"):
                with self.subTest(recording=name, modules=limit):
                    family = self.exported(recorded(name), "--modules", limit).get("rangefinder_kernel_seconds_total", {})
                    self.assertEqual(round(sum(family.values()) * 1e9), kernel_ns(lines_of(recorded(name))))
                    self.assertLessEqual(len(family), int(limit) + 1)

    def test_bytes_carry_gpu_module_direction_and_source(self):
        family = self.exported(recorded("rtdetr_exact"))["rangefinder_dram_bytes_total"]
        self.assertEqual({tuple(name for name, _ in key) for key in family}, {("gpu", "uuid", "module", "op", "source")})
        wanted = sum(line["dram_read_bytes"] for line in of_kind(lines_of(recorded("rtdetr_exact")), "exact")
                     if "dram_read_bytes" in line)
        self.assertEqual(sum(value for key, value in family.items() if ("op", "read") in key), wanted)

    def test_hostile_names_are_escaped_labels(self):
        family = self.exported(self.hostile_trace())["rangefinder_kernel_launches_total"]
        modules = {value.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
                   for key in family for name, value in key if name == "module"}
        self.assertIn('"quoted"', modules)
        self.assertIn("two\nlines\r\n", modules)

    def test_promtool_finds_no_problem(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        for trace in (recorded("rtdetr_exact"), recorded("rtdetr_sampled"), self.hostile_trace()):
            with open(self.export(trace, "prometheus", "--force"), "rb") as metrics:
                checked = subprocess.run(["promtool", "check", "metrics"], stdin=metrics, capture_output=True,
                                         check=False)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    export_case.main(__doc__)
