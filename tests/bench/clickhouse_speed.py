# SPDX-License-Identifier: Apache-2.0
"""clickhouse_speed.py RANGEFINDER LIBDUCKDB LIBCHDB [--ranks 64] [--kernels 20000] [--work DIR] [--rounds 3] [--check]

Loads a lake of made ranks (lake_speed.py) into ClickHouse and into a database of DuckDB, each in a process of its own,
in turn, and asks both for the straggler, the cause and the heaviest kernels. Prints CPU time, memory and size, the
ratio of each round and its median. DuckDB answers from the Parquet files, as `rangefinder sql` does: a query's time is
that of the process less that of `SELECT 1`. ClickHouse's is taken in the process, after a `SELECT 1`. Both engines have
two threads. --check: exit code 1 if a median exceeds 1.5, the goal for 1,000 ranks.
"""
import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import lake_speed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools" / "lake"))
from clickhouse import ClickHouse  # noqa: E402

GOAL = 1.5
NOTHING = "SELECT 1 AS one"
# The ORDER BY of a view does not hold for queries of it.
QUERIES = {"straggler": "SELECT rank, last_in, made_wait_ns FROM stragglers ORDER BY made_wait_ns DESC LIMIT 1",
           "cause": "SELECT rank, module, cause, excess_ns FROM causes ORDER BY excess_ns DESC LIMIT 1",
           "heaviest kernels": lake_speed.QUERIES["heaviest kernels"]}


def load_duckdb(library, lake, out):
    """Every table as it is in the files, which are sorted."""
    run = lake_speed.duckdb_runner(library, str(out))
    for table in sorted(path.name for path in (lake / "v1").iterdir() if any(path.rglob("*.parquet"))):
        run(f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{lake}/v1/{table}/*/*.parquet', "
            "hive_partitioning = true)")
    run("CHECKPOINT")


def load_clickhouse(library, lake, out):
    with ClickHouse(library, out) as engine:
        engine.run("SET max_threads = 2, max_insert_threads = 2")
        engine.create()
        engine.load(lake)
        while engine.rows("SELECT count() AS n FROM system.merges")[0]["n"]:
            pass  # merges are a part of the cost


def ask_clickhouse(library, out, query):
    """Prints rows, then CPU and wall seconds."""
    with ClickHouse(library, out) as engine:
        engine.run("SET max_threads = 2; " + NOTHING)
        begun = time.process_time(), time.monotonic()
        print(engine.run(query, "CSV"))
        print(time.process_time() - begun[0], time.monotonic() - begun[1])


def sizes_of(library, out):
    with ClickHouse(library, out) as engine:
        for row in engine.rows("SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes, count() AS parts "
                               "FROM system.parts WHERE active GROUP BY table ORDER BY bytes DESC"):
            print(f"  {row['table']}: {row['rows']:,} rows, {row['bytes'] / 1e6:.2f} MB, {row['parts']} parts")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.lake = folder / "lake"
        self.misses = []

    def part(self, name, *words):
        """What a process of this file costs."""
        return lake_speed.measured([sys.executable, "-B", __file__, self.options.rangefinder, self.options.duckdb,
                                    self.options.clickhouse, "--part", name, *words])

    def duckdb_asked(self, query):
        return lake_speed.measured([self.options.rangefinder, "sql", self.lake, query, "--csv"],
                                   RANGEFINDER_DUCKDB=self.options.duckdb)

    def clickhouse_asked(self, database, query):
        _, memory, _, said = self.part("ask", database, query)
        cpu, wall = said.split()[-2:]
        return float(cpu), memory, float(wall), said

    def compare(self, what, ours, theirs):
        """ours(), theirs(): cost of ClickHouse and of DuckDB."""
        ratios = []
        for _ in range(self.options.rounds):
            pair = theirs(), ours()
            ratios.append(pair[1][0] / pair[0][0])
            for name, (cpu, memory, wall, _) in zip(("DuckDB", "ClickHouse"), pair):
                print(f"{what}, {name}: {cpu:.2f} CPU s, {wall:.2f} s, {memory:,.0f} MiB", flush=True)
        median = statistics.median(ratios)
        print(f"{what}: {median:.2f} times DuckDB's CPU time ({min(ratios):.2f} to {max(ratios):.2f})", flush=True)
        if median > GOAL:
            self.misses.append(what)

    def load(self, name, out):
        if out.is_dir():
            shutil.rmtree(out)
        out.unlink(missing_ok=True)
        return self.part(name, self.lake, out)

    def run(self):
        work = self.options.work or self.folder / "traces"
        lake_speed.make(work, self.options.ranks, self.options.kernels)
        lake_speed.measured([self.options.rangefinder, "lake", "add", work, "--out", self.lake],
                            RANGEFINDER_DUCKDB=self.options.duckdb)
        database, file = self.folder / "clickhouse", self.folder / "duckdb"
        self.compare("load", lambda: self.load("load-clickhouse", database), lambda: self.load("load-duckdb", file))
        lines, files = lake_speed.megabytes(work, "*.ndjson"), lake_speed.megabytes(self.lake, "*.parquet")
        print(f"{self.options.ranks} ranks of {self.options.kernels:,} kernels: NDJSON {lines:,.1f} MB, Parquet "
              f"{files:.1f}, DuckDB {file.stat().st_size / 1e6:.1f}, ClickHouse:", flush=True)
        print(self.part("sizes", database)[3], flush=True)
        for name, query in QUERIES.items():
            print("DuckDB: " + self.duckdb_asked(query)[3].splitlines()[1][:110])
            print("ClickHouse: " + self.clickhouse_asked(database, query)[3].splitlines()[0][:110], flush=True)
            self.compare(name, lambda q=query: self.clickhouse_asked(database, q),
                         lambda q=query: less(self.duckdb_asked(q), self.duckdb_asked(NOTHING)))
        return self.misses


def less(cost, start):
    return (max(cost[0] - start[0], 0.01), cost[1], cost[2] - start[2], cost[3])


def run_part(options):
    name, words = options.part[0], options.part[1:]
    if name == "ask":
        ask_clickhouse(options.clickhouse, *words)
    elif name == "sizes":
        sizes_of(options.clickhouse, *words)
    elif name == "load-clickhouse":
        load_clickhouse(options.clickhouse, *words)
    else:
        load_duckdb(options.duckdb, *map(pathlib.Path, words))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("rangefinder", "duckdb", "clickhouse"):
        parser.add_argument(name)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels", type=int, default=20_000)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        return run_part(options)
    with tempfile.TemporaryDirectory() as folder:
        misses = Bench(options, pathlib.Path(folder)).run()
    if misses:
        print(f"over {GOAL} times DuckDB's CPU time: {', '.join(misses)}")
    return 1 if misses and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
