#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays a recorded run through the real drain and compares the trace with golden lines.

replay_test.py REPLAY VALIDATE FOLDER [--update]

REPLAY: the rangefinder-replay program; VALIDATE: the rangefinder program. FOLDER holds recording.zst and
golden.ndjson.gz. Machine-dependent values are excluded: heartbeats, and the versions of tool and
format in the header. So is what a later minor version of the format added.
"""
import argparse
import collections
import difflib
import gzip
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
# Since format 1.0, which the golden lines have.
ADDED_COSTS = ("held_ns", "launch_lock_ns")
OUTSIDE = None


def played(replay, recording, out):
    """The trace's lines. Without a libcupti to iterate records with, exits with the reason."""
    done = subprocess.run([replay, recording, "--out", out], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode == 3 and "libcupti" in done.stderr:
        print("skipped: " + done.stderr.strip())
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"rangefinder-replay failed with {done.returncode}: {done.stderr}")
    lines = []
    for name in sorted(os.listdir(out)):
        if name.endswith(".ndjson"):
            with open(os.path.join(out, name), encoding="utf-8") as file:
                lines += file.read().splitlines()
    return lines


def comparable(lines):
    out = []
    for text in lines:
        line = json.loads(text)
        if line["t"] == "flush":
            continue
        line.pop("tool_version", None)
        if line["t"] == "header":
            line["version"] = "1.0"
        if line["t"] == "end":
            for key in ("bytes_written", "drain_longest_ns", "flush_longest_ns", *ADDED_COSTS):
                line["own_cost"].pop(key, None)
        out.append(json.dumps(line, ensure_ascii=False))
    return out


def union_ns(intervals):
    """Time in which at least one interval ran: by brute force, sorted."""
    total, until = 0, None
    for start, end in sorted(intervals):
        start = start if until is None else max(start, until)
        if end > start:
            total, until = total + end - start, end
    return total


def busy_by_path(lines):
    """{path as text: sorted busy times of the paths with this text}, parents include their children; OUTSIDE: of work
    outside any range."""
    paths, work, outside = {}, collections.defaultdict(list), []
    for line in map(json.loads, lines):
        if line["t"] == "path":
            paths[line["id"]] = line
        elif line["t"] in ("kernel", "graph") and "end" in line:
            at = line.get("path", 0)
            if not at:
                outside.append((line["start"], line["end"]))
            while at:
                work[at].append((line["start"], line["end"]))
                at = paths[at]["parent"]
    found = collections.defaultdict(list)
    for path, intervals in work.items():
        names, at = [], path
        while at:
            names.insert(0, paths[at]["name"].replace("\\", "\\\\").replace("/", "\\/"))
            at = paths[at]["parent"]
        found["/".join(names)].append(union_ns(intervals))
    found[OUTSIDE].append(union_ns(outside))
    return {text: sorted(values) for text, values in found.items()}


def check_busy(summary, lines):
    """gpu_busy_ns of every module is the length of the union of its work, in whatever order the records came."""
    found = collections.defaultdict(list)
    for row in [*summary["modules"], summary["outside"]]:
        if row.get("gpu_busy_ns"):
            found[row.get("path", OUTSIDE)].append(row["gpu_busy_ns"])
    expected = {text: [ns for ns in values if ns] for text, values in busy_by_path(lines).items() if any(values)}
    for text in found.keys() | expected.keys():
        if sorted(found[text]) != expected.get(text, []):
            sys.exit(f"summary.json: {text!r} was busy for {found[text]} ns, the union of its work is {expected.get(text)}")


def check_summary(out, lines):
    """summary.json is final and counts the kernels that the lines show."""
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    kernels = sum(1 for text in lines if text.startswith('{"t": "kernel"'))
    counted = sum(row["count"] for row in summary["kernels"])
    check_busy(summary, lines)
    if not summary["final"] or counted != kernels:
        sys.exit(f"summary.json: final {summary['final']}, {counted} kernels, {kernels} in the lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("replay", "rangefinder", "folder"):
        parser.add_argument(name)
    parser.add_argument("--update", action="store_true", help="write the golden lines instead of comparing")
    options = parser.parse_args()
    golden_path = os.path.join(options.folder, "golden.ndjson.gz")
    with tempfile.TemporaryDirectory() as temporary:
        out = os.path.join(temporary, "trace")
        lines = comparable(played(options.replay, os.path.join(options.folder, "recording.zst"), out))
        check_summary(out, lines)
        valid = subprocess.run([options.rangefinder, "validate", out], capture_output=True, text=True, check=False)
        if valid.returncode != 0:
            sys.exit(f"the trace is not valid:\n{valid.stdout}{valid.stderr}")
    if options.update:
        with gzip.GzipFile(golden_path, "wb", mtime=0) as file:
            file.write(("\n".join(lines) + "\n").encode())
        print(f"{golden_path}: {len(lines)} lines")
        return
    with gzip.open(golden_path, "rt", encoding="utf-8") as file:
        golden = file.read().splitlines()
    if golden != lines:
        difference = list(difflib.unified_diff(golden, lines, "golden", "played", lineterm="", n=1))
        sys.exit("\n".join(difference[:40]) + f"\n{len(difference)} lines of difference")
    print(f"{len(lines)} lines as recorded")


if __name__ == "__main__":
    main()
