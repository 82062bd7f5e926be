#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One step of a decoder as one CUDA graph, replayed: bytes by layer inside of graph replays.

    decode / layer 0 … layer 23   NVTX ranges, open while the graph is captured; replays run outside of any range

Prints what each layer must read a step: its weights and its cache, once. Weights of 2.9 GB do not stay in any L2."""
import argparse
import json

import torch
from torch.cuda import nvtx
from torch.nn import functional

LAYERS, WIDTH, HEADS, HIDDEN = 24, 2048, 32, 8192
BATCH, TOKENS = 4, 1024


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.RMSNorm(WIDTH) for _ in range(2))
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate_up = torch.nn.Linear(WIDTH, 2 * HIDDEN, bias=False)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=False)
        self.register_buffer("cache", torch.randn(2, BATCH, HEADS, TOKENS, WIDTH // HEADS))

    def forward(self, x, position):
        q, k, v = self.qkv(self.norms[0](x)).view(BATCH, 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        self.cache.index_copy_(3, position, torch.stack((k, v)))
        attended = functional.scaled_dot_product_attention(q, self.cache[0], self.cache[1])
        x = x + self.out(attended.transpose(1, 2).reshape(BATCH, 1, WIDTH))
        gate, up = self.gate_up(self.norms[1](x)).chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    with torch.device("cuda"):
        layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS)).half()
        x, position = torch.randn(BATCH, 1, WIDTH).half(), torch.zeros(1, dtype=torch.long)

    def step(y):
        for number, layer in enumerate(layers):
            with nvtx.range(f"layer {number}"):
                y = layer(y, position)
        return y

    step(x)  # loads kernels, which a capture cannot
    graph = torch.cuda.CUDAGraph()
    with nvtx.range("decode"), torch.cuda.graph(graph):
        y = step(x)
    for _ in range(steps):
        graph.replay()
    torch.cuda.synchronize()
    layer = layers[0]
    weights = sum(p.numel() * p.element_size() for p in layer.parameters())
    cache = layer.cache.numel() * layer.cache.element_size()
    print(json.dumps({"case": "decoder", "layers": LAYERS, "steps": steps, "finite": bool(y.isfinite().all()),
                      "layer_read_bytes": (weights + cache) * steps}))


main()
