#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""findings_by_hand.py NAME=PLACE…: checks in our traces what people found with Nsight on RT-DETR in PyTorch.

PLACE is a trace folder or a file with its report as JSON (`rangefinder report DIR --json`). For example

  rangefinder run --counters exact --torch-modules --out hf -- python3 tests/gpu/programs/hf_rtdetr.py
  rangefinder run --counters exact --out own -- build/bin/rtdetr --model r50 --graph off
      --attention unfused --deformable unfused
  findings_by_hand.py "HF eager=hf" "ours, unfused=own"

Prints a table per question: the answer of each trace, by GPU time and by bytes, and whether the finding holds.
It does not rate anything: exit code 0 unless a trace cannot be read.
"""
import argparse
import math
import sys

sys.dont_write_bytecode = True

from module_rows import group, modules_of, read_report

MEASURES = ("time", "DRAM", "L2")
PARTS = r"model/(backbone|encoder|decoder)"
BLOCKS = r"model/backbone/model/encoder/stages/(\d+)/layers/(\d+)"
ENCODER = (r"model/encoder/(aifi/0/layers/0/self_attn|aifi/0/layers/0/mlp|lateral_convs/\d|fpn_blocks/\d"
           r"|downsample_convs/\d|pan_blocks/\d)")
DECODER = (r"model/decoder/(?:layers/\d+/)?(self_attn|encoder_attn|mlp|self_attn_layer_norm|encoder_attn_layer_norm"
           r"|final_layer_norm|query_pos_head|bbox_embed|class_embed)(?:/\d+)?")
# Modules that make up the network side by side, none inside another.
SIDE_BY_SIDE = (r"model/(backbone/model/embedder|backbone/model/encoder/stages/\d/layers/\d+|encoder_input_proj/\d"
                r"|encoder/aifi/0/layers/0/self_attn|encoder/aifi/0/layers/0/mlp|encoder/lateral_convs/\d"
                r"|encoder/fpn_blocks/\d|encoder/downsample_convs/\d|encoder/pan_blocks/\d|decoder_input_proj/\d"
                r"|enc_output|enc_score_head|enc_bbox_head|decoder/layers/\d+/self_attn|decoder/layers/\d+/encoder_attn"
                r"|decoder/layers/\d+/mlp)")


def value(module, measure):
    return module.gpu_us if measure == "time" else module.bytes.get(measure)


def text(amount, measure):
    if amount is None:
        return "not measured"
    return f"{amount:.0f} us" if measure == "time" else f"{amount / 1e6:.1f} MB"


def ranked(modules, measure):
    """(name, value), the greatest first; excludes those without a value."""
    known = [(name, value(module, measure)) for name, module in modules.items()]
    return sorted(((name, amount) for name, amount in known if amount is not None), key=lambda pair: -pair[1])


def best(modules, measure, count=3):
    return ", ".join(f"{name} {text(amount, measure)}" for name, amount in ranked(modules, measure)[:count])


def largest_part(modules):
    parts = group(modules, PARTS)
    return [(measure, best(parts, measure), None) for measure, _ in orders(parts)]


def first_blocks(modules):
    """One row per measure: the heaviest block of each stage; it holds if that is block 0 four times."""
    blocks = group(modules, BLOCKS)
    rows = []
    for measure in MEASURES:
        stages = {}
        for name, amount in ranked(blocks, measure):
            stage, block = name.split("/")
            stages.setdefault(stage, (block, amount))
        if stages:
            said = ", ".join(f"stage {stage}: block {block} ({text(amount, measure)})"
                             for stage, (block, amount) in sorted(stages.items()))
            rows.append((measure, said, all(block == "0" for block, _ in stages.values())))
    return rows


def orders(parts):
    """(measure, names with the heaviest first) of each measure that has values."""
    names = ((measure, [name for name, _ in ranked(parts, measure)]) for measure in MEASURES)
    return [(measure, order) for measure, order in names if order]


def encoder_order(modules):
    parts = group(modules, ENCODER)
    rows = []
    for measure, order in orders(parts):
        holds = order[0] == "fpn_blocks/1" and order[1].endswith("self_attn")
        place = 1 + next((i for i, name in enumerate(order) if name.endswith("self_attn")), len(order))
        said = f"{best(parts, measure, 4)}; self_attn is number {place} of {len(order)}"
        rows.append((measure, said, holds))
    return rows


def decoder_order(modules):
    parts = group(modules, DECODER)
    return [(measure, best(parts, measure, 4), set(order[:2]) == {"self_attn", "encoder_attn"})
            for measure, order in orders(parts)]


def regression(pairs):
    """(r, slope, intercept) of least squares; r is NaN if one side does not vary."""
    count = len(pairs)
    mean_x, mean_y = (sum(pair[i] for pair in pairs) / count for i in (0, 1))
    xx = sum((x - mean_x) ** 2 for x, _ in pairs)
    yy = sum((y - mean_y) ** 2 for _, y in pairs)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    if xx == 0 or yy == 0:
        return math.nan, math.nan, math.nan
    return xy / math.sqrt(xx * yy), xy / xx, mean_y - xy / xx * mean_x


def proportional(modules):
    """Time as a function of bytes over modules side by side. The slope is also given as a bandwidth. The intercept is
    the time of a module that would move nothing."""
    parts = group(modules, SIDE_BY_SIDE)
    rows = []
    for level in ("DRAM", "L2"):
        pairs = [(part.bytes[level] / 1e6, part.gpu_us) for part in parts.values() if level in part.bytes]
        if len(pairs) > 2:
            r, slope, intercept = regression(pairs)
            rate = f" ({1 / slope:.2f} TB/s)" if slope > 0 else ""
            rows.append((level, f"r = {r:.3f}, {slope:.2f} us a MB{rate}, {intercept:.1f} us at 0 B, "
                                f"{len(pairs)} modules", None))
    kernels = [(part.kernels, part.gpu_us) for part in parts.values()]
    r, slope, _ = regression(kernels)
    rows.append(("kernels", f"r = {r:.3f}, {slope:.2f} us a kernel", None))
    return rows


QUESTIONS = (
    ("Which of backbone, encoder and decoder is the largest?", largest_part),
    ("Is the first block of each ResNet stage its heaviest?", first_blocks),
    ("Is the second FPN block the encoder's heaviest, and self-attention next?", encoder_order),
    ("Are self- and cross-attention the decoder's heaviest?", decoder_order),
    ("Is a module's time proportional to the bytes that it moves?", proportional),
)


def print_tables(traces):
    verdict = {True: "holds", False: "does not hold", None: ""}
    for question, ask in QUESTIONS:
        print(f"\n**{question}**\n\n| trace | by | | |\n|---|---|---|---|")
        for name, modules in traces.items():
            for measure, said, holds in ask(modules):
                print(f"| {name} | {measure} | {said} | {verdict[holds]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", metavar="NAME=PLACE")
    options = parser.parse_args()
    traces = {}
    for trace in options.traces:
        name, _, place = trace.rpartition("=")
        try:
            traces[name or place] = modules_of(read_report(place))
        except (OSError, ValueError, KeyError) as error:
            print(f"findings_by_hand: {place}: {error}", file=sys.stderr)
            return 2
    print_tables(traces)
    return 0


if __name__ == "__main__":
    sys.exit(main())
