# SPDX-License-Identifier: Apache-2.0
"""Instructions of the hot paths, counted by callgrind, compared with instructions.json: more than 10 % above fails.
Wall time means nothing on a shared machine; instructions do.

  activity_record   decode, join, totals and line of one GPU record: the drain thread, over a recorded run
  host_event        the same of one event of the application's threads (launch, range, wait)
  kernel_record     decode, join, totals and line of one kernel record, all names known
  launch_event      join table and line of one launch
  push_pop          one push and pop of an NVTX range, on the application's thread
  read_line         LineReader::read of one line of a made trace: kernels, launches, ranges
  scan_line         scan_line of the same, with a sink that counts

Usage: instruction_guard.py BUILD REPOSITORY [--update]
Exit codes: 0 ok; 1 a path takes more than it may; 77 no valgrind, or no numbers for this compiler."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

RECORDING = "hf_rtdetr_trace"
MAX_GROWTH = 0.10
BATCH = 8192  # events per batch of drain_bench
GPU_KINDS = ("kernel", "memcpy", "memset", "overhead")
EVENT_KINDS = ("launch", "range", "sync", "alloc", "free")


def instructions(command: list[str], inside: str | None = None) -> int:
    """Instructions of `command`, or only of functions whose names begin with `inside`."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        if inside:
            options.append(f"--toggle-collect={inside}*")
        done = subprocess.run(["valgrind", *options, *command], capture_output=True, text=True, timeout=300,
                              check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found or int(found[1]) == 0:
        sys.exit(f"callgrind counted nothing in {inside or command[0]}:\n{done.stderr}")
    return int(found[1])


def lines_by_kind(trace: pathlib.Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for segment in sorted(trace.glob("trace-*.ndjson")):
        for line in segment.read_text().splitlines():
            kind = line[6:].split('"', 1)[0]
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def reading(build: pathlib.Path) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(build / "tests/trace_maker"), "--kernels", "20000", "--paths", "100", "--out", folder],
                       capture_output=True, timeout=60, check=True)
        lines = sum(lines_by_kind(pathlib.Path(folder)).values())
        speed = [str(build / "tests/reading_speed"), folder]
        return {name: round(instructions(speed, inside) / lines)
                for name, inside in (("read_line", "rangefinder::LineReader::read"), ("scan_line", "*scan_lines"))}


def measure(build: pathlib.Path, repository: pathlib.Path) -> dict[str, int]:
    recording = repository / "tests/replay" / RECORDING / "recording.zst"
    with tempfile.TemporaryDirectory() as folder:
        replay = [str(build / "bin/rangefinder-replay"), str(recording), "--out", folder, "--force"]
        activity = instructions(replay, "rangefinder::decode_activity")
        events = instructions(replay, "rangefinder::TraceBuilder::on_event")
        counts = lines_by_kind(pathlib.Path(folder))
    bench = str(build / "tests/push_pop_bench")
    few, many = (instructions([bench, str(n)]) for n in (10_240, 30_720))
    drain = str(build / "tests/drain_bench")
    records, launches = ([instructions([drain, str(n)], inside) for n in (2, 6)]
                         for inside in ("rangefinder::decode_activity", "rangefinder::TraceBuilder::on_event"))
    return {
        "kernel_record": round((records[1] - records[0]) / (4 * BATCH)),
        "launch_event": round((launches[1] - launches[0]) / (4 * BATCH)),
        "activity_record": round(activity / sum(counts.get(kind, 0) for kind in GPU_KINDS)),
        "host_event": round(events / sum(counts.get(kind, 0) for kind in EVENT_KINDS)),
        "push_pop": round((many - few) / 20_480),
        **reading(build),
    }


def compiler_of(build: pathlib.Path) -> str:
    """"GNU 12.2.0 Release", from CMake's cache."""
    cache = (build / "CMakeCache.txt").read_text()
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", cache, re.M)
    described = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    name = re.search(r'CMAKE_CXX_COMPILER_ID "(.*?)"', described)
    version = re.search(r'CMAKE_CXX_COMPILER_VERSION "(.*?)"', described)
    return f"{name[1]} {version[1]} {kind[1] if kind else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="store these as the numbers to compare with")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed")
        return 77
    table = options.repository / "tests/bench/instructions.json"
    known = json.loads(table.read_text()) if table.exists() else {}
    compiler = compiler_of(options.build)
    counted = measure(options.build, options.repository)
    if options.update:
        known[compiler] = counted
        table.write_text(json.dumps(known, indent=2) + "\n")
    bound = known.get(compiler)
    grown = False
    print(f"{'instructions per':20}{'now':>10}{'known':>10}{'change':>10}   {compiler}")
    for name, now in counted.items():
        before = bound.get(name) if bound else None
        change = f"{now / before - 1:+.1%}" if before else ""
        print(f"{name:20}{now:>10}{before or '':>10}{change:>10}")
        grown = grown or (before is not None and now > before * (1 + MAX_GROWTH))
    if not bound:
        print(f"skipped: no numbers for {compiler}; --update stores them")
        return 77
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
