#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One step of a Llama decoder under torch.compile: code that Inductor writes, in which no module's range opens.

    --mode reduce-overhead   Inductor captures CUDA graphs of its code and replays them
    --mode default           Inductor's code, launched kernel by kernel
    --mode eager             no compilation: each module's forward runs, and hooks on modules see it

The prompt is read by the modules themselves, before the steps. --profiler-api calls cudaProfilerStart only after the
warm-up, when the graphs are captured. Prints what each layer must read a step: its weights, once."""
import argparse
import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

PROMPT = 64


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("reduce-overhead", "default", "eager"), default="reduce-overhead")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=8)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--profiler-api", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=options.layers,
                         num_attention_heads=16, num_key_value_heads=16, vocab_size=32000, max_position_embeddings=1024)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).half().eval()
    cache = StaticCache(config=config, max_cache_len=512)

    def step(tokens, position):
        out = model(tokens, position_ids=position[None], cache_position=position, past_key_values=cache, use_cache=True)
        return out.logits[:, -1].argmax(-1, keepdim=True)

    token = step(torch.randint(0, config.vocab_size, (1, PROMPT), device="cuda"), torch.arange(PROMPT, device="cuda"))
    decode = step if options.mode == "eager" else torch.compile(step, mode=options.mode)
    position = torch.tensor([PROMPT], device="cuda")
    for number in range(options.warmup + options.steps):
        if number == options.warmup and options.profiler_api:
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
        torch.compiler.cudagraph_mark_step_begin()
        token = decode(token, position).clone()
        position.add_(1)
    torch.cuda.synchronize()
    if options.profiler_api:
        torch.cuda.profiler.stop()
    layer_bytes = sum(p.numel() * p.element_size() for p in model.model.layers[0].parameters())
    print(json.dumps({"mode": options.mode, "layers": options.layers, "layer_bytes": layer_bytes,
                      "steps": options.steps}))


if __name__ == "__main__":
    main()
