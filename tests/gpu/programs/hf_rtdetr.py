# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's RT-DETR (R50) with random weights, fp16, 640 x 640, no downloads.

Prints one JSON line: milliseconds per forward. --compile: with torch.compile. --hooks: one NVTX range per module, named by
the last component of its name, as a user would write it. Without --hooks the program does not use NVTX.
"""
import argparse
import json
import os
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection


def add_ranges(model):
    """One range per called module, nested as the calls are. Levels that are never called are pushed too."""
    push, pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
    names = {module: tuple(name.split(".")) if name else () for name, module in model.named_modules()}
    opened = []  # (name of the module, ranges pushed)

    def before(module, _):
        above = opened[-1][0] if opened else ()
        name = names[module]
        own = name[len(above):] if name[:len(above)] == above else name[-1:]
        for component in own:
            push(component)
        opened.append((name, len(own)))

    def after(module, _, __):
        for _ in range(opened.pop()[1]):
            pop()

    for module in names:
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--hooks", action="store_true")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("hf_rtdetr: PyTorch sees no GPU")

    torch.manual_seed(0)
    # The default configuration is R50 with a randomly initialised backbone. It is converted on the CPU:
    # on the GPU each parameter would need a kernel that belongs to no module.
    model = RTDetrForObjectDetection(RTDetrConfig(num_labels=80)).eval().half().cuda()
    pixels = torch.rand(options.batch, 3, 640, 640).half().cuda()
    if options.hooks:
        add_ranges(model)
    if options.compile:
        model = torch.compile(model)
    with torch.inference_mode():
        for _ in range(options.warmup):
            model(pixel_values=pixels)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(options.iterations):
            output = model(pixel_values=pixels)
        torch.cuda.synchronize()
    milliseconds = (time.perf_counter() - start) * 1e3 / max(1, options.iterations)
    print(json.dumps({
        "program": "hf_rtdetr", "iterations": options.iterations, "warmup": options.warmup,
        "batch": options.batch,
        "hooks": options.hooks, "ms_per_forward": round(milliseconds, 3), "logits": list(output.logits.shape),
        "finite": bool(torch.isfinite(output.logits.cpu().float()).all())}), flush=True)


if __name__ == "__main__":
    main()
