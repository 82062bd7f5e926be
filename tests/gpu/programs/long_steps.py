# SPDX-License-Identifier: Apache-2.0
"""Iterations `step` of known length and known DRAM bytes: `copy` moves 2 GiB a copy, `compute` moves none.

Prints one JSON line: steps, bytes a step (read and written), milliseconds a step.
"""
import argparse
import json
import time

import torch

_GIB = 1 << 30


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--milliseconds", type=float, default=400, help="of a step")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--mixed", action="store_true", help="both take turns, instead of two phases")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("long_steps: PyTorch sees no GPU")
    source = torch.ones(_GIB, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)

    def copy(times):
        for _ in range(times):
            target.copy_(source)

    def compute(times):
        for _ in range(times):
            torch.cuda._sleep(1_000_000)  # cycles of a kernel that waits

    def duration(work, times):
        work(times)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work(times)
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / times

    half = options.milliseconds / 2e3
    copies, waits = max(1, round(half / duration(copy, 50))), max(1, round(half / duration(compute, 50)))
    steps = max(3, round(options.seconds * 1e3 / options.milliseconds))
    begin = time.perf_counter()
    for _ in range(steps):
        torch.cuda.nvtx.range_push("step")
        if options.mixed:
            for done in range(copies):
                copy(1)
                compute((done + 1) * waits // copies - done * waits // copies)
        else:
            for name, work, times in (("copy", copy, copies), ("compute", compute, waits)):
                torch.cuda.nvtx.range_push(name)
                work(times)
                torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()
    print(json.dumps({"program": "long_steps", "steps": steps, "bytes": 2 * _GIB * copies,
                      "ms": round(1e3 * (time.perf_counter() - begin) / steps, 1)}))


if __name__ == "__main__":
    main()
