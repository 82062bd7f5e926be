# SPDX-License-Identifier: Apache-2.0
"""Weights from a seed that keep every activation in a healthy range, and expose wrong wiring.

The library's own random weights are useless for a comparison: features vanish, all scores are alike, boxes are
never refined and attention is uniform, so that a wrong implementation passes. Here convolutions preserve variance,
norms have different scales and shifts, and offsets and attention depend on the query. Then each batch norm gets the
moments of its real inputs.

What a block adds to its shortcut is damped, as it is after training. Without that, a rounding error grows a
thousandfold from the pixels to P5 (measured on R50: there the library's own fp16 differs by 40 % from its fp32), and
errors at the end say nothing about their origin. With it, those 40 % are 1.5 %.

Every tensor has its own generator, seeded by its name: if a model grows a layer, the other tensors stay the same.
"""
import math
import zlib

import torch
from torch import nn

CALIBRATION_IMAGES = 4
SCORE_GAIN = 4.0  # spreads the scores: separates the last selected one from the first rejected one
BLOCK_GAIN = 0.1  # of the last batch norm of a ResNet block, against its shortcut
UPDATE_GAIN = 0.3  # of the updates by the decoder's attention and feed-forward layers
UPDATES = (".self_attn.o_proj", ".encoder_attn.output_proj", ".mlp.fc2")
MIN_VARIANCE = 1e-4  # of a channel that is dead on the calibration images


def generator(seed, name):
    return torch.Generator().manual_seed((seed << 32) ^ zlib.crc32(name.encode()))


def smooth_images(count, height, width, seed):
    """(count, 3, height, width), bytes: plane waves and a few rectangles with sharp edges."""
    y = torch.linspace(0, 1, height, dtype=torch.float64)[:, None]
    x = torch.linspace(0, 1, width, dtype=torch.float64)[None, :]
    images = torch.empty(count, 3, height, width, dtype=torch.uint8)
    for image in range(count):
        random = torch.rand(3, 8, 5, generator=generator(seed, f"image {image}"), dtype=torch.float64)
        for channel in range(3):
            value = torch.full((height, width), 0.5, dtype=torch.float64)
            for cycles_y, cycles_x, phase, strength, edge in random[channel]:
                value += 0.2 * strength * torch.sin(2 * math.pi * (12 * cycles_y * y + 12 * cycles_x * x + phase))
                inside = ((y - cycles_y).abs() < 0.08 + 0.1 * edge) & ((x - cycles_x).abs() < 0.05 + 0.15 * phase)
                value += 0.4 * (strength - 0.5) * inside
            images[image, channel] = (value.clamp(0, 1) * 255).round().to(torch.uint8)
    return images


def is_batch_norm(module):
    return isinstance(module, nn.BatchNorm2d) or type(module).__name__.endswith("FrozenBatchNorm2d")


def uniform(tensor, low, high, source):
    tensor.copy_(low + (high - low) * torch.rand(tensor.shape, generator=source))


def normal(tensor, deviation, source):
    tensor.copy_(deviation * torch.randn(tensor.shape, generator=source))


def fill_module(name, module, seed):
    """Weights of one module by its kind; the decoder's exceptions come later."""
    def source(part):
        return generator(seed, f"{name}.{part}")
    if isinstance(module, nn.Conv2d):
        fan_in = module.weight[0].numel()
        normal(module.weight, math.sqrt(2.0 / fan_in), source("weight"))
    elif isinstance(module, nn.Linear):
        bound = math.sqrt(6.0 / (module.in_features + module.out_features))
        uniform(module.weight, -bound, bound, source("weight"))
        uniform(module.bias, -0.1, 0.1, source("bias"))
    elif is_batch_norm(module):
        uniform(module.weight, 0.5, 1.5, source("weight"))
        normal(module.bias, 0.2, source("bias"))
    elif isinstance(module, nn.LayerNorm):
        uniform(module.weight, 0.8, 1.2, source("weight"))
        normal(module.bias, 0.1, source("bias"))
    elif isinstance(module, nn.Embedding):
        normal(module.weight, 0.02, source("weight"))


def fill_exceptions(model, seed):
    offsets = {name: module for name, module in model.named_modules() if name.endswith(".sampling_offsets")}
    for name, module in offsets.items():
        normal(module.weight, 0.03, generator(seed, name + ".weight"))
        heads = model.config.decoder_attention_heads
        grid = offset_grid(heads, module.bias.numel() // (heads * model.config.decoder_n_points * 2),
                           model.config.decoder_n_points)
        module.bias.copy_(grid)
        weights = model.get_submodule(name.replace("sampling_offsets", "attention_weights"))
        normal(weights.weight, 0.06, generator(seed, name + ".attention_weights"))
    for index, head in enumerate(model.model.decoder.bbox_embed):
        normal(head.layers[-1].weight, 0.02, generator(seed, f"bbox_embed.{index}.last"))
    model.model.enc_score_head.weight.mul_(SCORE_GAIN)
    for stage in model.model.backbone.model.encoder.stages:
        for block in stage.layers:
            block.layer[-1].normalization.weight.mul_(BLOCK_GAIN)
    for name, module in model.model.decoder.named_modules():
        if name.endswith(UPDATES):
            module.weight.mul_(UPDATE_GAIN)


def offset_grid(heads, levels, points):
    """Each head has its own direction, each point is one step further: as in the paper's code."""
    angles = torch.arange(heads, dtype=torch.float64) * (2 * math.pi / heads)
    grid = torch.stack([angles.cos(), angles.sin()], -1)
    grid = (grid / grid.abs().max(-1, keepdim=True)[0]).view(heads, 1, 1, 2).repeat(1, levels, points, 1)
    return (grid * torch.arange(1, points + 1, dtype=torch.float64).view(1, 1, points, 1)).float().view(-1)


@torch.no_grad()
def calibrate(model, pixels):
    """Gives each batch norm the moments of its input, in the order of one forward pass."""
    def before(module, inputs):
        moments = inputs[0].double()
        module.running_mean.copy_(moments.mean((0, 2, 3)))
        module.running_var.copy_(moments.var((0, 2, 3), unbiased=False).clamp_min(MIN_VARIANCE))
    hooks = [module.register_forward_pre_hook(before) for module in model.modules() if is_batch_norm(module)]
    try:
        model(pixel_values=pixels)
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def fill_weights(model, seed, height=640, width=640):
    """Fills all weights of `model`, on its device, from the seed."""
    for name, module in model.named_modules():
        fill_module(name, module, seed)
    fill_exceptions(model, seed)
    images = smooth_images(CALIBRATION_IMAGES, height, width, seed).to(model.device)
    calibrate(model, images.float() / 255)
