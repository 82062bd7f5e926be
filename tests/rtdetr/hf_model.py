# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's RTDetrForObjectDetection in the shapes of workloads/rtdetr/config.cpp.

Nothing is downloaded: models come from a configuration, their weights from calibrated_weights.py or from a file. TF32
is off unless precision("tf32") is active.
"""
import contextlib
import os
import re

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")

import torch
from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig
from transformers.utils import logging

logging.disable_progress_bar()

TORCH_TYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
               "fp64": torch.float64}
BASIC = {"layer_type": "basic", "hidden_sizes": [64, 128, 256, 512], "embedding_size": 64}
BOTTLENECK = {"layer_type": "bottleneck", "hidden_sizes": [256, 512, 1024, 2048], "embedding_size": 64}
SMALL = {"encoder_in_channels": [128, 256, 512], "hidden_expansion": 0.5}
# (backbone, detector): differences from the defaults, which are R50's
MODELS = {
    "r18": ({**BASIC, "depths": [2, 2, 2, 2]}, {**SMALL, "decoder_layers": 3}),
    "r34": ({**BASIC, "depths": [3, 4, 6, 3]}, {**SMALL, "decoder_layers": 4}),
    "r50": ({**BOTTLENECK, "depths": [3, 4, 6, 3]}, {}),
    "r101": ({**BOTTLENECK, "depths": [3, 4, 23, 3]},
             {"encoder_hidden_dim": 384, "encoder_ffn_dim": 2048, "decoder_in_channels": [384, 384, 384]}),
    "tiny": ({"layer_type": "bottleneck", "depths": [2, 1, 1, 1], "hidden_sizes": [32, 64, 128, 256],
              "embedding_size": 16},
             {"encoder_in_channels": [64, 128, 256], "encoder_hidden_dim": 64, "encoder_ffn_dim": 128,
              "encoder_attention_heads": 2, "hidden_expansion": 0.5, "d_model": 64,
              "decoder_in_channels": [64, 64, 64], "decoder_layers": 2, "decoder_ffn_dim": 96,
              "decoder_attention_heads": 2, "num_queries": 64, "num_labels": 16}),
}


def configuration(name):
    backbone, detector = MODELS[name]
    resnet = RTDetrResNetConfig(out_features=["stage2", "stage3", "stage4"], downsample_in_bottleneck=False,
                                **backbone)
    return RTDetrConfig(backbone_config=resnet, **{"num_labels": 80, **detector})


def make_model(name, device="cuda", attention="sdpa"):
    """A model in evaluation mode, fp32, with the library's own random weights. "eager" attention is plain products
    and a softmax; "sdpa", the library's default, is one call that selects a kernel."""
    with torch.device(device):
        model = RTDetrForObjectDetection(configuration(name))
    if attention == "eager":
        model.set_attn_implementation("eager")
    return model.to(device).eval().requires_grad_(False)


def use_anchors_of_fp32(model):
    """The last bit decides which anchors at the edges are valid: 49.5 of 50 columns is just below 0.99 in fp32 on a
    GPU, but not in fp64. The fp64 truth uses the anchors of the reference, or whole rows would differ."""
    generate = model.generate_anchors

    def generate_in_fp32(*arguments, dtype, **named):
        anchors, valid = generate(*arguments, dtype=torch.float32, **named)
        return anchors.to(dtype), valid

    model.generate_anchors = generate_in_fp32


def load_model(name, path, dtype="fp32", attention="sdpa"):
    """The model with the weights of a file in new names, in the type that `dtype` computes with."""
    from safetensors.torch import load_file
    model = make_model(name, attention=attention)
    model.load_state_dict(load_file(path, device="cuda"), strict=True)
    if dtype == "fp64":
        use_anchors_of_fp32(model.model)
    return model.to(TORCH_TYPES[dtype])


@contextlib.contextmanager
def precision(dtype):
    """Matrix products and convolutions in TF32 if `dtype` is tf32, otherwise in full precision."""
    switches = [(torch.backends.cuda.matmul, "allow_tf32"), (torch.backends.cudnn, "allow_tf32"),
                (torch.backends.cuda.matmul, "allow_fp16_reduced_precision_reduction"),
                (torch.backends.cuda.matmul, "allow_bf16_reduced_precision_reduction")]
    before = [getattr(place, name) for place, name in switches]
    for place, name in switches:
        setattr(place, name, dtype == "tf32" and name == "allow_tf32")
    try:
        yield
    finally:
        for (place, name), value in zip(switches, before):
            setattr(place, name, value)


def old_name(name):
    """The name of a tensor in files written before transformers 5."""
    name = name.replace(".self_attn.o_proj.", ".self_attn.out_proj.").replace(".encoder.aifi.", ".encoder.encoder.")
    return re.sub(r"(\.layers\.\d+)\.mlp\.(fc[12]\.)", r"\1.\2", name)


def old_state_dict(state):
    """The layout of old checkpoints: old names, and the decoder's heads a second time at the top."""
    old = {old_name(name): tensor for name, tensor in state.items()}
    for name, tensor in state.items():
        for head in ("class_embed.", "bbox_embed."):
            if name.startswith("model.decoder." + head):
                old[name.removeprefix("model.decoder.")] = tensor.clone()
    return old
