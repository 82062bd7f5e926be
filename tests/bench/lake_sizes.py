# SPDX-License-Identifier: Apache-2.0
"""lake_sizes.py RANGEFINDER REPLAY LIBDUCKDB LIBCHDB REPOSITORY [RECORDING…]: bytes a kernel in each form.

Replays recorded runs, adds each to a lake and loads that into ClickHouse. Prints for each: kernels, kernels a second,
bytes a kernel of the lines, of events in Parquet and in ClickHouse, and bytes of sums a process. From the means it
prints what 1,000 ranks × 1 hour take by mode. Recordings are short: footers of files count, so long runs take less.
"""
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import lake_speed

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools" / "lake"))
from clickhouse import ClickHouse  # noqa: E402

RECORDINGS = ("hf_rtdetr_sampled", "hf_rtdetr_trace", "resnet_workers_8", "case_bert_amp", "decoder_sampled")
SUMS = ("processes", "rank_module", "rank_kernel", "collectives", "iterations", "findings", "loss")
# The part of the time in which kernels are recorded.
MODES = {"full": 1, "windows (10 s of 10 min)": 10 / 600, "monitor (100 ms of 10 s)": 0.1 / 10}
RANKS, SECONDS = 1000, 3600


def split(sizes):
    """Bytes of events and of sums."""
    sums = sum(size for table, size in sizes.items() if table in SUMS)
    return sum(sizes.values()) - sums, sums


def parquet_sizes(lake):
    return {table.name: sum(file.stat().st_size for file in table.rglob("*.parquet"))
            for table in (lake / "v1").iterdir()}


def clickhouse_sizes(engine, name):
    rows = engine.rows("SELECT table, sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND partition = "
                       f"'{name}' GROUP BY table")
    return {row["table"]: row["bytes"] for row in rows}


def size_text(size):
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    rangefinder, replay, duckdb, clickhouse, repository = sys.argv[1:6]
    found = []
    with tempfile.TemporaryDirectory() as temporary, ClickHouse(clickhouse, temporary + "/clickhouse") as engine:
        engine.create()
        for name in sys.argv[6:] or RECORDINGS:
            trace, lake = pathlib.Path(temporary) / name, pathlib.Path(temporary) / f"lake-{name}"
            subprocess.run([replay, f"{repository}/tests/replay/{name}/recording.zst", "--out", trace], check=True,
                           capture_output=True)
            lake_speed.measured([rangefinder, "lake", "add", trace, "--out", lake, "--run", name],
                                RANGEFINDER_DUCKDB=duckdb)
            engine.load(lake)
            (row,) = engine.rows("SELECT count() AS n, (max(end_ns) - min(start_ns)) / 1e9 AS s FROM kernels "
                                 f"WHERE run = '{name}'")
            kernels, seconds = row.values()
            files, tables = split(parquet_sizes(lake)), split(clickhouse_sizes(engine, name))
            lines = lake_speed.megabytes(trace, "*.ndjson") * 1e6
            found.append((kernels / seconds, lines / kernels, files[0] / kernels, tables[0] / kernels, files[1],
                          tables[1]))
            print("{}: {:,} kernels, {:,.0f} a second; {:.0f} B a kernel, Parquet {:.1f}, ClickHouse {:.1f}; sums "
                  "{:,.0f} B, {:,.0f} B".format(name, kernels, *found[-1]), flush=True)
            shutil.rmtree(trace)
    rate, lines, files, tables, file_sums, table_sums = map(statistics.mean, zip(*found))
    print(f"mean: {rate:,.0f} kernels a second; {lines:.0f} B a kernel, Parquet {files:.1f}, ClickHouse {tables:.1f}; sums "
          f"{file_sums:,.0f} B, {table_sums:,.0f} B a process")
    for mode, part in MODES.items():
        kernels = rate * RANKS * SECONDS * part
        in_files, in_tables = kernels * files + RANKS * file_sums, kernels * tables + RANKS * table_sums
        print(f"{mode}: {kernels / 1e9:.3g} billion kernels; lines {size_text(kernels * lines)}, Parquet "
              f"{size_text(in_files)}, ClickHouse {size_text(in_tables)}")
    print(f"sums alone: Parquet {size_text(RANKS * file_sums)}, ClickHouse {size_text(RANKS * table_sums)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
