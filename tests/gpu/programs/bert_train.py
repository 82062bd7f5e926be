# SPDX-License-Identifier: Apache-2.0
"""Training steps of Hugging Face's BERT (base, 12 layers), FP32 or autocast: random weights, synthetic tokens, AdamW.

Prints one JSON line: steps a second after the warm-up. --ranges: the step and its parts as a user would name them.
Without it the program does not use NVTX.
"""
import argparse
import contextlib
import json
import os
import time

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import torch
from transformers import BertConfig, BertForMaskedLM


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--ranges", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("bert_train: PyTorch sees no GPU")

    torch.manual_seed(0)
    config = BertConfig()
    model = BertForMaskedLM(config).train().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    tokens = torch.randint(0, config.vocab_size, (options.batch, options.tokens))
    named = torch.cuda.nvtx.range if options.ranges else lambda name: contextlib.nullcontext()

    def step(number):
        with named(f"step_{number}"):
            optimizer.zero_grad(set_to_none=True)
            with named("forward"), torch.autocast("cuda", torch.bfloat16, enabled=options.autocast):
                batch = tokens.to("cuda")
                loss = model(input_ids=batch, labels=batch).loss
            with named("backward"):
                loss.backward()
            with named("optimizer"):
                optimizer.step()
        return loss

    for number in range(options.warmup):
        loss = step(number)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for number in range(options.steps):
        loss = step(options.warmup + number)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    print(json.dumps({"program": "bert_train", "steps": options.steps, "warmup": options.warmup,
                      "autocast": options.autocast, "steps_per_s": round(options.steps / seconds, 2),
                      "last_loss": float(loss.detach())}), flush=True)


if __name__ == "__main__":
    main()
