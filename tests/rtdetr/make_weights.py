#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_weights.py MODEL… [--seed N] --out DIR: makes calibrated weights of each model, in two files.

Writes DIR/MODEL.safetensors (names of transformers 5) and DIR/MODEL.old.safetensors (names of the files on the hub:
what save_pretrained() writes, with the heads a second time). Prints a line per file. The files are made on demand
because they are too large to keep: R50 has 172 MB.
"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import torch
from safetensors.torch import load_file, save_file

from calibrated_weights import fill_weights
from hf_model import MODELS, make_model, old_name, old_state_dict, precision

TINY_SIZE = (128, 160)


def names_of_save_pretrained(model):
    """Names that the library itself writes; they test old_name()."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        return set(load_file(os.path.join(folder, "model.safetensors")))


def write(model, path):
    """Writes both files. Returns the number of their tensors."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(state, path + ".safetensors", metadata={"format": "pt"})
    old = old_state_dict(state)
    save_file(old, path + ".old.safetensors", metadata={"format": "pt"})
    return len(state), len(old)


def make(name, seed, folder):
    """Makes the files; returns the path of the one with new names."""
    path = os.path.join(folder, name)
    model = make_model(name)
    height, width = TINY_SIZE if name == "tiny" else (640, 640)
    with precision("fp32"):
        fill_weights(model, seed, height, width)
    counts = write(model, path)
    written = names_of_save_pretrained(model)
    unexpected = written ^ {old_name(key) for key in model.state_dict()}
    same = "the names of save_pretrained()" if not unexpected else f"NOT those of save_pretrained(): {sorted(unexpected)[:3]}"
    print(f"{path}.safetensors: {counts[0]} tensors; {path}.old.safetensors: {counts[1]}, {same}", flush=True)
    return path + ".safetensors"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["r18", "r34", "r50", "r101"], metavar="MODEL",
                        help=f"of {', '.join(MODELS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("make_weights: PyTorch sees no GPU")
    os.makedirs(options.out, exist_ok=True)
    for name in options.models:
        make(name, options.seed, options.out)


if __name__ == "__main__":
    main()
