# SPDX-License-Identifier: Apache-2.0
"""torchrun … tensor_parallel.py: a tensor-parallel decoder, each step one replay of a CUDA graph.

Each layer has the ranges `attn` and `mlp`, each with an all-reduce at its end. One rank does more in one layer.
Rank 0 prints what a profiler must find: the late rank, the layer and by how many ms of each step.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

LAYERS, WIDTH, TOKENS = 8, 4096, 64
BATCH_WARM = 3


class Decoder:
    def __init__(self, options, rank, world, device):
        self.options, self.rank = options, rank
        part = WIDTH // world
        self.weights = [[torch.randn(WIDTH, part, device=device, dtype=torch.bfloat16) / 64,
                         torch.randn(part, WIDTH, device=device, dtype=torch.bfloat16) / 64] for _ in range(2 * LAYERS)]
        self.extra = torch.randn(WIDTH, WIDTH, device=device, dtype=torch.bfloat16)
        self.group = dist.group.WORLD.group_name
        self.parts = None
        if options.all_reduce != "nccl":
            self.parts = symmetric.empty(TOKENS, WIDTH, dtype=torch.bfloat16, device=device)
            symmetric.rendezvous(self.parts, self.group)

    def all_reduce(self, x):
        if self.parts is None:
            dist.all_reduce(x)
            return x
        return torch.ops.symm_mem.one_shot_all_reduce(self.parts.copy_(x), "sum", self.group)

    def block(self, x, weights, more):
        up, down = weights
        for _ in range(more):
            torch.mm(self.extra, self.extra)
        return self.all_reduce(torch.nn.functional.silu(x @ up) @ down)

    def forward(self, x):
        nvtx = torch.cuda.nvtx
        with nvtx.range("decoder"):
            for layer in range(LAYERS):
                late = self.rank == self.options.slow and layer == self.options.layer
                with nvtx.range(f"layers/{layer}"):
                    with nvtx.range("attn"):
                        x = x + self.block(x, self.weights[2 * layer], 0)
                    with nvtx.range("mlp"):
                        x = x + self.block(x, self.weights[2 * layer + 1], self.options.more if late else 0)
        return x


def more_ms(decoder):
    """GPU time of the additional products, without a graph."""
    for _ in range(200):  # until the clocks are up
        torch.mm(decoder.extra, decoder.extra)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(20):
        torch.mm(decoder.extra, decoder.extra)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 20 * decoder.options.more


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--slow", type=int, default=-1)
    parser.add_argument("--layer", type=int, default=5)
    parser.add_argument("--more", type=int, default=4, help="products that the slow rank does more in that layer")
    parser.add_argument("--all-reduce", choices=("nccl", "one_shot"), default="nccl")
    parser.add_argument("--eager", action="store_true", help="no graph")
    options = parser.parse_args()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    decoder = Decoder(options, rank, world, device)
    x = torch.randn(TOKENS, WIDTH, device=device, dtype=torch.bfloat16)
    for _ in range(BATCH_WARM):
        decoder.forward(x)
    more = more_ms(decoder)
    graph = None
    if not options.eager:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decoder.forward(x)
    torch.cuda.synchronize()
    dist.barrier()
    begin = time.monotonic()
    for _ in range(options.steps):
        with torch.cuda.nvtx.range("token"):
            if graph is None:
                decoder.forward(x)
            else:
                graph.replay()
            torch.cuda.synchronize()
    ms_step = (time.monotonic() - begin) / options.steps * 1e3
    dist.barrier()
    torch.cuda.synchronize()
    del graph  # NCCL waits for the graphs of a communicator before it ends it
    if rank == 0:
        print(json.dumps({"prog": "tensor_parallel", "ranks": world, "steps": options.steps, "late": options.slow, "ms_step": ms_step,
                          "layer": options.layer, "more_ms": more if options.slow >= 0 else 0,
                          "all_reduces": 2 * LAYERS * (options.steps + BATCH_WARM)}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
