#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes golden lines as a trace that the tools can read, for tests that use recorded data.

unpack_golden.py FOLDER OUT

FOLDER holds golden.ndjson.gz; OUT becomes a trace folder with one segment. Keys that replay_test.py
excludes from golden lines are added again with placeholder values.
"""
import gzip
import json
import os
import sys


def unpack(folder, out):
    os.makedirs(out, exist_ok=True)
    with gzip.open(os.path.join(folder, "golden.ndjson.gz"), "rt", encoding="utf-8") as file:
        lines = file.read().splitlines()
    header = json.loads(lines[0])
    header["tool_version"] = "golden"
    lines[0] = json.dumps(header, ensure_ascii=False)
    end = json.loads(lines[-1])
    if end["t"] == "end":
        end["own_cost"]["bytes_written"] = 0
        lines[-1] = json.dumps(end, ensure_ascii=False)
    with open(os.path.join(out, "trace-00000.ndjson"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    unpack(*sys.argv[1:])
