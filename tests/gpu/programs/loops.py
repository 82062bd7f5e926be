# SPDX-License-Identifier: Apache-2.0
"""Loops as frameworks write them, with small models of random weights.

loops.py generate     transformers' generate() with a static cache: 3 prompts, 64 new tokens each
loops.py trainer      transformers' Trainer: 12 steps, each of 2 batches
loops.py lightning    Lightning's Trainer: 12 steps
loops.py accumulate   a plain loop: 10 steps, each of 4 batches

Prints one JSON line: {"range": {name: calls}}, the ranges that the hooks must open.
"""
import argparse
import json
import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch

PROMPTS, TOKENS, STEPS = 3, 64, 12


def generate():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(hidden_size=512, intermediate_size=1024, num_hidden_layers=4, num_attention_heads=8,
                         vocab_size=4096, max_position_embeddings=512)
    model = LlamaForCausalLM(config).cuda().half().eval()
    model.generation_config.eos_token_id = None  # random weights may choose it
    model.generation_config.pad_token_id = 0
    for _ in range(PROMPTS):
        prompt = torch.randint(1, config.vocab_size, (1, 32), device="cuda")
        model.generate(prompt, max_new_tokens=TOKENS, do_sample=False, cache_implementation="static")
    return {"prefill": PROMPTS, "decode": PROMPTS * (TOKENS - 1)}


class Classifier(torch.nn.Module):
    """The loss is the first output, as Trainer wants it."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))

    def forward(self, x, labels):
        logits = self.layers(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def samples(count):
    return [{"x": torch.randn(256), "labels": torch.tensor(i % 10)} for i in range(count)]


def trainer():
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(output_dir=folder, max_steps=STEPS, per_device_train_batch_size=8,
                                      gradient_accumulation_steps=2, report_to=[], save_strategy="no",
                                      logging_strategy="no", disable_tqdm=True)
        Trainer(model=Classifier(), args=arguments, train_dataset=samples(16 * STEPS)).train()
    return {"step": STEPS}


def lightning():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Classifier()

        def training_step(self, batch, _):
            return self.model(**batch)["loss"]

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    loader = torch.utils.data.DataLoader(samples(8 * STEPS), batch_size=8)
    lightning.Trainer(max_steps=STEPS, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      enable_model_summary=False, accelerator="gpu", devices=1).fit(Module(), loader)
    return {"step": STEPS}


def accumulate():
    model = Classifier().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(10):
        for _ in range(4):
            x, labels = torch.randn(8, 256).to("cuda"), torch.randint(0, 10, (8,), device="cuda")
            (model(x, labels)["loss"] / 4).backward()
        optimizer.step()
        optimizer.zero_grad()
    return {"step": 10}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loop", choices=("generate", "trainer", "lightning", "accumulate"))
    ranges = globals()[parser.parse_args().loop]()
    torch.cuda.synchronize()
    print(json.dumps({"range": ranges}))


if __name__ == "__main__":
    main()
