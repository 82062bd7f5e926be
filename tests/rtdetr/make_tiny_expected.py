#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the data of tests/rtdetr/tiny_expected_test.cpp with the library.

  tiny.safetensors            calibrated weights of `tiny`, as F16: their fp16 values are the weights
  tiny_expected.safetensors   pixel_values (F16, exact: bytes over 256) and the library's result for them,
                              computed in fp64 on the CPU with exactly these weights, stored in fp32

Names and shapes are those of `rtdetr --dump`. The largest maps are excluded (EXCLUDED): a mistake in them shows in the
next stage, and the two files together stay below 2 MB.
"""
import os
import sys
from types import SimpleNamespace

sys.dont_write_bytecode = True

from safetensors.torch import save_file

from calibrated_weights import fill_weights, smooth_images
from hf_model import make_model
from reference_dumps import record

SIZE = (64, 128)
SEED = 3
EXCLUDED = {"stem0", "stem1", "stem2", "stage0_block0"}
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
MAX_BYTES = 2_000_000


def rounded_weights(model):
    """The state dict, with values rounded to fp16."""
    return {name: tensor.half().contiguous() for name, tensor in model.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def detections(dumps):
    """scores, labels and boxes of the library's image processor, best first."""
    from transformers import RTDetrImageProcessor
    output = SimpleNamespace(logits=dumps["logits"], pred_boxes=dumps["pred_boxes"])
    found = RTDetrImageProcessor().post_process_object_detection(output, threshold=-1.0, target_sizes=[SIZE])[0]
    return {name: tensor[None].contiguous() for name, tensor in found.items()}


def expected(model):
    pixels = smooth_images(1, *SIZE, SEED + 1).double() / 256
    dumps = record(model.double(), pixels)
    dumps.update(detections(dumps))
    stored = {name: tensor.float().contiguous() for name, tensor in dumps.items()
              if name not in EXCLUDED and tensor.is_floating_point()}
    stored["pixel_values"] = pixels.half()
    for name in ("topk_ind", "labels"):
        stored[name] = dumps[name].contiguous()
    return stored


def main():
    model = make_model("tiny", "cpu")
    fill_weights(model, SEED, *SIZE)
    weights = rounded_weights(model)
    model.load_state_dict({name: tensor.float() for name, tensor in weights.items()}, strict=False)
    files = {"tiny": weights, "tiny_expected": expected(model)}
    total = 0
    for name, tensors in files.items():
        path = os.path.join(DATA, name + ".safetensors")
        save_file(tensors, path)
        total += os.path.getsize(path)
        print(f"{path}: {len(tensors)} tensors, {os.path.getsize(path)} bytes")
    if total > MAX_BYTES:
        raise SystemExit(f"make_tiny_expected: {total} bytes are more than {MAX_BYTES}")


if __name__ == "__main__":
    main()
