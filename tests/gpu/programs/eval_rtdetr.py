# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's RT-DETR as people profile it: a range `iterations{i}` for each forward pass, and hooks that push the full
name of each module from named_modules(), whose root has an empty name. cudaProfilerStart after the warm-up.

Prints one JSON line. Random weights, fp16, 640 x 640, no downloads.
"""
import argparse
import json
import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import torch
from torch.cuda import nvtx
from transformers import RTDetrConfig, RTDetrForObjectDetection


def add_ranges(model):
    names = {module: name for name, module in model.named_modules()}

    def before(module, _):
        nvtx.range_push(names[module])

    def after(*_):
        nvtx.range_pop()

    for module in names:
        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--batch", type=int, default=1, help="images")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("eval_rtdetr: PyTorch sees no GPU")

    torch.manual_seed(0)
    model = RTDetrForObjectDetection(RTDetrConfig(num_labels=80)).eval().half().cuda()
    pixels = torch.rand(options.batch, 3, 640, 640).half().cuda()
    add_ranges(model)
    with torch.inference_mode():
        for i in range(options.warmup + options.iterations):
            if i == options.warmup:
                torch.cuda.synchronize()
                torch.cuda.cudart().cudaProfilerStart()
            nvtx.range_push(f"iterations{i}")
            output = model(pixel_values=pixels)
            nvtx.range_pop()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
    print(json.dumps({"program": "eval_rtdetr", "iterations": options.iterations, "warmup": options.warmup,
                      "finite": bool(torch.isfinite(output.logits.cpu().float()).all())}), flush=True)


if __name__ == "__main__":
    main()
