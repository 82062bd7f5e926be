# SPDX-License-Identifier: Apache-2.0
"""tools/sql/clickhouse in a real engine: rows, what is loaded again, what is kept, what a cluster and a bucket need.

    clickhouse_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY WORK

WORK: a folder for what npm installs. Exit code 77, with the reason: ClickHouse or DuckDB is not installed. cluster.sql
and s3() are parsed, not run: there is one process and no network.
"""
import json
import re
import shutil
import subprocess
from collections import Counter

import lake_case  # puts the folder above on the path: first
import cli_case
from clickhouse import SQL, ClickHouseError, load_statements
from export_case import recorded
from lake_case import Lake

JOBS = "tests/unit/analysis/ranks/recorded_jobs"
# Every table has rows in one of them.
RECORDINGS = ("rtdetr_sampled", "hazards_exact", "multi_stream_ranges", "nvtx_shapes", "resnet_workers_0")
OTHER_RUN = "it's 100 % {new}, of 7/8"


def statements(sql):
    parts = re.sub(r"^--.*\n", "", sql, flags=re.MULTILINE).split(";\n")
    return [part.strip() for part in parts if part.strip()]


def counted(rows):
    """Rows without what is NULL, in any order; 1 is 1.0."""
    return Counter(frozenset((key, value) for key, value in row.items() if value is not None) for row in rows)


def without_macros(sql, run, baseline):
    """The query as Grafana sends it."""
    sql = re.sub(r"\$__timeFilter\(([\w.]+)\)", r"(\1 >= toDateTime(0) AND \1 <= toDateTime(4000000000))", sql)
    for name, value in (("run", run), ("baseline", baseline)):
        sql = sql.replace(f"${{{name}:sqlstring}}", f"'{value}'")
    assert "$" not in sql, sql
    return sql


class ClickHouseTest(Lake):
    def setUp(self):
        super().setUp()
        self.lake = self.folder / "lake"
        self.engine = lake_case.new_database()

    def add(self, place, run):
        self.check_code(self.call("lake", "add", place, "--out", self.lake, "--run", run), 0)

    def add_job(self, name="gpu", run=None):
        self.add(cli_case.REPOSITORY / JOBS / name, run or name)

    def value(self, sql):
        (row,) = self.engine.rows(sql)
        (value,) = row.values()
        return value

    def tables(self):
        return re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", (SQL / "schema.sql").read_text())

    def numbers(self, table):
        """Number of rows, and a sum over all that they contain."""
        return self.engine.rows(f"SELECT count() AS rows, sum(cityHash64(tuple(* EXCEPT loaded_at))) AS sum FROM {table}")

    def test_every_row_of_the_lake_is_loaded_with_all_its_values(self):
        for name in RECORDINGS:
            trace = shutil.copytree(recorded(name), self.folder / name)
            self.check_code(self.call("finalize", trace), 0)  # findings
            self.add(trace, name)
        self.add_job("backward_host")
        self.engine.load(self.lake)
        empty = set()
        for table in self.tables():
            columns = [row["column_name"] for row in self.ask(self.lake, f"DESCRIBE {table}")]
            names = ", ".join(f'"{name}"' for name in sorted(columns))
            ours = self.ask(self.lake, f"SELECT {names} FROM {table}")
            self.assertEqual(counted(self.engine.rows(f"SELECT {names} FROM {table}")), counted(ours), table)
            columns_there = {row["name"] for row in self.engine.rows(f"DESCRIBE {table}")}
            self.assertEqual(columns_there - {"host"}, set(columns) - {"host"} | {"loaded_at"}
                             | ({"began"} if table == "processes" else set()), table)
            empty |= set() if ours else {table}
        self.assertEqual(empty, set())

    def test_hosts_are_those_of_the_processes(self):
        self.add_job()
        self.engine.load(self.lake)

        pairs = self.engine.rows("SELECT DISTINCT process, host FROM kernels ORDER BY process")

        self.assertEqual(pairs, self.engine.rows("SELECT process, host FROM processes ORDER BY process"))
        self.assertEqual(len(pairs), 2)

    def test_a_run_that_is_loaded_again_replaces_its_rows(self):
        self.add_job("gpu", OTHER_RUN)
        self.add_job("none")
        self.engine.load(self.lake)
        before = {table: self.numbers(table) for table in self.tables()}

        self.engine.load(self.lake, "--run", OTHER_RUN)

        self.assertEqual({table: self.numbers(table) for table in self.tables()}, before)
        self.assertEqual({row["run"] for row in self.engine.rows("SELECT DISTINCT run FROM kernels")}, {OTHER_RUN, "none"})

    def test_an_interrupted_load_shows_no_process_and_is_repeated(self):
        self.add_job()
        self.engine.load(self.lake)
        before = {table: self.numbers(table) for table in self.tables()}
        parts = statements(load_statements(self.lake) + "\n")

        for statement in parts[:-1]:
            self.engine.run(statement)

        self.assertEqual(self.value("SELECT count() FROM processes"), 0)
        self.engine.load(self.lake)
        self.assertEqual({table: self.numbers(table) for table in self.tables()}, before)

    def test_rows_of_a_process_that_was_replaced_are_not_loaded(self):
        traces = self.folder / "job"
        for rank in (0, 1):
            place = traces / f"rank={rank}"
            place.mkdir(parents=True)
            lines = self.lines_of_job(rank)
            (place / "trace-00000.ndjson").write_text("".join(lines[:len(lines) // 2] if rank else lines))
        self.add(traces, "job")
        (traces / "rank=1" / "trace-00000.ndjson").write_text("".join(self.lines_of_job(1)))
        self.add(traces, "job")  # rank 1 in a part of its own; the part of both holds one that counts

        self.engine.load(self.lake)

        self.assertEqual(self.value("SELECT count() FROM processes"), 2)
        for table in ("kernels", "launches", "rank_module"):
            self.assertEqual(self.engine.rows(f"SELECT rank, count() AS n FROM {table} GROUP BY rank ORDER BY rank"),
                             self.ask(self.lake, f"SELECT rank, count(*) AS n FROM {table} GROUP BY rank ORDER BY rank"))

    def lines_of_job(self, rank):
        file = cli_case.REPOSITORY / JOBS / f"gpu/rank={rank}/trace-00000.ndjson.zst"
        done = subprocess.run(["zstd", "-dcq", file], text=True, capture_output=True, check=True)
        return done.stdout.splitlines(keepends=True)

    def test_a_question_about_one_run_reads_the_rows_of_that_run_only(self):
        for name in ("none", "layer", "copies"):
            self.add_job(name)
        self.engine.load(self.lake)
        views = {"kernels": "kernels", "modules": "rank_module", "waits": "collectives", "stragglers": "collectives",
                 "causes": "rank_module", "slow_iterations": "iterations"}
        for view, table in views.items():
            plan = self.engine.run(f"EXPLAIN indexes = 1 SELECT * FROM {view} WHERE run = 'none'", "TSVRaw")
            parts = re.findall(r"ReadFromMergeTree \(\w+\.(\w+)\)\n(?:.*\n)*?\s*Parts: (\d+) ", plan)
            self.assertEqual({of: count for of, count in parts if count != "1"}, {}, (view, plan))
            self.assertIn((table, "1"), parts, plan)
            self.assertEqual(self.value(f"SELECT uniqExact(run) FROM {table}"), 3)

    def test_a_run_or_a_lake_that_is_not_there_is_said(self):
        self.add_job()
        for lake, options, said in ((self.lake, ("--run", "other"), "no run other in"), (self.folder, (), "no lake")):
            with self.assertRaises(subprocess.CalledProcessError) as refused:
                load_statements(lake, *options)
            self.assertEqual((refused.exception.returncode, refused.exception.stdout), (3, ""))
            self.assertIn(said, refused.exception.stderr)

    def test_events_go_before_sums(self):
        self.add_job()
        self.engine.load(self.lake)
        expected = {"kernels": self.numbers("kernels"), "rank_module": self.numbers("rank_module")}

        for table in expected:  # the same rows as of another run, loaded 31 days ago
            self.engine.run(f"INSERT INTO {table} SELECT * REPLACE ('old' AS run, now() - INTERVAL 31 DAY AS loaded_at) "
                            f"FROM {table}; OPTIMIZE TABLE {table} FINAL")

        self.assertEqual(self.numbers("kernels"), expected["kernels"])
        self.assertEqual(self.numbers("rank_module")[0]["rows"], 2 * expected["rank_module"][0]["rows"])

    def test_a_lake_in_a_bucket_is_read_by_s3(self):
        self.add_job()
        for place in ("https://bucket.s3.eu-west-1.amazonaws.com/lake", "s3://bucket/lake"):
            parts = statements(load_statements(self.lake, "--from", place, "--cluster", "gpus") + "\n")

            for statement in parts:
                self.engine.run("EXPLAIN AST " + statement)

            self.assertTrue(all(f"s3('{place}/v1/" in one for one in parts if "INSERT" in one))
            self.assertTrue(all("ON CLUSTER gpus" in one for one in parts if "ALTER" in one))
        with self.assertRaises(ClickHouseError):
            self.engine.run("EXPLAIN AST " + parts[-1].replace("SELECT", "SELEKT"))

    def test_a_cluster_has_the_same_tables_by_run_and_host(self):
        parts = statements((SQL / "cluster.sql").read_text())
        tables = set()
        for statement in parts:
            self.engine.run("EXPLAIN AST " + statement)
            found = re.match(r"CREATE TABLE IF NOT EXISTS (\w+) ON CLUSTER '{cluster}' AS rangefinder\.(\w+)\n"
                             r"  ENGINE = Distributed\('{cluster}', rangefinder, (\w+), cityHash64\(run, host\)\)$",
                             statement)
            self.assertIsNotNone(found, statement)
            self.assertEqual(len(set(found.groups())), 1)
            tables.add(found[1])
        self.assertEqual(tables, set(self.tables()))

    def test_statements_for_spark_and_trino_name_tables_and_columns_of_the_lake(self):
        spark = re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+) USING parquet LOCATION 's3a://bucket/lake/v1/(\w+)';$",
                           (SQL.parent / "spark.sql").read_text(), re.MULTILINE)
        self.assertEqual(spark, [(name, name) for name in self.tables()])
        trino = re.findall(r"^CREATE TABLE IF NOT EXISTS hive\.rangefinder\.(\w+) \(\n(.*?)\n\) WITH [^\n]*/v1/(\w+)'",
                           (SQL.parent / "trino.sql").read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreater(len(trino), 4)
        self.add_job()
        for table, columns, folder in trino:
            names = set(re.findall(r"(\w+) (?:bigint|boolean|decimal\(20, 0\)|double|integer|varchar)", columns))
            known = {row["column_name"] for row in self.ask(self.lake, f"DESCRIBE {table}")}
            self.assertEqual((names, folder), (known - {"duration_ns"}, table))

    def test_views_over_a_remote_shard_give_the_same_rows(self):
        """Its engine is that of Distributed tables; the shard is this process."""
        for name in ("none", "layer"):
            self.add_job(name)
        self.engine.load(self.lake)
        asked = [f"SELECT * FROM {name}" for name in ("modules", "waits", "stragglers", "causes", "slow_iterations",
                                                       "regressions(run_a = 'none', run_b = 'layer')")]
        expected = [self.engine.rows(query) for query in asked]
        shard = self.value("SELECT currentDatabase() AS name")

        self.engine.run(f"CREATE DATABASE {shard}_all; USE {shard}_all")
        for table in self.tables():
            self.engine.run(f"CREATE TABLE {table} AS remote('localhost', '{shard}', '{table}')")
        self.engine.run((SQL / "views.sql").read_text())

        for query, rows in zip(asked, expected):
            self.assertGreater(len(rows), 1, query)
            self.assertEqual(counted(self.engine.rows(query)), counted(rows), query)

    def test_joins_of_views_are_global(self):
        """What a shard lacks is sent to it."""
        views = (SQL / "views.sql").read_text()
        self.assertEqual(len(re.findall(r"\bJOIN\b", views.split("\n\n", 1)[1])) - views.count("ARRAY JOIN"),
                         views.count("GLOBAL INNER JOIN") + views.count("GLOBAL LEFT JOIN"))

    def test_queries_of_the_dashboard_run_and_give_the_fields_that_panels_show(self):
        for name in ("none", "layer"):
            self.add_job(name)
        trace = shutil.copytree(recorded("resnet_workers_0"), self.folder / "trace")
        self.check_code(self.call("finalize", trace), 0)
        self.add(trace, "found")
        self.engine.load(self.lake)
        board = json.loads((cli_case.REPOSITORY / "tools/dashboards/grafana-clickhouse.json").read_text(encoding="utf-8"))
        shown = set()
        for variable in board["templating"]["list"][1:]:
            self.assertEqual({row["run"] for row in self.engine.rows(variable["query"])}, {"none", "layer", "found"})
        for panel in board["panels"]:
            (target,) = panel["targets"]
            for run in ("layer", "found"):
                rows = self.engine.rows(without_macros(target["rawSql"], run, "none"))
                if rows:
                    shown.add(panel["title"])
                    self.check_panel(panel, target, rows)
        self.assertEqual({panel["title"] for panel in board["panels"]} - shown, set())

    def check_panel(self, panel, target, rows):
        fields = [override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]]
        fields += [panel["options"]["xField"]] if panel["type"] == "trend" else []
        fields += ["time"] if target["queryType"] == "timeseries" else []
        self.assertEqual(set(fields) - set(rows[0]), set(), panel["title"])

    @classmethod
    def setUpClass(cls):
        if shutil.which("zstd") is None:
            raise cls.skipTest(cls, "there is no zstd program")


if __name__ == "__main__":
    lake_case.main(__doc__, needs_clickhouse=True)
