# SPDX-License-Identifier: Apache-2.0
"""Traces for compare_builds.py: the recordings of tests/replay, and variants that are cut, damaged, reordered or in
several segments."""
import csv
import functools
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
EXAMPLE = TESTS.parent / "schema/examples"  # every kind of line
RANKS = TESTS / "unit/analysis/ranks/recorded_ranks"

QUICK = ("case_overlap", "case_starved_pinned", "case_transpose", "decoder_exact", "graph_replay",
         "multi_stream_ranges", "nvtx_shapes", "rtdetr_unfused", "example", "job")
SERVED = ("case_bert_amp", "case_overlap", "case_overlap.broken", "graph_replay", "nvtx_shapes", "rtdetr_exact")
JOB = ("rtdetr_exact", "rtdetr_unfused")
# Their variants, and those of other recordings.
ALL_VARIANTS_OF = ("case_overlap", "nvtx_shapes", "rtdetr_unfused")
SOME_VARIANTS_OF = ("case_starved_one", "decoder_exact", "graph_replay", "known_bytes_exact", "multi_stream")
SOME_VARIANTS = ("cut", "segments", "reordered")
QUICK_VARIANTS = (*SOME_VARIANTS, "broken", "no_end")

DEFINE = {"gpu", "context", "stream", "thread", "domain", "category", "name", "path", "kernel_name", "config",
          "payload_schema", "metric_set", "module_source", "frame", "stack"}
MOVED = {"kernel", "memcpy", "memset", "launch", "exact", "range", "mark", "sync", "alloc", "free", "overhead", "hold"}
DAMAGES = (lambda line: line[:len(line) // 2] + b"\n", lambda line: line.replace(b'"t": "', b'"t": "x'),
           lambda line: b"\xff\n" + line, lambda line: re.sub(rb'"(\w+)": (\d+)', rb'"\1": -\2', line),
           lambda line: re.sub(rb'"(path|name|start)": \d+', rb'"\1": 4000000000', line), lambda line: b"\n",
           lambda line: re.sub(rb'"(start|path|at)": \d+', rb'"\1": "x"', line), lambda line: line + line)


def lines_of(file):
    return file.read_bytes().splitlines(keepends=True)


def kind_of(line):
    return re.match(rb'\{"t": ?"(\w+)', line).group(1).decode()


def write_trace(folder, *segments):
    folder.mkdir(parents=True)
    for number, lines in enumerate(segments):
        if lines:
            (folder / f"trace-{number:05}.ndjson").write_bytes(b"".join(lines))


def in_segments(lines):
    """Three segments. Each begins as the profiler's: header, then every line that defined a name so far."""
    out = []
    for number in range(3):
        first, last = (len(lines) * n // 3 for n in (number, number + 1))
        header = json.dumps({**json.loads(lines[0]), "segment": number}, ensure_ascii=False).encode() + b"\n"
        before = [line for line in lines[1:first] if kind_of(line) in DEFINE]
        sampling = [line for line in lines[1:first] if kind_of(line) == "sampling"][-1:]
        out.append([header, *before, *sampling, *lines[max(first, 1):last]])
    return out


def reordered(lines):
    """Lines of work in another order among up to 24 neighbours, as threads may deliver them."""
    chance, out = random.Random(1), []
    for is_moved, run in itertools.groupby(lines, lambda line: kind_of(line) in MOVED):
        run = list(run)
        for at in range(0, len(run), 24):
            block = run[at:at + 24]
            out += chance.sample(block, len(block)) if is_moved else block
    return out


def broken(lines, kinds):
    damages, count = itertools.cycle(DAMAGES), itertools.count()
    return [next(damages)(line) if kind_of(line) in kinds and next(count) % 7 == 5 else line for line in lines]


def write_summary(folder, lines, more_events):
    """summary.json as of a program that ended. `more_events`: event lines that the segments lack."""
    events = sum(kind_of(line) not in {*DEFINE, "header", "end", "sampling", "clock"} for line in lines)
    summary = json.loads((EXAMPLE / "summary.json").read_text(encoding="utf-8"))
    header = {key: value for key, value in json.loads(lines[0]).items() if key != "t"}
    summary.update(process=header, records=events + more_events)
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def write_variants(top, name):
    """Their names."""
    lines = lines_of(top / name / "trace-00000.ndjson")
    cut, segments = len(lines) * 3 // 5, in_segments(lines)
    made = {"cut": [[*lines[:cut], lines[cut][:len(lines[cut]) // 2]]], "segments": segments,
            "reordered": [reordered(lines)], "no_end": [lines[:-1]], "no_middle": [segments[0], [], segments[2]],
            "cut_summary": [lines[:cut]], "summary": [lines], "broken": [broken(lines, MOVED)],
            "broken_names": [broken(lines, DEFINE)], "header": [lines[:1]], "zstd": segments}
    if name in SOME_VARIANTS_OF:
        made = {variant: made[variant] for variant in SOME_VARIANTS}
    elif not shutil.which("zstd"):
        del made["zstd"]
    for variant, written in made.items():
        write_trace(top / f"{name}.{variant}", *written)
    if "zstd" in made:
        subprocess.run(["zstd", "-q", "--rm", top / f"{name}.zstd/trace-00001.ndjson"], check=True)
    if "summary" in made:
        write_summary(top / f"{name}.summary", lines, 0)
        write_summary(top / f"{name}.cut_summary", lines, 10)
    return [f"{name}.{variant}" for variant in made]


def unpack(top, name):
    subprocess.run([sys.executable, "-B", TESTS / "replay/unpack_golden.py", TESTS / "replay" / name, top / name],
                   check=True)


def write_damaged(before, top):
    """The corpus of damage_test.py, if the build has the program that writes it: its names."""
    program = before.path.parent.parent / "tests/damaged_traces"
    if not program.exists():
        return []
    (top / "damaged").mkdir()
    subprocess.run([program, top / "damaged"], check=True, stdout=subprocess.DEVNULL)
    folders = [folder.rename(folder.with_name(folder.name.replace(" ", "_").replace("'", "")))
               for folder in sorted((top / "damaged").iterdir())]
    return [f"damaged/{folder.name}" for folder in folders]


def write_traces(top, quick, pool):
    """(names of traces, names of variants) in the folder `top`. It also has job_rtdetr, only_summary, ranks, served."""
    names = sorted(path.parent.name for path in (TESTS / "replay").glob("*/golden.ndjson.gz"))
    list(pool.map(functools.partial(unpack, top), names))
    variants = [made for name in ALL_VARIANTS_OF + SOME_VARIANTS_OF for made in write_variants(top, name)]
    write_trace(top / "example", lines_of(EXAMPLE / "trace-00000.ndjson"))
    (top / "only_summary").mkdir()
    shutil.copy(EXAMPLE / "summary.json", top / "only_summary")
    shutil.copytree(RANKS, top / "ranks")
    for rank in range(2):
        shutil.copytree(RANKS / f"rank={rank}", top / f"job/host=a/rank={rank}/pid={rank + 1}")
        shutil.copytree(top / JOB[rank], top / f"job_rtdetr/host=a/rank={rank}/pid={rank + 1}")
    for name in SERVED:
        shutil.copytree(top / name, top / "served" / name)
    for at, file in enumerate(sorted(top.rglob("*.*"))):  # `serve` shows the times of traces
        os.utime(file, (1_700_000_000 + at, 1_700_000_000 + at))
    names += ["example", "job"]
    if quick:
        return ([name for name in names if name in QUICK],
                [f"{name}.{variant}" for name in ("rtdetr_unfused", "nvtx_shapes") for variant in QUICK_VARIANTS])
    return names, variants


class Trace:
    """Values for options that select something in a trace."""

    def __init__(self, before, top, name):
        self.name = name
        file = next((top / name).rglob("trace-*"))
        lines = [json.loads(line) for line in lines_of(file)] if file.suffix == ".ndjson" else []
        work = [line for line in lines if line["t"] in ("kernel", "memcpy")]
        times = [line[key] for line in work for key in ("start", "end") if key in line]
        begin, end = min(times, default=0), max(times, default=2_000_000_000)  # job: its files are not read here
        self.window = f"{begin + (end - begin) // 3}ns:{end - (end - begin) // 3}ns"
        names = sorted({line["demangled"] for line in lines if line["t"] == "kernel_name"}) or ["ncclDevKernel"]
        words = [max(re.findall(r"\w+", text) or ["k"], key=len) for text in names]
        self.kernels = words[len(words) // 2], words[-1]
        # Paths as reports show them, from a table that needs no samples.
        done = before.run(top, "report", str(file.parent), *"--section launches --csv --table launches_by_path".split())
        rows = csv.DictReader(done["stdout"].decode().splitlines())
        paths = [re.sub(r"[][*?]", "?", row["path"]) for row in rows if not row["path"].startswith("(outside")] or ["x"]
        levels = {path: re.split(r"(?<!\\)/", path) for path in paths}
        self.path = sorted(paths, key=lambda path: len(levels[path]))[len(paths) // 2]
        self.deep = "**/" + max(levels.values(), key=len)[-1]
        self.iteration = levels[paths[0]][0][:3] + "*"

    def selections(self):
        """Options that select a part of the trace; the last two together."""
        return (("--range", self.path), ("--range", self.deep), ("--kernel", self.kernels[0]), ("--iterations", "1:3"),
                ("--window", self.window), ("--iteration-range", self.iteration),
                ("--iteration-range", self.iteration, "--iterations", "1:"),
                ("--range", self.deep, "--kernel", self.kernels[0], "--iterations", "1:", "--window", self.window))
