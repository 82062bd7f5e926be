#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fused_bytes.py FUSED UNFUSED [--level L2|DRAM] [--least 3]: bytes of attention, fused against unfused.

Both places are traces (folder, or report as JSON) of rtdetr with exact counters, that differ in --attention
and --deformable alone. At batch 1 activations stay in the L2: look at L2 there, at DRAM with batch 32.
Prints a row a path. Exit code 0: all fall by at least --least times; 1: one does not; 2: not measured.
"""
import argparse
import sys

sys.dont_write_bytecode = True

from module_rows import group, modules_of, read_report

PATHS = {
    "AIFI self_attn": r"model/encoder/(aifi)/0/layers/0/self_attn",
    "decoder self_attn": r"model/decoder/layers/\d+/(self_attn)",
    "decoder encoder_attn": r"model/decoder/layers/\d+/(encoder_attn)",
}
# What is in those modules beside attention, and the same in both: projections of their own.
PROJECTIONS = {
    "AIFI self_attn": r"model/encoder/(aifi)/0/layers/0/self_attn/o_proj",
    "decoder self_attn": r"model/decoder/layers/\d+/(self_attn)/o_proj",
    "decoder encoder_attn": r"model/decoder/layers/\d+/(encoder_attn)/(?:value_proj|output_proj)",
}


def bytes_of(modules, pattern, level):
    return sum(module.bytes[level] for module in group(modules, pattern).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fused")
    parser.add_argument("unfused")
    parser.add_argument("--level", choices=["L2", "DRAM"], default="L2")
    parser.add_argument("--least", type=float, default=3.0)
    options = parser.parse_args()
    ok = True
    try:
        traces = [modules_of(read_report(place)) for place in (options.fused, options.unfused)]
        print(f"| {options.level} bytes a pass | fused | unfused | times |\n|---|---|---|---|")
        for name, pattern in PATHS.items():
            whole = [bytes_of(modules, pattern, options.level) for modules in traces]
            own = [total - bytes_of(modules, PROJECTIONS[name], options.level)
                   for total, modules in zip(whole, traces)]
            for what, (fused, unfused) in ((name, whole), (f"{name}, less its projections", own)):
                print(f"| {what} | {fused / 1e6:.2f} MB | {unfused / 1e6:.2f} MB | {unfused / max(fused, 1):.2f} |")
            ok = ok and own[1] >= options.least * own[0]
    except (OSError, ValueError, KeyError) as error:
        print(f"fused_bytes: {error}: was it run with --counters exact?", file=sys.stderr)
        return 2
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
