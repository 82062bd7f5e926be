# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `rangefinder lake`, `rangefinder sql` and tools/sql: the libraries of DuckDB and ClickHouse,
queries.

ClickHouse's takes 570 MB: it is installed if RANGEFINDER_TEST_CLICKHOUSE=1 is set, and used if it is there.
"""
import itertools
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import export_case  # noqa: E402
import npm_install  # noqa: E402
from clickhouse import ClickHouse  # noqa: E402

PACKAGE = "@duckdb/node-bindings-linux-x64"
CLICKHOUSE_PACKAGE = "@chdb/lib-linux-x64-gnu"
_library = ""
_clickhouse = None  # open, or None
_numbers = itertools.count()


class Lake(export_case.Export):
    def call(self, *arguments, cwd=None, **environment):
        return super().call(*arguments, cwd=cwd, **{"RANGEFINDER_DUCKDB": _library, **environment})

    def ask(self, place, query):
        """Rows of the answer."""
        done = self.call("sql", place, query, "--json")
        self.check_code(done, 0)
        return json.loads(done.stdout)

    def one(self, place, query):
        """The only value of the answer."""
        (row,) = self.ask(place, query)
        (value,) = row.values()
        return value

    def refused(self, place, query, *options):
        """What is said about a query that does not run."""
        done = self.call("sql", place, query, *options)
        self.check_code(done, 2)
        self.assertEqual(done.stdout, "")
        return done.stderr


def duckdb_library():
    return _library


def new_database():
    """ClickHouse with the tables in a database of its own. None: it is not installed."""
    if _clickhouse:
        name = f"test_{next(_numbers)}"
        _clickhouse.run(f"CREATE DATABASE {name}; USE {name}")
        _clickhouse.create()
    return _clickhouse


def install_clickhouse(work):
    """The path of ClickHouse's library, or None."""
    path = work / "node_modules" / CLICKHOUSE_PACKAGE / "libchdb.so"
    if os.environ.get("RANGEFINDER_TEST_CLICKHOUSE") == "1":
        npm_install.install(CLICKHOUSE_PACKAGE, None, HERE / "chdb", work)
    return path if path.exists() else None


def main(doc, needs_clickhouse=False):
    """Like export_case.main, with a folder for DuckDB as fourth argument."""
    global _clickhouse, _library
    if len(sys.argv) < 5:
        sys.exit(doc)
    work = pathlib.Path(sys.argv.pop(4))
    npm_install.install(PACKAGE, None, HERE, work)
    _library = str((work / "node_modules" / PACKAGE / "libduckdb.so").resolve())
    if not os.path.exists(_library):
        npm_install.skip(f"{PACKAGE} has no libduckdb.so")
    clickhouse = install_clickhouse(work.parent / "clickhouse")
    if not clickhouse and needs_clickhouse:
        npm_install.skip("ClickHouse is not installed: set RANGEFINDER_TEST_CLICKHOUSE=1 (570 MB by npm)")
    if not clickhouse:
        export_case.main(doc)
    with tempfile.TemporaryDirectory() as folder, ClickHouse(clickhouse, folder) as _clickhouse:
        export_case.main(doc)
