# SPDX-License-Identifier: Apache-2.0
"""What the scripts of this folder share: programs without the caller's settings, lines of traces, medians.

A program that fails ends the script with code 3.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys

TIMEOUT_S = 300  # of one program
# Metrics of ncu that count the bytes of our exact mode, and options under which ncu does as we do.
NCU_METRICS = {"dram_read_bytes": "dram__bytes_read.sum", "dram_write_bytes": "dram__bytes_write.sum",
               "l2_bytes": "lts__t_bytes.sum"}
NCU = ["ncu", "--metrics", ",".join(NCU_METRICS.values()), "--cache-control", "none", "--clock-control", "none"]


def fail(message):
    print(f"{pathlib.Path(sys.argv[0]).name}: {message}", file=sys.stderr)
    sys.exit(3)


def run(*words, codes=(0,), **variables):
    """The finished program; `variables` are added to our environment, which loses those of Rangefinder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RANGEFINDER_")}
    words = [str(word) for word in words]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env=environment | variables, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        fail(f"{' '.join(words)}: not done after {TIMEOUT_S} s")
    if done.returncode not in codes:
        fail(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-800:]}{done.stderr[-1500:]}")
    return done


def run_for_json(*words, **variables):
    """The last JSON object that the program printed."""
    done = run(*words, **variables)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        fail(f"{' '.join(map(str, words))}: no JSON\n{done.stdout[-800:]}{done.stderr[-800:]}")
    return json.loads(lines[-1])


def trace_lines(folder, *kinds):
    """(line, its length) of each line of these kinds, in order."""
    begins = tuple(f'{{"t":"{kind}"' for kind in kinds)
    for path in sorted(pathlib.Path(folder).glob("trace-*.ndjson")):
        with open(path, encoding="utf-8") as file:
            for text in file:
                if text.startswith(begins):
                    yield json.loads(text), len(text)


def spread(values, form=".1f"):
    """"median (minimum, maximum)"."""
    median, least, most = (format(value, form) for value in (statistics.median(values), min(values), max(values)))
    return f"{median} ({least}, {most})"
