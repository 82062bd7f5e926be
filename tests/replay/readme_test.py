#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README.md: its table of a decoder's layers is what the report of the recording says.

    readme_test.py RANGEFINDER REPOSITORY [--update]     --update writes the table
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

FIRST_LAYERS = 2
BLOCK = re.compile(r"(<!-- decoder -->\n)(.*?)(<!-- /decoder -->)", re.DOTALL)


def modules(rangefinder, recording):
    """The rows below `decode`: that of all layers, then the layers."""
    with tempfile.TemporaryDirectory() as folder:
        unpack = os.path.join(os.path.dirname(os.path.abspath(__file__)), "unpack_golden.py")
        subprocess.run([sys.executable, "-B", unpack, recording, folder], check=True, timeout=60)
        done = subprocess.run([rangefinder, "report", folder, "--section", "modules", "--range", "decode", "--json"],
                              capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)["traces"][0]["modules"]


def table(rangefinder, repository):
    recording = os.path.join(repository, "tests/replay/decoder_sampled")
    with open(os.path.join(recording, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    whole, *layers = modules(rangefinder, recording)
    layers.sort(key=lambda row: int(row["path"].rsplit(" ", 1)[1]))
    assert len(layers) == expected["layers"]
    known = expected["layer_read_bytes"]

    def line(name, row, wanted):
        read = row["dram_read_bytes"]
        return (f"| {name} | {row['gpu_ns'] / 1e6:#.3g} ms | {read / 1e9:.2f} GB | {wanted / 1e9:.2f} GB | "
                f"{100 * (read / wanted - 1):+.1f} % | {100 * row['dram_peak_share']:.0f} % |\n")

    others = layers[FIRST_LAYERS:]
    apart = [100 * (row["dram_read_bytes"] / known - 1) for row in others]
    shares = [100 * row["dram_peak_share"] for row in others]
    text = "| module | GPU time | DRAM read, measured | must read | difference | of DRAM's peak |\n|---|---|---|---|---|---|\n"
    text += line("`decode`", whole, known * len(layers))
    for row in layers[:FIRST_LAYERS]:
        text += line("`" + row["path"] + "`", row, known)
    return text + (f"| … {len(others)} more layers | | | {known / 1e9:.2f} GB | {min(apart):+.1f} to {max(apart):+.1f} % | "
                   f"{min(shares):.0f} to {max(shares):.0f} % |\n")


class Readme(unittest.TestCase):
    rangefinder = repository = ""

    def text(self):
        with open(os.path.join(self.repository, "README.md"), encoding="utf-8") as file:
            return file.read()

    def test_the_table_is_what_the_recording_says(self):
        self.assertEqual(BLOCK.search(self.text()).group(2), table(self.rangefinder, self.repository),
                         "tests/replay/readme_test.py RANGEFINDER REPOSITORY --update writes it")


def update(rangefinder, repository):
    path = os.path.join(repository, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(BLOCK.sub(lambda match: match.group(1) + table(rangefinder, repository) + match.group(3), text))


if __name__ == "__main__":
    if "--update" in sys.argv:
        update(*sys.argv[1:3])
    else:
        Readme.rangefinder, Readme.repository = sys.argv[1:3]
        unittest.main(argv=sys.argv[:1])
