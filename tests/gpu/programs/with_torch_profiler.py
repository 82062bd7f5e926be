# SPDX-License-Identifier: Apache-2.0
"""with_torch_profiler.py before|after|yielded: the same matrix products with torch.profiler around some.

before   torch.profiler starts before CUDA, so it is the first to subscribe to CUPTI
after    torch.profiler starts after CUDA and the libraries injected with it
yielded  as `after`, within control.yielded()

Prints one JSON line: kernels that torch.profiler recorded, and kernels launched.
"""
import contextlib
import json
import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

from rangefinder import control

PRODUCTS = 10


def products(name, matrix):
    with torch.cuda.nvtx.range(name):
        for _ in range(PRODUCTS):
            matrix @ matrix
        torch.cuda.synchronize()


def main():
    order = sys.argv[1]
    if order != "before":
        products("outside", torch.ones(1024, 1024, device="cuda"))
        time.sleep(float(os.environ.get("PAUSE_S", "0")))
    giving_way = control.yielded() if order == "yielded" else contextlib.nullcontext()
    with giving_way:
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as torch_profile:
            products("profiled", torch.ones(1024, 1024, device="cuda"))
    if order != "before":
        products("behind", torch.ones(1024, 1024, device="cuda"))
    kernels = sum(1 for event in torch_profile.events() if "gemm" in event.name.lower() or "nvjet" in event.name
                  or "cutlass" in event.name.lower())
    print(json.dumps({"order": order, "torch_kernels": kernels, "products": PRODUCTS}), flush=True)


if __name__ == "__main__":
    main()
