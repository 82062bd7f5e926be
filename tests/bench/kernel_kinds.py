#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# The program of exact_against_ncu.py and metrics_against_ncu.py: kernels of many kinds, each in its own range.
#
#   measured/CASE    one call; measured/clean before it reads 512 MiB, so that L2 holds no written lines
#
# --only CASES: those, separated by ';', without `clean`. --repeat N: all of them N times.
#
# Allocates everything and runs every case once before cudaProfilerStart. Prints one JSON object: per path the bytes of
# the tensors that the call reads and writes (`declared_bytes`; for index tensors and gathers, the bytes that the
# indices refer to). Needs PyTorch and a GPU.
import argparse
import json

import torch
import torch.nn.functional as F

MEBI = 1 << 20


def size(*tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def elementwise(cases):
    a, b, c, out = (torch.rand(128 * MEBI, device="cuda") for _ in range(4))  # 512 MiB each
    half = torch.rand(256 * MEBI, device="cuda", dtype=torch.float16)
    half_out = torch.empty_like(half)
    mask = torch.rand(128 * MEBI, device="cuda") > 0.5
    cases["fill 512 MiB"] = (lambda: out.fill_(1.5), size(out))
    cases["neg 512 MiB"] = (lambda: torch.neg(a, out=out), size(a, out))
    cases["add 512 MiB"] = (lambda: torch.add(a, b, out=out), size(a, b, out))
    cases["addcmul 512 MiB"] = (lambda: torch.addcmul(a, b, c, out=out), size(a, b, c, out))
    cases["sigmoid fp16 512 MiB"] = (lambda: torch.sigmoid(half, out=half_out), size(half, half_out))
    cases["where 512 MiB"] = (lambda: torch.where(mask, a, b, out=out), size(mask, a, b, out))
    cases["cast fp32 to fp16"] = (lambda: half_out[:128 * MEBI].copy_(a), size(a) * 3 // 2)
    cases["neg 8 MiB"] = (lambda: torch.neg(a[:2 * MEBI], out=out[:2 * MEBI]), 16 * MEBI)
    cases["add 64 MiB"] = (lambda: torch.add(a[:16 * MEBI], b[:16 * MEBI], out=out[:16 * MEBI]), 192 * MEBI)
    cases["cat 2 x 256 MiB"] = (lambda: torch.cat([a[:64 * MEBI], b[:64 * MEBI]], out=out), 2 * size(out))
    wide = a.view(8192, 16384)
    cases["transpose fp32 512 MiB"] = (lambda: out.view(16384, 8192).copy_(wide.t()), size(a, out))
    cases["strided copy"] = (lambda: out[:64 * MEBI].copy_(a[::2]), size(a) * 3 // 2)


def reductions(cases):
    a = torch.rand(65536, 4096, device="cuda")  # 1 GiB
    half = torch.rand(65536, 2048, device="cuda", dtype=torch.float16)  # 256 MiB
    weight, bias = torch.rand(2048, device="cuda").half(), torch.rand(2048, device="cuda").half()
    few = a[:32768, :2048].contiguous()  # 256 MiB
    cases["sum of rows 1 GiB"] = (lambda: a.sum(1), size(a))
    cases["sum of columns 1 GiB"] = (lambda: a.sum(0), size(a))
    cases["max of rows 1 GiB"] = (lambda: a.max(1), size(a))
    cases["softmax fp16 256 MiB"] = (lambda: torch.softmax(half, 1), 2 * size(half))
    cases["log_softmax 1 GiB"] = (lambda: torch.log_softmax(a, 1), 2 * size(a))
    cases["layer_norm fp16 256 MiB"] = (lambda: F.layer_norm(half, (2048,), weight, bias), 2 * size(half))
    cases["cumsum 256 MiB"] = (lambda: torch.cumsum(few, 1), 2 * size(few))
    cases["topk 20 of 2048"] = (lambda: torch.topk(few, 20, 1), size(few))
    keys = torch.randint(0, 1 << 30, (16 * MEBI,), device="cuda", dtype=torch.int32)
    cases["sort 64 MiB"] = (lambda: torch.sort(keys), 0)


def products(cases):
    def half(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.float16)

    def product(name, a, b):
        cases[name] = (lambda: torch.matmul(a, b), size(a, b) + a.shape[:-1].numel() * b.shape[-1] * a.element_size())

    product("matmul fp16 4096", half(4096, 4096), half(4096, 4096))
    product("matmul fp16 8192", half(8192, 8192), half(8192, 8192))
    product("matmul fp16 65536 x 1024 x 1024", half(65536, 1024), half(1024, 1024))
    product("matmul fp32 4096", torch.randn(4096, 4096, device="cuda"), torch.randn(4096, 4096, device="cuda"))
    product("matmul fp16 300 x 256 x 1024", half(300, 256), half(256, 1024))
    product("matrix by vector 1 GiB", half(32768, 16384), half(16384, 1))
    product("batched matmul fp16 256 x 1024 x 64 x 1024", half(256, 1024, 64), half(256, 64, 1024))
    q, k, v = (half(8, 16, 4096, 64) for _ in range(3))
    cases["attention fp16 4096"] = (lambda: F.scaled_dot_product_attention(q, k, v), 4 * size(q))


def images(cases):
    x = torch.randn(64, 256, 112, 112, device="cuda", dtype=torch.float16)  # 392 MiB
    last = x.contiguous(memory_format=torch.channels_last)
    small = torch.randn(32, 256, 56, 56, device="cuda", dtype=torch.float16)
    kernel3 = torch.randn(256, 256, 3, 3, device="cuda", dtype=torch.float16)
    kernel1 = torch.randn(128, 256, 1, 1, device="cuda", dtype=torch.float16)
    deep = torch.randn(256, 1, 3, 3, device="cuda", dtype=torch.float16)
    mean, variance = torch.zeros(256, device="cuda").half(), torch.ones(256, device="cuda").half()
    grid = torch.rand(64, 56, 56, 2, device="cuda", dtype=torch.float16) * 2 - 1
    cases["conv 3x3 fp16"] = (lambda: F.conv2d(small, kernel3, padding=1), 0)
    cases["conv 1x1 fp16, channels last"] = (
        lambda: F.conv2d(last, kernel1.contiguous(memory_format=torch.channels_last)), 0)
    cases["conv depthwise fp16"] = (lambda: F.conv2d(x, deep, padding=1, groups=256), 2 * size(x))
    cases["batch_norm fp16 392 MiB"] = (lambda: F.batch_norm(x, mean, variance), 2 * size(x))
    cases["max_pool fp16 392 MiB"] = (lambda: F.max_pool2d(x, 2), size(x))
    cases["to channels last 392 MiB"] = (lambda: x.contiguous(memory_format=torch.channels_last), 2 * size(x))
    cases["interpolate bilinear"] = (lambda: F.interpolate(small, scale_factor=2, mode="bilinear"), 5 * size(small))
    cases["grid_sample"] = (lambda: F.grid_sample(x, grid, align_corners=False), 0)


def gathers(cases):
    table = torch.randn(400_000, 512, device="cuda", dtype=torch.float16)  # 391 MiB
    rows = torch.randint(0, 400_000, (262_144,), device="cuda")
    flat = torch.randn(256 * MEBI, device="cuda")  # 1 GiB
    places = torch.randint(0, 256 * MEBI, (16 * MEBI,), device="cuda")
    sums = torch.zeros(400_000, 512, device="cuda")
    added = torch.randn(65536, 512, device="cuda")
    gathered = 2 * rows.numel() * 512 * 2
    cases["embedding, 262144 rows of 1 KiB"] = (lambda: F.embedding(rows, table), gathered + size(rows))
    cases["index_select, 262144 rows of 1 KiB"] = (lambda: table.index_select(0, rows), gathered + size(rows))
    cases["gather, 16 Mi random words"] = (lambda: flat.gather(0, places), 16 * MEBI * (32 + 4 + 8))
    cases["index_add, atomics"] = (lambda: sums.index_add_(0, rows[:65536], added), 2 * 2 * size(added))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=lambda text: text.split(";"))
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    cases = {}
    for group in (elementwise, reductions, products, images, gathers):
        group(cases)
    if args.only:
        cases = {name: cases[name] for name in args.only}
    dirt = torch.rand(128 * MEBI, device="cuda").view(32768, 4096)
    with torch.inference_mode():
        for run, _ in cases.values():
            run()
        dirt.sum(1)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        torch.cuda.nvtx.range_push("measured")
        for name, (run, _) in [*cases.items()] * args.repeat:
            for path, call in (("clean", lambda: dirt.sum(1)), (name, run)):
                if path == "clean" and args.only:
                    continue
                torch.cuda.nvtx.range_push(path)
                call()
                torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
        torch.cuda.nvtx.range_pop()
        torch.cuda.profiler.stop()
    print(json.dumps({"ranges": [{"path": f"measured/{name}", "calls": args.repeat, "declared_bytes": declared * args.repeat}
                                 for name, (_, declared) in cases.items()]}), flush=True)


if __name__ == "__main__":
    main()
