# SPDX-License-Identifier: Apache-2.0
"""rangefinder sql TRACE: rows, forms of answers, and what does not run.

    sql_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY WORK

WORK: a folder for what npm installs. Exit code 77, with the reason: there is no node or npm, or npm reaches no
registry.
"""
import csv
import io
import json
import re
import shutil
import subprocess
from collections import Counter

import lake_case  # puts the folder above on the path: first
import cli_case
from export_case import HOSTILE, RECORDINGS, kernel_ns, lines_of, of_kind, path_texts, recorded
from lake_case import Lake

TABLES = {"kernel": "kernels", "launch": "launches", "memcpy": "copies", "memset": "memsets", "range": "ranges",
          "exact": "exact", "sync": "syncs", "hold": "holds", "condition": "conditions"}
# Keys of lines whose column has another name, and those that no table has.
COLUMNS = {"start": "start_ns", "end": "end_ns", "at": "at_ns", "ctx": "context", "corr": "correlation",
           "src": "source", "dst": "destination", "src_gpu": "source_gpu", "dst_gpu": "destination_gpu",
           "range": "range_id", "id": "range_id", "node": "graph_node", "count": "copies", "set": "metric_set",
           "values": "metrics", "path": "module", "name": "kernel", "config": "grid_x", "grid": "grid_x",
           "block": "block_x", "bytes_path": "bytes_module", "runs": "start_ns", "interval": "interval_ns",
           "samples": "stack", "dram_read": "dram_read_bytes", "dram_write": "dram_write_bytes", "l2": "l2_bytes",
           "pcie_read": "pcie_read_bytes", "pcie_write": "pcie_write_bytes",
           "nvlink_received": "nvlink_received_bytes", "nvlink_transmitted": "nvlink_transmitted_bytes",
           "sm_active": "sm_active_pct", "engine_active": "engine_active_pct"}
OTHER_NAMES = {"range": {"name": "name"}, "stack_sample": {"start": "at_ns"}}
LEFT_OUT = {"range": {"payload_schema", "payload_data"}, "samples": {"idle_samples", "idle"}, "stack_sample": {"end"}}
KINDS_LEFT_OUT = {"alloc", "capture", "clock", "event_record", "flush", "free", "gap", "graph", "host_function",
                  "mark", "monitor", "overhead", "sampling", "stream_wait"}
KINDS_OF_NAMES = {"category", "config", "context", "domain", "end", "frame", "gpu", "header", "kernel_name",
                  "kernel_origin", "metric_set", "module_source", "name", "path", "payload_schema", "stack", "stream",
                  "thread"}
WRITES = ("COPY kernels TO '{}'", "COPY (SELECT 1) TO '{}' (FORMAT csv)", "ATTACH '{}' AS other",
          "EXPORT DATABASE '{}'", "EXPLAIN ANALYZE COPY kernels TO '{}'", "explain analyze copy (SELECT 1) to '{}'",
          "EXPLAIN (ANALYZE) COPY kernels TO '{}'", "EXPLAIN /* of a query */ ANALYZE COPY kernels TO '{}'",
          "EXPLAIN ANALYZE /* SELECT 1 */ COPY kernels TO '{}'", "EXPLAIN -- SELECT 1\nANALYZE COPY kernels TO '{}'",
          "EXPLAIN COPY kernels TO '{}'", "PREPARE write AS COPY kernels TO '{}'", "SELECT 1; COPY kernels TO '{}'",
          "SELECT 1) TO '{}'; --")
STATEMENTS = ("SET threads = 1", "SET enable_external_access = true", "RESET lock_configuration",
              "PRAGMA threads = 1", "PRAGMA database_list; SELECT 1", "LOAD json", "INSTALL httpfs",
              "CREATE TABLE t AS SELECT 1", "CREATE VIEW kernels AS SELECT 1",
              "INSERT INTO kernels SELECT * FROM kernels", "DELETE FROM kernels", "UPDATE kernels SET gpu = 1",
              "DROP TABLE kernels", "ALTER TABLE kernels ADD COLUMN x INTEGER", "CALL pragma_version()", "CHECKPOINT",
              "VACUUM", "BEGIN", "USE memory", "SET VARIABLE a = 1", "EXPLAIN ANALYZE DELETE FROM kernels",
              "SELECT 1; SELECT 2", "", "  -- nothing")
FILES = ("read_text('/etc/passwd')", "read_blob('/etc/passwd')", "read_csv('/etc/passwd', sep = ':')",
         "'/etc/passwd'", "glob('/etc/*')", "read_parquet('/etc/*.parquet')", "read_text('../../../etc/passwd')",
         "read_csv('http://localhost/a.csv')", "sniff_csv('/etc/passwd')")


class Sql(Lake):
    def test_every_key_of_the_trace_is_a_column_or_listed(self):
        definitions = json.loads((cli_case.REPOSITORY / "schema/trace.schema.json").read_text(encoding="utf-8"))["$defs"]
        kinds = re.findall(r'  X\(\w+, "(\w+)"(?:, "(\w+)")?', (cli_case.REPOSITORY / "schema/kinds.h").read_text())
        tables = {**TABLES, "samples": "samples", "stack_sample": "stacks"}
        self.assertEqual({name for pair in kinds for name in pair if name}, set(tables) | KINDS_LEFT_OUT | KINDS_OF_NAMES)
        trace = self.make_trace()
        for kind, table in tables.items():
            columns = {row["column_name"] for row in self.ask(trace, f"DESCRIBE {table}")}
            parts = [definitions[kind], *(definitions[part["$ref"].rsplit("/", 1)[1]]
                                          for part in definitions[kind].get("allOf", ()) if "$ref" in part)]
            keys = {key for part in parts for key in part.get("properties", ())} - {"t"}
            names = {**COLUMNS, **OTHER_NAMES.get(kind, {})}
            missing = {key for key in keys - LEFT_OUT.get(kind, set()) if names.get(key, key) not in columns}
            self.assertEqual(missing, set(), table)

    def test_every_line_is_a_row_of_its_table(self):
        for name in RECORDINGS:
            trace = recorded(name)
            rows, = self.ask(trace, "SELECT " + ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in
                                                         TABLES.values()) +
                             ", (SELECT sum(end_ns - start_ns) FROM kernels) AS ns")
            lines = lines_of(trace)
            self.assertEqual(rows.pop("ns", 0), kernel_ns(lines), name)
            self.assertEqual(rows, {table: len(of_kind(lines, kind)) for kind, table in TABLES.items()}, name)

    def test_values_are_those_of_the_lines(self):
        trace = recorded("rtdetr_exact")
        lines = lines_of(trace)
        rows = self.ask(trace, "SELECT start_ns, end_ns, gpu, context, stream, correlation, range_id FROM kernels "
                        "ORDER BY ALL")
        keys = {"start_ns": "start", "end_ns": "end", "gpu": "gpu", "context": "ctx", "stream": "stream",
                "correlation": "corr", "range_id": "range"}
        expected = [{column: line[key] for column, key in keys.items() if key in line} for line in of_kind(lines, "kernel")]
        self.assertEqual(rows, sorted(expected, key=lambda row: [row.get(column, 0) for column in keys]))
        self.assertEqual(self.one(trace, "SELECT sum(dram_read_bytes) FROM exact"),
                         sum(line.get("dram_read_bytes", 0) for line in of_kind(lines, "exact")))

    def test_values_are_those_of_the_csv_export(self):
        """Columns with one name and one meaning in both."""
        other = {"copies", "exclusive", "graph_node", "module", "name", "category", "payload",
                 "color", "domain", "event", "correlation", "kernel"}
        for name in ("rtdetr_exact", "graph_replay", "nvtx_shapes", "copy_storm"):
            trace = recorded(name)
            folder = self.export(trace, "csv", out=name)
            for file, table in (("kernels", "kernels"), ("launches", "launches"), ("memcpys", "copies"),
                                ("memsets", "memsets"), ("ranges", "ranges"), ("exact", "exact"), ("syncs", "syncs"),
                                ("holds", "holds")):
                done = self.call("sql", trace, f"SELECT * FROM {table}", "--csv")
                ours = list(csv.DictReader(io.StringIO(done.stdout)))
                path = folder / f"{file}.csv"
                theirs = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))) if path.exists() else []
                if table == "launches":  # those with counters are in `exact`
                    theirs = [row for row in theirs if row["exact"] not in ("yes", "true")]
                if not theirs:
                    self.assertEqual(ours, [], table)
                    continue
                keys = sorted(set(ours[0]) & set(theirs[0]) - other)
                self.assertGreater(len(keys), 2, table)
                words = {"true": "yes", "false": "no"}
                counts = [Counter(tuple(words.get(row[key], row[key]) for key in keys) for row in rows)
                          for rows in (ours, theirs)]
                self.assertEqual(list((counts[0] - counts[1]).items())[:3], [], (table, keys))
                self.assertEqual(list((counts[1] - counts[0]).items())[:3], [], (table, keys))

    def test_findings_are_those_of_the_summary(self):
        trace = self.folder / "trace"
        shutil.copytree(recorded("hf_rtdetr_trace"), trace)
        self.check_code(self.call("finalize", trace), 0)
        findings = json.loads((trace / "summary.json").read_text(encoding="utf-8"))["findings"]
        rows = self.ask(trace, "SELECT finding, title, severity FROM findings")
        self.assertEqual(rows, [{"finding": row["id"], "title": row["title"], "severity": row["severity"]}
                                for row in findings])
        self.assertTrue(rows)

    def test_samples_are_rows(self):
        trace = recorded("rtdetr_sampled")
        with open(self.export(trace, "csv") / "samples.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        keys = [key for key in rows[0] if key.endswith("_bytes") or key.endswith("_pct")]
        sums = ", ".join(f"sum({key}) AS {key}" for key in keys)
        (found,) = self.ask(trace, f"SELECT count(*) AS n, {sums} FROM samples")
        self.assertEqual(found.pop("n"), len(rows))
        self.assertEqual(found, {key: sum(int(row[key]) for row in rows if row[key])
                                 for key in keys if any(row[key] for row in rows)})

    def test_names_are_those_of_the_lines_hostile_ones_included(self):
        trace = self.hostile_trace()
        rows = self.ask(trace, "SELECT module, kernel FROM kernels ORDER BY start_ns")
        paths = path_texts(lines_of(trace))
        self.assertEqual([row.get("kernel", "") for row in rows], HOSTILE)
        named = [(row, paths[i]) for i, row in enumerate(rows, 1) if HOSTILE[i - 1]]
        self.assertEqual([row["module"] for row, _ in named], [path for _, path in named])

    def test_bytes_that_are_no_text_are_replaced(self):
        trace = self.make_trace()
        file = trace / "trace-00000.ndjson"
        file.write_bytes(file.read_bytes().replace(b"cuLaunchKernel", b"cuLaunch\xff\xfe"))
        done = self.call("sql", trace, "SELECT api FROM launches", "--json")
        self.assertIn(done.returncode, (0, 3))  # the line may be unreadable
        self.assertIn(json.loads(done.stdout), ([], [{"api": "cuLaunch\ufffd\ufffd"}]))

    def test_a_compressed_trace_reads_as_a_plain_one(self):
        if shutil.which("zstd") is None:
            self.skipTest("there is no zstd program")
        trace = self.make_trace()
        subprocess.run(["zstd", "-q", "--rm", trace / "trace-00000.ndjson"], check=True)
        self.assertEqual(self.one(trace, "SELECT count(*) FROM kernels"), 1)

    def test_forms_of_an_answer(self):
        trace = self.make_trace()
        query = "SELECT kernel, end_ns - start_ns AS ns, 1.5 AS half, NULL AS none FROM kernels"
        self.assertEqual(self.ask(trace, query), [{"kernel": "void k<int>(int)", "ns": 1000, "half": 1.5}])
        done = self.call("sql", trace, query, "--csv")
        self.assertEqual(list(csv.reader(io.StringIO(done.stdout))),
                         [["kernel", "ns", "half", "none"], ["void k<int>(int)", "1000", "1.5", ""]])
        lines = self.call("sql", trace, query).stdout.splitlines()
        self.assertEqual([line.split() for line in lines], [["kernel", "ns", "half", "none"],
                                                            ["void", "k<int>(int)", "1000", "1.5"]])
        self.check_code(self.call("sql", trace, query, "--csv", "--json"), 2)

    def test_types_without_a_form_of_their_own_are_texts(self):
        trace = self.make_trace()
        rows = self.ask(trace, "SELECT [1, 2] AS list, {'a': 1} AS struct, TIMESTAMP '2026-01-02 03:04:05' AS time, "
                        "sum(end_ns) AS huge, -170141183460469231731687303715884105727::HUGEINT AS least, "
                        "'x' AS \"a \"\"b\", 12.34::DECIMAL(38, 2) AS decimal FROM kernels;")
        self.assertEqual(rows, [{"list": "[1, 2]", "struct": "{'a': 1}", "time": "2026-01-02 03:04:05", "huge": 1100,
                                 "least": "-170141183460469231731687303715884105727", 'a "b': "x", "decimal": 12.34}])

    def test_explain_shows_a_plan(self):
        trace = self.make_trace()
        for arguments in (("SELECT count(*) FROM kernels", "--explain"), ("EXPLAIN SELECT count(*) FROM kernels",),
                          ("explain analyze FROM kernels",)):
            done = self.call("sql", trace, *arguments)
            self.check_code(done, 0)
            self.assertRegex(done.stdout, "ROWS_OF_KERNELS")

    def test_nothing_is_written(self):
        trace = self.make_trace()
        target = self.folder / "written"
        for query in WRITES:
            for options in ((), ("--explain",)):
                said = self.refused(trace, query.format(target), *options)
                self.assertNotIn("\n\n", said)
                self.assertFalse(target.exists(), query)

    def test_only_one_select_runs(self):
        trace = self.make_trace()
        for query in STATEMENTS:
            self.refused(trace, query)
        self.assertIn("only a SELECT runs", self.refused(trace, "SET threads = 1"))
        self.assertIn("several statements", self.refused(trace, "SELECT 1; SELECT 2"))

    def test_other_files_are_not_read(self):
        trace = self.make_trace()
        for source in FILES:
            said = self.refused(trace, f"SELECT * FROM {source}")
            self.assertNotIn("root:", said)
        self.assertIn("disabled", self.refused(trace, "SELECT * FROM read_text('/etc/passwd')"))

    def test_functions_do_not_write_either(self):
        trace = self.make_trace()
        target = self.folder / "log"
        logging = f"enable_logging('QueryLog', storage = 'file', storage_path = '{target}')"
        hidden = logging.replace("'", "''")
        for query in (f"SELECT * FROM {logging}", f"FROM {logging}",
                      f'SELECT 1 UNION ALL (SELECT 1 FROM "ENABLE_{logging[7:]})',
                      f"SELECT EXISTS (FROM {logging})", f"FROM query('FROM {hidden}')", "FROM enable_profiling()",
                      f"EXPLAIN ANALYZE FROM {logging}", f"WITH a AS (FROM {logging}) SELECT 1",
                      f"FROM json_execute_serialized_sql(json_serialize_sql('FROM {hidden}'))"):
            query = query.replace('"ENABLE_logging(', '"ENABLE_logging"(')
            self.assertRegex(self.refused(trace, query), "the function (enable_|query|json_execute)", query)
        self.assertFalse(target.exists())

    def test_a_mistake_is_explained(self):
        trace = self.make_trace()
        self.assertIn("kernel", self.refused(trace, "SELECT kernl FROM kernels"))
        self.check_code(self.call("sql", self.folder / "nowhere", "SELECT 1"), 3)

    def test_without_duckdb_one_message_says_where_to_get_it(self):
        done = self.call("sql", self.make_trace(), "SELECT 1", RANGEFINDER_DUCKDB=str(self.folder / "none.so"))
        self.check_code(done, 3)
        self.assertIn("tools/setup --lake", done.stderr)
        self.assertIn("RANGEFINDER_DUCKDB", done.stderr)

    def test_damage_is_said(self):
        trace = self.make_trace()
        with open(trace / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write("{}\n" + json.dumps({"t": "kernel"}) + "\n")
        done = self.call("sql", trace, "SELECT count(*) AS n FROM kernels", "--json")
        self.assertEqual(json.loads(done.stdout), [{"n": 1}])
        self.check_code(done, 3)


if __name__ == "__main__":
    lake_case.main(__doc__)
