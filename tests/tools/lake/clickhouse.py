# SPDX-License-Identifier: Apache-2.0
"""ClickHouse's engine in this process: the library chDB, which has no server.

    with ClickHouse(library, folder) as engine:
        engine.run((SQL / "schema.sql").read_text())
        rows = engine.rows("SELECT * FROM stragglers")
"""
import ctypes
import json
import pathlib
import subprocess
import sys

SQL = pathlib.Path(__file__).resolve().parents[3] / "tools" / "sql" / "clickhouse"


class ClickHouseError(Exception):
    pass


def _load(library):
    engine = ctypes.CDLL(library)
    engine.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
    engine.chdb_close_conn.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
    engine.chdb_query_n.restype = ctypes.c_void_p
    engine.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    for name, kind in (("error", ctypes.c_char_p), ("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t)):
        call = getattr(engine, "chdb_result_" + name)
        call.restype, call.argtypes = kind, [ctypes.c_void_p]
    engine.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
    return engine


class ClickHouse:
    """One at a time in a process."""

    def __init__(self, library, folder, *arguments):
        self._engine = _load(library)
        words = [word.encode() for word in ("clickhouse", f"--path={folder}", *arguments)]
        self._connection = self._engine.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words))
        if not self._connection:
            raise ClickHouseError(f"cannot open {folder}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._engine.chdb_close_conn(self._connection)

    def run(self, sql, form="JSONEachRow"):
        """The text that statements answer."""
        words = sql.encode()
        result = self._engine.chdb_query_n(self._connection.contents, words, len(words), form.encode(), len(form))
        try:
            error = self._engine.chdb_result_error(result)
            if error:
                raise ClickHouseError(error.decode())
            size = self._engine.chdb_result_length(result)
            return ctypes.string_at(self._engine.chdb_result_buffer(result), size).decode() if size else ""
        finally:
            self._engine.chdb_destroy_query_result(result)

    def rows(self, sql):
        return [json.loads(line) for line in self.run(sql).splitlines()]

    def create(self):
        """The tables and views, in the database of the connection."""
        for name in ("schema.sql", "views.sql"):
            self.run((SQL / name).read_text())

    def load(self, lake, *options):
        self.run(load_statements(lake, *options))


def load_statements(lake, *options):
    return subprocess.run([sys.executable, "-B", SQL / "load.py", lake, *options], text=True, capture_output=True,
                          check=True).stdout
