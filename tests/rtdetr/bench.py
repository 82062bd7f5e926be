#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py: rtdetr beside PyTorch, in one run, alternating, on one GPU.

  library, eager             RTDetrForObjectDetection, fp16, channels_last
  library, torch.compile     the same, mode="reduce-overhead", freezing
  rtdetr, graph on / off     build/bin/rtdetr, fp16

Same weights, 640x640, input on the GPU, forward pass only. In each round every contender runs once, for --iterations
forwards after a warm-up; the figure of a round is its median by GPU events. The table has the median, minimum and
maximum of the rounds. Nothing else may run on the GPU at the same time.

Compiling takes a minute: --batch selects one batch size per process.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
os.environ.setdefault("TORCHINDUCTOR_FREEZING", "1")

import torch

import make_weights
from calibrated_weights import smooth_images
from hf_model import load_model

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZE = (640, 640)
WARMUP = 20
SKIPPED = 77


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(REPOSITORY, "build/bin/rtdetr"))
    parser.add_argument("--model", default="r50")
    parser.add_argument("--dtype", default="fp16", choices=["fp16", "bf16", "tf32", "fp32"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--weights", help="folder with files of make_weights.py; by default they are made")
    return parser.parse_args()


def gpu_median_ms(forward, iterations):
    """Median of single forwards, by events around each; they are queued one after the other."""
    for _ in range(WARMUP):
        forward()
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(iterations)]
    torch.cuda.synchronize()
    for start, end in events:
        start.record()
        forward()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) for start, end in events)


class Library:
    """One model in PyTorch: eager, or compiled at its first forward."""

    def __init__(self, options, weights, compiled):
        self.iterations = options.iterations
        model = load_model(options.model, weights, options.dtype).to(memory_format=torch.channels_last)
        pixels = smooth_images(options.batch, *SIZE, 77).cuda().float() / 255
        self.pixels = pixels.to(model.dtype).contiguous(memory_format=torch.channels_last)
        self.model = model
        if compiled:
            from torch._inductor import config as inductor  # another name: `torch` must stay the module's
            inductor.freezing = True
            self.model = torch.compile(model, mode="reduce-overhead", dynamic=False)

    def forward(self):
        torch.compiler.cudagraph_mark_step_begin()
        return self.model(pixel_values=self.pixels)

    def round_ms(self):
        with torch.no_grad():
            return gpu_median_ms(self.forward, self.iterations)


class Ours:
    """One process per round: nothing of it stays on the GPU while PyTorch runs."""

    def __init__(self, options, weights, graph):
        self.command = [options.program, "--json", "--threshold", "1", "--model", options.model, "--weights", weights,
                        "--dtype", options.dtype, "--batch", str(options.batch), "--size", f"{SIZE[0]}x{SIZE[1]}",
                        "--graph", graph, "--iterations", str(options.iterations), "--warmup", str(WARMUP)]

    def round_ms(self):
        done = subprocess.run(self.command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise SystemExit(f"bench: {' '.join(self.command)}: {done.stderr.strip()}")
        return json.loads(done.stdout.splitlines()[-1])["gpu_ms_median"]


def contenders(options, weights):
    yield "library, eager", Library(options, weights, compiled=False)
    start = time.monotonic()
    compiled = Library(options, weights, compiled=True)
    with torch.no_grad():
        for _ in range(3):  # compiles, warms up, records the graph
            compiled.forward()
    torch.cuda.synchronize()
    print(f"compiled in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    yield "library, torch.compile", compiled
    if os.path.exists(options.program):
        yield "rtdetr, graph on", Ours(options, weights, "on")
        yield "rtdetr, graph off", Ours(options, weights, "off")
    else:
        print(f"bench: {options.program} does not exist: PyTorch only", file=sys.stderr)


def print_table(options, rounds):
    print(f"{options.model} {options.dtype}, batch {options.batch}, {SIZE[0]}x{SIZE[1]}, "
          f"{torch.cuda.get_device_name()}, {options.rounds} rounds of {options.iterations} forwards in turn")
    print("| ms per forward | median | min | max |\n|---|---|---|---|")
    for name, values in rounds.items():
        print(f"| {name} | {statistics.median(values):.3f} | {min(values):.3f} | {max(values):.3f} |")


def main():
    options = parse()
    if not torch.cuda.is_available():
        print("bench: skipped: PyTorch sees no GPU", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(options.weights or folder, options.model + ".safetensors")
        if not os.path.exists(weights):
            make_weights.make(options.model, 1, os.path.dirname(weights))
        competing = dict(contenders(options, weights))
        rounds = {name: [] for name in competing}
        for _ in range(options.rounds):
            for name, contender in competing.items():
                rounds[name].append(contender.round_ms())
    print_table(options, rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
