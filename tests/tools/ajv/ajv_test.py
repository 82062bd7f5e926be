#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas by a second judge, ajv: over the examples, and over recorded runs played again.

    ajv_test.py REPOSITORY REPLAY WORK

REPLAY: the rangefinder-replay program. WORK: a folder for what npm installs. Exit code 77, with the reason:
there is no node or npm, or npm reaches no registry.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
RECORDINGS = ("copy_storm", "graph_replay", "hazards_exact", "multi_stream_ranges", "nvtx_shapes", "rtdetr_rotated",
              "rtdetr_sampled")


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def install(work):
    """node_modules beside a copy of the check, made once."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("there is no node or no npm")
    work.mkdir(parents=True, exist_ok=True)
    stale = any(not (work / name).exists() or (work / name).read_bytes() != (HERE / name).read_bytes()
                for name in ("package.json", "package-lock.json"))
    for name in ("package.json", "package-lock.json", "check.mjs"):
        shutil.copy(HERE / name, work / name)
    if not stale and (work / "node_modules/ajv").is_dir():
        return
    try:
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, text=True,
                              capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        skip("npm reaches no registry: no answer in two minutes")
    if done.returncode != 0:
        shutil.rmtree(work / "node_modules", ignore_errors=True)
        (work / "package.json").unlink()
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["npm ci failed"]
        skip("npm could not install ajv: " + lines[0])


def main():
    repository, replay, work = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    install(work)
    files = [repository / "schema/examples/trace-00000.ndjson", repository / "schema/examples/summary.json"]
    with tempfile.TemporaryDirectory() as temporary:
        for name in RECORDINGS:
            out = pathlib.Path(temporary) / name
            done = subprocess.run([replay, repository / f"tests/replay/{name}/recording.zst", "--out", out], text=True,
                                  capture_output=True, timeout=120, check=False)
            if done.returncode == 3 and "libcupti" in done.stderr:
                print("recorded runs are left out: " + done.stderr.strip())
                break
            if done.returncode != 0:
                sys.exit(f"rangefinder-replay failed with {done.returncode}: {done.stderr}")
            files += [out / "trace-00000.ndjson", out / "summary.json"]
        done = subprocess.run(["node", work / "check.mjs", repository, *files], check=False, timeout=240)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
