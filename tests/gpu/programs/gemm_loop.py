# SPDX-License-Identifier: Apache-2.0
"""Matrix products in bf16 that draw as much power as the GPU may, in iterations `step`.

Prints one JSON line: iterations, TFLOP/s. --host: each iteration also keeps one core busy for as many milliseconds.
"""
import argparse
import json
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--size", type=int, default=12288)
    parser.add_argument("--products", type=int, default=20, help="products an iteration")
    parser.add_argument("--host", type=float, default=0, help="milliseconds of CPU time an iteration")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("gemm_loop: PyTorch sees no GPU")
    shape = (options.size, options.size)
    a = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    time.sleep(0.5)  # the clock before the load is in the trace
    begin, iterations = time.perf_counter(), 0
    while time.perf_counter() - begin < options.seconds:
        torch.cuda.nvtx.range_push("step")
        for _ in range(options.products):
            a @ b
        until = time.thread_time() + options.host / 1e3
        while time.thread_time() < until:
            pass
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        iterations += 1
    seconds = time.perf_counter() - begin
    flops = 2 * options.size**3 * options.products * iterations
    print(json.dumps({"program": "gemm_loop", "iterations": iterations, "tflops": round(flops / seconds / 1e12, 1)}))


if __name__ == "__main__":
    main()
