#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the JSON Schemas with a second validator, ajv, on the examples and on replayed recordings.

    ajv_test.py REPOSITORY REPLAY WORK

REPLAY: the rangefinder-replay program. WORK: a folder for npm packages. Exit code 77, with the reason:
no node or npm, or npm cannot reach a registry.
"""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import npm_install  # noqa: E402

RECORDINGS = ("copy_storm", "graph_replay", "hazards_exact", "multi_stream_ranges", "nvtx_shapes", "rtdetr_rotated",
              "rtdetr_sampled")


def main():
    repository, replay, work = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    npm_install.install("ajv", "check.mjs", HERE, work)
    files = [repository / "schema/examples/trace-00000.ndjson", repository / "schema/examples/summary.json"]
    with tempfile.TemporaryDirectory() as temporary:
        for name in RECORDINGS:
            out = pathlib.Path(temporary) / name
            done = subprocess.run([replay, repository / f"tests/replay/{name}/recording.zst", "--out", out], text=True,
                                  capture_output=True, timeout=120, check=False)
            if done.returncode == 3 and "libcupti" in done.stderr:
                print("recordings are skipped: " + done.stderr.strip())
                break
            if done.returncode != 0:
                sys.exit(f"rangefinder-replay failed with {done.returncode}: {done.stderr}")
            files += [out / "trace-00000.ndjson", out / "summary.json"]
        done = subprocess.run(["node", work / "check.mjs", repository, *files], check=False, timeout=240)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
