#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rangefinder export` of traces with wrong bytes in them: no crash, no hang, and whole files.

    export_damage_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY

The damage is drawn with a fixed seed, so that a failure comes again. Needs no GPU.
"""
import json
import random
import sqlite3

import export_case
from export_case import Export, recorded

FORMATS = ("perfetto", "kineto", "speedscope", "csv", "sqlite", "prometheus")
NUMBERS = ("0", "-1", "1e308", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "4294967295",
           "null", '"text"', "[]", "{}")


def damaged(text, draw):
    """`text` with some of it changed: bytes, numbers, lines twice, missing or moved, the end cut off."""
    lines = text.split(b"\n")
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(1, len(lines))
        kind = draw.choice(("byte", "number", "twice", "missing", "moved", "cut"))
        if kind == "byte" and lines[at]:
            place = draw.randrange(len(lines[at]))
            lines[at] = lines[at][:place] + bytes([draw.randrange(256)]) + lines[at][place + 1:]
        elif kind == "number" and b":" in lines[at]:
            members = lines[at].split(b",")
            member = draw.randrange(len(members))
            key = members[member].rpartition(b":")[0]
            members[member] = key + b":" + draw.choice(NUMBERS).encode() + (b"}" if member + 1 == len(members) else b"")
            lines[at] = b",".join(members)
        elif kind == "twice":
            lines.insert(at, lines[at])
        elif kind == "missing":
            del lines[at]
        elif kind == "moved":
            lines.append(lines.pop(at))
        elif draw.random() < 0.2:
            lines = lines[:at + 1]
            lines[-1] = lines[-1][:draw.randrange(len(lines[-1]) + 1)]
    return b"\n".join(lines)


class Damage(Export):
    def check_file(self, to, out):
        if to in ("perfetto", "kineto", "speedscope"):
            json.loads(out.read_text(encoding="utf-8"), parse_constant=lambda word: self.fail(word))
        elif to == "sqlite":
            connection = sqlite3.connect(out)
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            connection.execute("SELECT * FROM modules").fetchall()
            connection.close()

    def damage(self, name, rounds):
        draw = random.Random(name)
        text = (recorded(name) / "trace-00000.ndjson").read_bytes()
        trace = self.folder / "trace"
        trace.mkdir()
        for number in range(rounds):
            (trace / "trace-00000.ndjson").write_bytes(damaged(text, draw))
            to = FORMATS[number % len(FORMATS)]
            out = self.folder / f"{number}.{to}.json"
            done = self.call("export", trace, "--to", to, "-o", out)
            self.assertIn(done.returncode, (0, 3), f"{name}, {number}, {to}: {done.stderr}")
            if out.exists():
                self.check_file(to, out)
            else:
                self.assertEqual(done.returncode, 3)
                self.assertTrue(done.stderr.startswith("rangefinder: "))
            self.assertEqual([path for path in self.folder.iterdir() if ".part-" in path.name], [])

    def test_ranges_marks_and_payloads(self):
        self.damage("nvtx_shapes", 120)

    def test_counter_ranges(self):
        self.damage("multi_stream_ranges", 60)

    def test_graphs(self):
        self.damage("graph_replay", 60)

    def test_metric_sets(self):
        self.damage("rtdetr_rotated", 30)

    def test_samples(self):
        self.damage("rtdetr_sampled", 12)


if __name__ == "__main__":
    export_case.main(__doc__)
