# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `rangefinder lake` and `rangefinder sql`: DuckDB's library, queries."""
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import export_case  # noqa: E402
import npm_install  # noqa: E402

PACKAGE = "@duckdb/node-bindings-linux-x64"
_library = ""


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


def library():
    return _library


def main(doc):
    """Like export_case.main, with a folder for DuckDB as fourth argument."""
    global _library
    if len(sys.argv) < 5:
        sys.exit(doc)
    work = pathlib.Path(sys.argv.pop(4))
    npm_install.install(PACKAGE, None, HERE, work)
    _library = str((work / "node_modules" / PACKAGE / "libduckdb.so").resolve())
    if not os.path.exists(_library):
        npm_install.skip(f"{PACKAGE} has no libduckdb.so")
    export_case.main(doc)
