#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the statements that load runs of a lake into ClickHouse (tables of schema.sql).

    python3 load.py LAKE | clickhouse-client --database rangefinder

Reads the manifests in LAKE, so that only rows that count are loaded. The Parquet files are read by the server, where
--from says: a folder as it sees it, or the address of a bucket (https://… or s3://…), read by s3(). A run replaces
what was loaded of it before. Its rows in `processes` go first and come last: a run that is there is complete.
"""
import argparse
import json
import pathlib
import re
import sys

SCHEMA = pathlib.Path(__file__).resolve().parent / "schema.sql"


def text(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def tables():
    """Of each table: the type of each column that a file has."""
    found = {}
    for name, body in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+) \(\n(.*?)\n\)", SCHEMA.read_text(), re.DOTALL):
        columns = re.findall(r"^  (\w+) (.+?)(?: CODEC.*)?,?$", body, re.MULTILINE)
        found[name] = {column: kind for column, kind in columns if " DEFAULT " not in kind and " ALIAS " not in kind}
    return found


def manifests(lake):
    """By run: the manifests of its processes, and the name of its folders."""
    runs = {}
    for file in sorted((lake / "v1" / "processes").glob("run=*/[!.]*.json")):
        manifest = json.loads(file.read_text(encoding="utf-8"))
        runs.setdefault(manifest["run"], (file.parent.name, []))[1].append(manifest | {"process": int(file.stem, 16)})
    return runs


def source(place, files, columns):
    """The rows of Parquet files."""
    kinds = text(", ".join(f"{name} {kind}" for name, kind in columns.items()))
    names = text(f"{place}/{files}")
    return f"s3({names}, 'Parquet', {kinds})" if "://" in place else f"file({names}, 'Parquet', {kinds})"


def insert(table, columns, run, read, where):
    """`read(table, columns)`: its rows in files."""
    names = [name for name in columns if name not in ("run", "host")]
    in_file = {name.replace("duration_ns", "end_ns"): columns[name] for name in names}
    values = ", ".join("end_ns - start_ns" if name == "duration_ns" else name for name in names)
    hosts = read("processes", {"process": "UInt64", "host": "LowCardinality(String)"})
    return (f"INSERT INTO {table} (run, host, {', '.join(names)}) SELECT {text(run)}, h.host, {values} "
            f"FROM {read(table, in_file)} AS f INNER JOIN {hosts} AS h USING (process){where};")


def statements(place, run, folder, processes, schema, on_cluster):
    parts = {}
    for process in processes:
        parts.setdefault(process["part"], []).append(process)
    whole = [part for part, counted in parts.items() if len(counted) == counted[0]["part_processes"]]
    groups = [(whole, "")] if whole else []
    groups += [([part], f" WHERE process IN ({', '.join(str(one['process']) for one in counted)})")
               for part, counted in parts.items() if part not in whole]
    for table in schema:
        yield f"ALTER TABLE {table}{on_cluster} DROP PARTITION {text(run)};"
    for table in (*list(schema)[1:], "processes"):
        for names, where in groups:
            with_rows = [name for name in names if table in parts[name][0]["tables"]]
            if with_rows:
                def read(name, columns):
                    files = ",".join(f"part-{part}.parquet" for part in with_rows)
                    return source(place, f"v1/{name}/{folder}/{{{files}}}", columns)
                yield insert(table, schema[table], run, read, where)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", type=pathlib.Path)
    parser.add_argument("--run", action="append", help="only this run [every run]; may be repeated")
    parser.add_argument("--from", dest="place", help="where the server reads the lake [LAKE]")
    parser.add_argument("--cluster", help="drop what was loaded before on all servers of this cluster")
    options = parser.parse_args()
    runs = manifests(options.lake)
    missing = [run for run in options.run or () if run not in runs]
    if missing or not runs:
        lacking = f"run {', '.join(missing)}" if missing else "lake with runs"
        print(f"load.py: there is no {lacking} in {options.lake}: see `rangefinder lake list`", file=sys.stderr)
        return 3
    for run in options.run or runs:
        folder, processes = runs[run]
        place = (options.place or str(options.lake.resolve())).rstrip("/")
        on_cluster = f" ON CLUSTER {options.cluster}" if options.cluster else ""
        print("\n".join(statements(place, run, folder, processes, tables(), on_cluster)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
