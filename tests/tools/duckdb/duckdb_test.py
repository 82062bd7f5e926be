# SPDX-License-Identifier: Apache-2.0
"""tools/sql in DuckDB: views over traces, their Parquet copies, the example queries.

    duckdb_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY WORK

WORK: a folder for what npm installs. Exit code 77, with the reason: there is no node or npm, or npm reaches
no registry.
"""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import cli_case  # noqa: E402
import export_case  # noqa: E402
import npm_install  # noqa: E402
from export_case import RECORDINGS, Export, kernel_ns, lines_of, of_kind, path_texts, recorded  # noqa: E402

WORK = pathlib.Path()


def sql(name):
    return (cli_case.REPOSITORY / "tools" / "sql" / name).read_text(encoding="utf-8")


class Views(Export):
    def ask(self, traces, *queries, scripts=()):
        request = {"traces": str(traces), "scripts": [sql("views.sql"), *scripts], "queries": queries}
        done = subprocess.run(["node", WORK / "query.mjs"], input=json.dumps(request), text=True, capture_output=True,
                              cwd=self.folder, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def lake(self, *names):
        """Recordings as the processes of a run, in the folder layout of ranks."""
        for rank, name in enumerate(names):
            folder = self.folder / f"out/run=one/host=node{rank}/rank={rank}/pid={100 + rank}"
            folder.parent.mkdir(parents=True)
            shutil.copytree(recorded(name), folder)
        return self.folder / "out/**/trace-*.ndjson*"

    def test_every_line_is_a_row_of_its_view(self):
        views = {"kernel": "kernels", "memcpy": "memcpys", "memset": "memsets", "exact": "exact", "range": "ranges",
                 "sync": "syncs", "path": "paths", "kernel_name": "kernel_names", "config": "launch_configs"}
        results = self.ask(self.lake(*RECORDINGS), *(f"SELECT count(*) AS n FROM {view}" for view in views.values()),
                           "SELECT sum(duration_ns) AS ns FROM kernels", "SELECT count(*) AS n FROM launches")
        lines = [line for name in RECORDINGS for line in lines_of(recorded(name))]
        for kind, rows in zip(views, results):
            self.assertEqual(int(rows[0]["n"]), len(of_kind(lines, kind)), kind)
        self.assertEqual(int(results[-2][0]["ns"]), kernel_ns(lines))
        self.assertEqual(int(results[-1][0]["n"]), len(of_kind(lines, "launch")) +
                         sum(1 for line in of_kind(lines, "exact") if line["kind"] != "range"))

    def test_modules_agree_with_the_report(self):
        trace = recorded("rtdetr_exact")
        report = self.report(trace)["modules"]
        keys = ("calls", "host_ns", "kernels", "gpu_ns", "gpu_ns_exclusive", "dram_read_bytes", "dram_write_bytes",
                "l2_bytes")
        rows, = self.ask(trace / "trace-*.ndjson", f"SELECT module, {', '.join(keys)} FROM modules")
        found = {row["module"]: {key: int(row[key] or 0) for key in keys} for row in rows}
        self.assertGreater(len(report), 500)
        for row in report:
            self.assertEqual(found[row["path"]], {key: row.get(key, 0) for key in keys}, row["path"])

    def test_a_module_has_its_source_lines(self):
        examples = cli_case.REPOSITORY / "schema/examples/trace-*.ndjson"
        for rows in self.ask(examples, *(f"SELECT class_source, call_source FROM {view} ORDER BY depth"
                                         for view in ("paths", "modules"))):
            self.assertEqual(rows, [{"class_source": None, "call_source": None},
                                    {"class_source": "/opt/app/model.py:214", "call_source": "/opt/app/train.py:30"}])

    def test_processes_of_a_run_are_distinguished(self):
        traces, kernels = self.ask(self.lake("hf_rtdetr_trace", "multi_stream_ranges"),
                                   "SELECT run, host, pid, base_unix_ns FROM traces ORDER BY trace",
                                   "SELECT trace, count(*) AS n FROM kernels GROUP BY trace ORDER BY trace")
        headers = [lines_of(recorded(name))[0] for name in ("hf_rtdetr_trace", "multi_stream_ranges")]
        self.assertEqual([(row["run"], int(row["pid"]), row["base_unix_ns"]) for row in traces],
                         [("one", line["pid"], line["base_unix_ns"]) for line in headers])
        self.assertEqual([int(row["n"]) for row in kernels], [11894, 200])

    def test_names_are_those_of_the_lines_hostile_ones_included(self):
        trace = self.hostile_trace()
        rows, = self.ask(trace / "trace-*.ndjson", "SELECT module, kernel FROM kernels ORDER BY start_ns")
        paths = path_texts(lines_of(trace))
        self.assertEqual([row["kernel"] for row in rows], export_case.HOSTILE)
        self.assertEqual([row["module"] for row in rows], [paths[i] for i in range(1, len(paths))])

    def test_names_that_every_segment_repeats_count_once(self):
        trace = self.make_trace()
        (trace / "trace-00001.ndjson").write_text("".join(
            json.dumps(line) + "\n" for line in [{**cli_case.HEADER, "segment": 1}, *cli_case.TRACE[1:]]))
        rows, = self.ask(trace / "trace-*.ndjson", "SELECT module, kernels, calls FROM modules")
        self.assertEqual(rows, [{"module": "model", "kernels": "2", "calls": "2"}])

    def test_a_line_that_was_cut_is_skipped(self):
        trace = self.make_trace()
        with open(trace / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write('{"t":"kernel","sta')
        rows, = self.ask(trace / "trace-*.ndjson", "SELECT count(*) AS n FROM kernels")
        self.assertEqual(rows, [{"n": "1"}])

    def test_compressed_segments_read_as_plain_ones(self):
        if shutil.which("zstd") is None:
            self.skipTest("there is no zstd program")
        trace = self.make_trace()
        subprocess.run(["zstd", "-q", "--rm", trace / "trace-00000.ndjson"], check=True)
        rows, = self.ask(trace / "trace-*.ndjson*", "SELECT count(*) AS n FROM kernels")
        self.assertEqual(rows, [{"n": "1"}])

    def test_loss_is_that_of_the_end(self):
        rows, = self.ask(recorded("nvtx_shapes") / "trace-*.ndjson", "SELECT cause, count FROM loss ORDER BY cause")
        loss = lines_of(recorded("nvtx_shapes"))[-1]["loss"]
        self.assertTrue(loss)
        self.assertEqual({row["cause"]: int(row["count"]) for row in rows}, loss)

    def test_parquet_copies_have_the_rows_of_the_views(self):
        columns = "sum(duration_ns) AS ns, count(*) AS n, count(DISTINCT module) AS modules"
        parquet = "read_parquet('parquet/kernels/**/*.parquet', hive_partitioning = true)"
        (self.folder / "parquet").mkdir()
        self.ask(self.lake("hf_rtdetr_trace", "multi_stream_ranges"), scripts=[sql("parquet.sql")])
        view, copy = self.ask(self.folder / "out/**/trace-*.ndjson", f"SELECT {columns} FROM kernels",
                              f"SELECT {columns} FROM {parquet}")
        self.assertEqual(copy, view)
        base = lines_of(recorded("hf_rtdetr_trace"))[0]["base_unix_ns"]
        self.assertTrue((self.folder / f"parquet/kernels/run=one/host=vm/pid=578/base_unix_ns={base}").is_dir())

    def test_parquet_copies_keep_earlier_runs_and_windows_of_the_same_host_and_process_id(self):
        starts = {"out/run=one/a": "1700000000000000000", "out/run=one/a.2": "1700000000000000001",
                  "out/run=two/a": "1700000000000000000", "elsewhere/a": "1700000000000000002"}
        (self.folder / "parquet").mkdir()
        for place, start in starts.items():
            (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
            self.make_trace([{**cli_case.HEADER, "base_unix_ns": start}, *cli_case.TRACE[1:]], place)
            for _ in range(2):  # a trace that is added again is replaced
                self.ask(self.folder / place / "trace-*.ndjson", scripts=[sql("parquet.sql")])

        of = "read_parquet('parquet/{}/**/*.parquet', hive_partitioning = true)".format
        traces, kernels = self.ask(self.folder / "elsewhere/a/trace-*.ndjson",
                                   f"SELECT run, base_unix_ns FROM {of('traces')} ORDER BY ALL",
                                   f"SELECT run, base_unix_ns, count(*) AS n FROM {of('kernels')} GROUP BY ALL "
                                   "ORDER BY ALL")
        expected = sorted((place.split("run=")[1][:3] if "run=" in place else "none", start)
                          for place, start in starts.items())
        self.assertEqual([(row["run"], row["base_unix_ns"]) for row in traces], expected)
        self.assertEqual([(row["run"], row["base_unix_ns"], row["n"]) for row in kernels],
                         [(*one, "1") for one in expected])

    def test_every_query_has_a_result(self):
        questions = [text for text in sql("questions.sql").split(";\n") if "SELECT" in text]
        answers = self.ask(self.lake("rtdetr_exact", "hf_rtdetr_trace", "nvtx_shapes"), *questions)
        self.assertEqual(len(answers), 8)
        for question, rows in zip(questions, answers):
            self.assertTrue(rows, question)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    WORK = pathlib.Path(sys.argv.pop(4))
    npm_install.install("@duckdb/node-api", "query.mjs", HERE, WORK)
    export_case.main(__doc__)
