#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fused_bytes.py FUSED UNFUSED [--level L2|DRAM]: bytes of attention, fused compared with unfused.

Both are folders of traces of rtdetr with exact counters that differ only in --attention and --deformable. At batch 1
activations stay in the L2: use L2 there, and DRAM with batch 32. Only the launches of attention itself are checked. The
whole module is printed beside them; its projections are the same in both. Prints a row per path. Exit code 0: all fall
to a third at most; 1: one does not; 2: not measured.
"""
import argparse
import json
import subprocess
import sys

sys.dont_write_bytecode = True

from module_rows import BYTES, RANGEFINDER, group, modules_of, passes_of, read_report

# name: (pattern of the module below `model`, its ranges in the report's language)
PATHS = {
    "AIFI self_attn": (r"model/encoder/(aifi)/0/layers/0/self_attn", "iteration/model/encoder/aifi/**"),
    "decoder self_attn": (r"model/decoder/layers/\d+/(self_attn)", "iteration/model/decoder/layers/*/self_attn"),
    "decoder encoder_attn": (r"model/decoder/layers/\d+/(encoder_attn)",
                             "iteration/model/decoder/layers/*/encoder_attn"),
}
MIN_TIMES = 3
OWN_KERNELS = ("attention", "deformable")  # parts of their names; projections are products


def module_bytes(report, pattern, level):
    return sum(module.bytes[level] for module in group(modules_of(report), pattern).values())


def kernels_of(folder, ranges):
    """Rows of the kernels table of the report."""
    done = subprocess.run([RANGEFINDER, "report", folder, "--section", "kernels", "--json", "--range", ranges],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    report = json.loads(done.stdout)
    return report["traces"][0]["kernels"] if "traces" in report else report["kernels"]


def own_bytes(folder, ranges, level, passes):
    """Bytes of the attention launches in these ranges, per pass."""
    own = [row for row in kernels_of(folder, ranges) if any(part in row["name"] for part in OWN_KERNELS)]
    if not own:
        raise ValueError(f"{folder}: no launch of attention in {ranges}")
    return sum(row[field] for row in own for field in BYTES[level]) / passes


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fused")
    parser.add_argument("unfused")
    parser.add_argument("--level", choices=["L2", "DRAM"], default="L2")
    options = parser.parse_args(arguments)
    folders = (options.fused, options.unfused)
    ok = True
    try:
        reports = [read_report(folder) for folder in folders]
        print(f"| {options.level} bytes per pass | fused | unfused | times |\n|---|---|---|---|")
        for name, (pattern, ranges) in PATHS.items():
            whole = [module_bytes(report, pattern, options.level) for report in reports]
            own = [own_bytes(folder, ranges, options.level, passes_of(report))
                   for folder, report in zip(folders, reports)]
            for what, (fused, unfused) in ((f"{name}, launches of attention", own), (f"{name}, the module", whole)):
                print(f"| {what} | {fused / 1e6:.2f} MB | {unfused / 1e6:.2f} MB | {unfused / max(fused, 1):.2f} |")
            ok = ok and own[1] >= MIN_TIMES * own[0]
    except (OSError, ValueError, KeyError) as error:
        print(f"fused_bytes: {error}: was it run with --counters exact?", file=sys.stderr)
        return 2
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
