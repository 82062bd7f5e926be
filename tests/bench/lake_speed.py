# SPDX-License-Identifier: Apache-2.0
"""lake_speed.py RANGEFINDER LIBDUCKDB [--ranks 64] [--kernels 20000] [--work DIR] [--sql DIR]: cost of
`lake add` and of queries.

Makes traces of many ranks, eight a host: modules of 40 layers with a launch a kernel, a collective every 20 kernels;
one rank's attention is 25 % slower, and the others wait for it. Adds them to a lake, and prints CPU time, memory and
size beside those of DuckDB's own typed scan of the same lines into sorted Parquet files (batches of 96 ranks), then
the time of three queries. The DIR of --work keeps the traces: they are made once. --sql: views.sql and parquet.sql of
tools/sql as of commit 421dce4, which `lake add` replaced, are timed too.
"""
import argparse
import ctypes
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

LAYERS, PARTS = 40, ("attention", "mlp")
COLUMNS = {"t": "VARCHAR", "start": "BIGINT", "end": "BIGINT", "gpu": "UINTEGER", "ctx": "UINTEGER", "stream": "UINTEGER",
           "corr": "UINTEGER", "path": "UINTEGER", "range": "UBIGINT", "name": "VARCHAR", "config": "UINTEGER",
           "thread": "UINTEGER", "api": "VARCHAR", "id": "UBIGINT", "demangled": "VARCHAR", "parent": "UINTEGER"}
TABLES = {"kernel": ("start, \"end\", gpu, ctx, stream, corr, path, range, name, config", "gpu, stream, start"),
          "launch": ("start, \"end\", thread, path, range, api, corr, ctx", "thread, start"),
          "range": ("start, \"end\", id, thread, path", "thread, start")}
QUERIES = {"straggler": "SELECT rank, last_in, made_wait_ns FROM stragglers LIMIT 1",
           "cause": "SELECT rank, module, cause, excess_ns FROM causes LIMIT 1",
           "heaviest kernels": "SELECT kernel, count(*) AS n, sum(duration_ns) AS ns FROM kernels GROUP BY kernel "
                               "ORDER BY ns DESC LIMIT 10"}


def names():
    lines = [{"t": "gpu", "id": 0, "name": "made", "uuid": "GPU-1", "compute_capability": [9, 0], "sm_count": 132,
              "memory_bytes": 141000000000, "l2_bytes": 60000000},
             {"t": "path", "id": 1, "parent": 0, "name": "step"}, {"t": "path", "id": 2, "parent": 1, "name": "layers"}]
    for layer in range(LAYERS):
        at = 3 + layer * 3
        lines.append({"t": "path", "id": at, "parent": 2, "name": str(layer)})
        lines += [{"t": "path", "id": at + 1 + i, "parent": at, "name": part} for i, part in enumerate(PARTS)]
    for i in range(1, 31):
        name = f"void cutlass::device_kernel<gemm_universal<tile_{i}_128x128x64, float16, warp_specialized>>(Params)"
        lines.append({"t": "kernel_name", "id": i, "mangled": f"_ZN7cutlass{i}", "demangled": name, "library": "CUTLASS",
                      "evidence": "cutlass"})
        lines.append({"t": "config", "id": i, "grid": [i * 4, 2, 1], "block": [384, 1, 1], "registers": 168})
    lines.append({"t": "kernel_name", "id": 31, "mangled": "nccl", "library": "NCCL", "evidence": "nccl",
                  "demangled": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"})
    lines.append({"t": "config", "id": 31, "grid": [24, 1, 1], "block": [544, 1, 1], "registers": 96})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def rank_lines(rank, late, kernels):
    """Lines of events: a collective ends on all ranks at once, so it lasts longer where work is done earlier."""
    rng, everyone = random.Random(rank), random.Random(-1)
    out, at, corr, rid, begun, done = [], 1_000_000, 0, 0, 1_000_000, 0
    while done < kernels:
        step = (rid := rid + 1)
        start_of_step = at
        for layer in range(LAYERS):
            for part in range(2):
                path, rid = 4 + layer * 3 + part, rid + 1
                own, begun = rid, at
                for _ in range(10):
                    corr, name = corr + 1, 1 + (corr * 7) % 30
                    out.append(f'{{"t":"launch","start":{at},"end":{at + 3100 + rng.randrange(900)},"thread":5,'
                               f'"path":{path},"range":{own},"api":"cuLaunchKernelEx","corr":{corr},"ctx":1}}\n')
                    took = 9_000 + rng.randrange(2_000)
                    took = took * 5 // 4 if rank == late and part == 0 else took
                    out.append(f'{{"t":"kernel","start":{at + 4000},"end":{at + 4000 + took},"gpu":{rank % 8},"ctx":1,'
                               f'"stream":7,"corr":{corr},"path":{path},"range":{own},"name":{name},"config":{name}}}\n')
                    at += 16_000
                    done += 1
                out.append(f'{{"t":"range","start":{begun},"end":{at - 100},"id":{own},"thread":5,"path":{path}}}\n')
            corr += 1
            wait = 0 if rank == late else 20_000 + rng.randrange(4_000)
            took = 30_000 + everyone.randrange(5_000) + wait
            out.append(f'{{"t":"launch","start":{at},"end":{at + 2500},"thread":5,"path":{3 + layer * 3},"range":{own},'
                       f'"api":"cuLaunchKernelEx","corr":{corr},"ctx":1}}\n')
            out.append(f'{{"t":"kernel","start":{at + 60_000 - took},"end":{at + 60_000},"gpu":{rank % 8},"ctx":1,'
                       f'"stream":13,"corr":{corr},"path":{3 + layer * 3},"range":{own},"name":31,"config":31}}\n')
            at += 61_000
        out.append(f'{{"t":"range","start":{start_of_step},"end":{at - 50},"id":{step},"thread":5,"path":1}}\n')
    return "".join(out)


def make(work, ranks, kernels):
    head, late = names(), ranks * 37 // 64
    for rank in range(ranks):
        folder = work / f"run=made/host=node{rank // 8}/rank={rank}/pid=7"
        if (folder / "trace-00000.ndjson").exists():
            continue
        header = {"t": "header", "schema": "rangefinder.trace", "version": "1.2", "segment": 0, "pid": 7, "parent_pid": 1,
                  "base_unix_ns": str(1700000000000000000 + rank), "base_monotonic_ns": "5", "tool_version": "0.2.0",
                  "host": f"node{rank // 8}", "executable": "/usr/bin/app", "command": ["app"], "counters": "off",
                  "rank": str(rank), "ranks": ranks}
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(header, separators=(",", ":")) + "\n" + head + rank_lines(rank, late, kernels)
        (folder / "part").write_text(text)
        (folder / "part").rename(folder / "trace-00000.ndjson")
    return late


def measured(command, **variables):
    """(CPU seconds, MiB resident, wall seconds, output)"""
    begun = time.monotonic()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, env=os.environ | variables) as child:
        said = child.stdout.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command}: {child.returncode}\n{said}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - begun, said


class Result(ctypes.Structure):
    _fields_ = [(f"field_{i}", ctypes.c_uint64) for i in range(6)]


def duckdb_runner(library, file=None):
    """run(sql): statements in a DuckDB of this process, with two threads. `file`: its database, or in memory."""
    duckdb = ctypes.CDLL(library)
    duckdb.duckdb_result_error.restype = ctypes.c_char_p
    database, connection = ctypes.c_void_p(), ctypes.c_void_p()
    assert duckdb.duckdb_open(file.encode() if file else None, ctypes.byref(database)) == 0
    assert duckdb.duckdb_connect(database, ctypes.byref(connection)) == 0

    def run(sql):
        result = Result()
        if duckdb.duckdb_query(connection, sql.encode(), ctypes.byref(result)) != 0:
            sys.exit(duckdb.duckdb_result_error(ctypes.byref(result)).decode())
        duckdb.duckdb_destroy_result(ctypes.byref(result))

    run("SET threads = 2")
    return run


def former_tables(library, work, out, folder):
    """The way before `lake add`: a scan for each of seven tables."""
    run = duckdb_runner(library)
    os.chdir(out)
    pathlib.Path("parquet").mkdir()
    run(f"SET VARIABLE traces = '{work}/**/trace-*.ndjson'")
    for name in ("views.sql", "parquet.sql"):
        run((folder / name).read_text())


def typed_scan(library, files, out):
    """DuckDB's own way: one typed scan, three sorted tables."""
    run = duckdb_runner(library)
    types = ", ".join(f"\"{name}\": '{kind}'" for name, kind in COLUMNS.items())
    for first in range(0, len(files), 96):
        batch = ", ".join(f"'{file}'" for file in files[first:first + 96])
        run(f"CREATE OR REPLACE TABLE lines AS SELECT *, regexp_extract(filename, 'rank=([0-9]+)', 1)::INTEGER AS rank "
            f"FROM read_json([{batch}], format = 'newline_delimited', columns = {{{types}}}, filename = true, "
            "hive_partitioning = false)")
        for kind, (columns, order) in TABLES.items():
            run(f"COPY (SELECT rank, {columns} FROM lines WHERE t = '{kind}' ORDER BY rank, {order}) TO "
                f"'{out}/{kind}-{first}.parquet' (FORMAT parquet, COMPRESSION zstd)")


def megabytes(folder, pattern):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob(pattern)) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rangefinder")
    parser.add_argument("duckdb")
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--kernels", type=int, default=20_000)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--sql", type=pathlib.Path)
    parser.add_argument("--scan", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scan and options.sql:
        return former_tables(options.duckdb, options.work.resolve(), options.scan, options.sql.resolve())
    if options.scan:
        return typed_scan(options.duckdb, sorted(str(path) for path in options.work.rglob("*.ndjson")), options.scan)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary) / "traces"
        late = make(work, options.ranks, options.kernels)
        size = megabytes(work, "*.ndjson")
        print(f"{options.ranks} ranks of {options.kernels} kernels, {size:,.0f} MB; rank {late} is late", flush=True)
        scan = pathlib.Path(temporary) / "scan"
        scan.mkdir()
        theirs = measured([sys.executable, __file__, options.rangefinder, options.duckdb, "--work", work, "--scan",
                           scan])
        print(f"typed scan: {theirs[0]:.1f} CPU s, {theirs[1]:,.0f} MiB, {theirs[2]:.1f} s, "
              f"{megabytes(scan, '*.parquet'):.1f} MB", flush=True)
        if options.sql:
            (former := pathlib.Path(temporary) / "former").mkdir()
            before = measured([sys.executable, __file__, options.rangefinder, options.duckdb, "--work", work, "--scan",
                               former, "--sql", options.sql])
            print(f"parquet.sql: {before[0]:.1f} CPU s, {before[1]:,.0f} MiB, {before[2]:.1f} s, "
                  f"{megabytes(former, '*.parquet'):.1f} MB", flush=True)
        lake = pathlib.Path(temporary) / "lake"
        ours = measured([options.rangefinder, "lake", "add", work, "--out", lake], RANGEFINDER_DUCKDB=options.duckdb)
        files = megabytes(lake, "*.parquet")
        print(f"lake add: {ours[0]:.1f} CPU s ({ours[0] / theirs[0]:.2f} of it), {ours[1]:,.0f} MiB, {ours[2]:.1f} s, "
              f"{files:.1f} MB ({100 * files / size:.1f} %), {sum(1 for _ in lake.rglob('*.parquet'))} files", flush=True)
        for table in sorted(path for path in (lake / "v1").iterdir() if path.is_dir()):
            print(f"  {table.name}: {megabytes(table, '*.parquet'):.1f} MB")
        for name, query in QUERIES.items():
            cpu, memory, wall, said = measured([options.rangefinder, "sql", lake, query, "--csv"],
                                               RANGEFINDER_DUCKDB=options.duckdb)
            print(f"{name}: {wall:.2f} s, {cpu:.2f} CPU s, {memory:,.0f} MiB: {said.splitlines()[1][:110]}", flush=True)
        shutil.rmtree(lake)
    return 0


if __name__ == "__main__":
    sys.exit(main())
