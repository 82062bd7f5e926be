#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of a BERT encoder (base: 12 layers), FP32 or mixed precision: which share of a step is attention?

    step / forward                            the program's own ranges
           ├─ embeddings
           ├─ layers/0 … 11
           │  ├─ attention / qkv, scores, softmax, dropout, context, out
           │  └─ attention_norm, feed_forward, feed_forward_norm
           └─ head, loss
         / backward / layers/0/attention/scores …
         / optimizer

Attention is written out, so that each of its parts has kernels of its own. A part is a module without code around
it, and so has a name: `rangefinder run --torch-modules` opens a range for each module, and for each module's part of
the backward pass, which autograd runs on its own thread. That needs no code here, so it is the way to take. The one
figure is `rangefinder report DIR --range '**/attention/**' --total`. --hooks opens the modules' ranges from here,
for a run without --torch-modules: then the backward pass is one range.

--precision fp32: FP32 with TF32 off. amp: autocast to FP16 with a GradScaler, as in the usual recipe of 2020; BF16
needs no scaler, but runs on the same tensor cores at the same rate. Tokens are random; 15 % are masked, and the loss
is that of these. Prints one JSON object. Exit code 3: there is no GPU."""
import argparse
import json
import math
import sys

import torch
from torch import nn
from torch.cuda import nvtx

LAYERS, WIDTH, HEADS, HIDDEN, VOCABULARY, MOST_TOKENS = 12, 768, 12, 3072, 30522, 512
DROPOUT, MASKED = 0.1, 0.15


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(MOST_TOKENS, WIDTH)
        self.norm, self.dropout = nn.LayerNorm(WIDTH), nn.Dropout(DROPOUT)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.dropout(self.norm(self.token(tokens) + self.position(positions)))


class Qkv(nn.Linear):
    """(batch, tokens, width) to queries, keys and values (batch, heads, tokens, width / heads)."""

    def forward(self, x):
        return super().forward(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4).unbind()


class Scores(nn.Module):
    def forward(self, queries, keys):
        return queries @ keys.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)


class Context(nn.Module):
    def forward(self, weights, values):
        return (weights @ values).transpose(1, 2).flatten(2)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.scores, self.softmax = Qkv(WIDTH, 3 * WIDTH), Scores(), nn.Softmax(dim=-1)
        self.dropout, self.context, self.out = nn.Dropout(DROPOUT), Context(), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        queries, keys, values = self.qkv(x)
        return self.out(self.context(self.dropout(self.softmax(self.scores(queries, keys))), values))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.attention_norm = Attention(), nn.LayerNorm(WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH))
        self.feed_forward_norm, self.dropout = nn.LayerNorm(WIDTH), nn.Dropout(DROPOUT)

    def forward(self, x):
        x = self.attention_norm(x + self.dropout(self.attention(x)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings, self.layers = Embeddings(), nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY))
        self.head[-1].weight = self.embeddings.token.weight
        self.loss = nn.CrossEntropyLoss()

    def forward(self, tokens, masked, labels):
        """`masked`: positions in the flattened batch."""
        x = self.embeddings(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.loss(self.head(x.flatten(0, 1).index_select(0, masked)), labels)


def initialise(module):
    """BERT's: PyTorch's embeddings of deviation 1 make a first loss of hundreds, and gradients that FP16 cannot hold."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)


def add_ranges(model):
    """A hook must return None: another value replaces the module's input or output."""
    def before(name):
        def push(*_):
            nvtx.range_push(name)
        return push

    def after(*_):
        nvtx.range_pop()

    for name, module in model.named_modules():
        if name:
            module.register_forward_pre_hook(before(name))
            module.register_forward_hook(after)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=("fp32", "amp"), default="fp32")
    parser.add_argument("--sequence", type=int, default=384, help="tokens, 128 to 512")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--hooks", action="store_true", help="ranges of the modules without --torch-modules")
    options = parser.parse_args()
    if not 128 <= options.sequence <= MOST_TOKENS or min(options.batch, options.steps) < 1 or options.warmup < 0:
        parser.error("--sequence is 128 to 512; --batch and --steps are 1 or more")
    if not torch.cuda.is_available():
        print("bert.py: PyTorch sees no GPU", file=sys.stderr)
        sys.exit(3)
    return options


def main():
    options = arguments()
    amp = options.precision == "amp"
    torch.set_float32_matmul_precision("highest")  # without TF32
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = Bert().apply(initialise).train()
        tokens = torch.randint(VOCABULARY, (options.batch, options.sequence))
        masked = torch.randperm(tokens.numel())[:max(1, int(MASKED * tokens.numel()))]
        labels = torch.randint(VOCABULARY, masked.shape)
    if options.hooks:
        add_ranges(model)
    # Fused, it takes the scaler's factor and its verdict on the GPU. Otherwise each step waits for that verdict.
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler("cuda", enabled=amp)

    def step():
        with nvtx.range("step"):
            with nvtx.range("forward"), torch.autocast("cuda", torch.float16, enabled=amp):
                loss = model(tokens, masked, labels)
            with nvtx.range("backward"):
                scaler.scale(loss).backward()
            with nvtx.range("optimizer"):
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
        return loss

    for _ in range(options.warmup):
        step()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(options.steps):
        loss = step()
    end.record()
    torch.cuda.synchronize()
    seconds = begin.elapsed_time(end) / 1000 / options.steps
    print(json.dumps({"case": "bert", "precision": options.precision, "layers": LAYERS, "sequence": options.sequence,
                      "batch": options.batch, "steps": options.steps, "warmup": options.warmup,
                      "seconds_per_step": seconds, "samples_per_second": options.batch / seconds,
                      "finite": bool(loss.isfinite())}))


main()
