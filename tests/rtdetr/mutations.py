# SPDX-License-Identifier: Apache-2.0
"""Typical mistakes in RT-DETR, one at a time, made in Hugging Face's model. The comparison must catch each.

Each is a function(model) that makes the mistake and returns a function that undoes it, and the name of the first dump
that must be wrong.
"""
import contextlib

import torch
from torch import nn


def replaced(place, name, value):
    """Sets an attribute, and returns a function that restores it."""
    before = getattr(place, name)
    setattr(place, name, value)
    return lambda: setattr(place, name, before)


def hooked(module, before):
    return module.register_forward_pre_hook(before).remove


def scaled(tensors, change):
    before = [tensor.clone() for tensor in tensors]
    for tensor in tensors:
        tensor.copy_(change(tensor))

    def undo():
        for tensor, value in zip(tensors, before):
            tensor.copy_(value)
    return undo


def all_of(undos):
    undos = list(undos)
    return lambda: [undo() for undo in reversed(undos)]


def samples_without_half(model):
    """x * W instead of x * W - 0.5."""
    def wrapped(forward):
        def shifted(value, spatial_shapes, spatial_shapes_list, level_start_index, sampling_locations, *others):
            sizes = torch.tensor(spatial_shapes_list, device=value.device, dtype=sampling_locations.dtype).flip(-1)
            return forward(value, spatial_shapes, spatial_shapes_list, level_start_index,
                           sampling_locations + 0.5 / sizes[:, None, :], *others)
        return shifted
    return all_of(replaced(layer.encoder_attn.attn, "forward", wrapped(layer.encoder_attn.attn.forward))
                  for layer in model.model.decoder.layers)


def swap_halves(_, inputs):
    first, second = inputs[0].chunk(2, dim=1)
    return (torch.cat([second, first], 1),)


def fpn_concat_swapped(model):
    return hooked(model.model.encoder.fpn_blocks[1], swap_halves)


def pan_concat_swapped(model):
    return hooked(model.model.encoder.pan_blocks[0], swap_halves)


def lateral_without_silu(model):
    return replaced(model.model.encoder.lateral_convs[0], "activation", nn.Identity())


def bottleneck_without_silu(model):
    return replaced(model.model.encoder.fpn_blocks[0].bottlenecks[2], "activation", nn.Identity())


def gelu_by_tanh(model):
    mlp = model.model.encoder.aifi[0].layers[0].mlp
    return replaced(mlp, "activation_fn", nn.GELU(approximate="tanh"))


def batch_norm_epsilon(model):
    return all_of(replaced(module, "eps", 1e-3) for module in model.modules() if isinstance(module, nn.BatchNorm2d))


def offsets(model):
    for layer in model.model.decoder.layers:
        yield layer.encoder_attn.sampling_offsets


def offsets_x_y_swapped(model):
    return all_of(scaled([module.weight, module.bias],
                         lambda tensor: tensor.unflatten(0, (-1, 2)).flip(1).flatten(0, 1)) for module in offsets(model))


def offsets_not_over_points(model):
    return all_of(scaled([module.weight, module.bias], lambda tensor: 4 * tensor) for module in offsets(model))


def norm_before_residual(model):
    """x + norm(attention) instead of norm(x + attention)."""
    layer = model.model.decoder.layers[0]
    seen = []
    undo_hook = layer.self_attn.register_forward_hook(lambda _, __, output: seen.append(output[0])).remove
    norm = layer.self_attn_layer_norm
    original = norm.forward

    def wrong(total):
        update = seen.pop()
        return (total - update) + original(update)
    return all_of([undo_hook, replaced(norm, "forward", wrong)])


def position_rows_columns_swapped(model):
    """The embedding of a map with height and width swapped: equal on square maps."""
    embedding = model.model.encoder.aifi[0].position_embedding
    original = embedding.forward
    return replaced(embedding, "forward",
                    lambda width, height, **others: original(width=height, height=width, **others))


def invalid_positions_kept(model):
    """Memory is not zeroed where the anchor is outside the image."""
    original = model.model.generate_anchors

    def kept(*args, **kwargs):
        anchors, valid = original(*args, **kwargs)
        return anchors, torch.ones_like(valid)
    return replaced(model.model, "generate_anchors", kept)


def boxes_not_refined(model):
    """The second layer's box head adds nothing."""
    last = model.model.decoder.bbox_embed[1].layers[-1]
    return scaled([last.weight, last.bias], torch.zeros_like)


# name -> (mistake, first dump that must be wrong, size at which it shows)
MUTATIONS = {
    "no -0.5 in sampling": (samples_without_half, "dec0_msda", "any"),
    "concat of FPN swapped": (fpn_concat_swapped, "fpn1", "any"),
    "concat of PAN swapped": (pan_concat_swapped, "pan0", "any"),
    "SiLU of a lateral convolution omitted": (lateral_without_silu, "lat0", "any"),
    "SiLU of a RepVGG block omitted": (bottleneck_without_silu, "fpn0", "any"),
    "GELU by tanh": (gelu_by_tanh, "aifi_out", "any"),
    "epsilon of batch norms 1e-3": (batch_norm_epsilon, "inproj0", "any"),
    "x and y of offsets swapped": (offsets_x_y_swapped, "dec0_sampling_locations", "any"),
    "offsets not over the points": (offsets_not_over_points, "dec0_sampling_locations", "any"),
    "norm before residual": (norm_before_residual, "dec0_ln1", "any"),
    "rows and columns of the position embedding swapped": (position_rows_columns_swapped, "aifi_q", "not square"),
    "positions outside not zeroed": (invalid_positions_kept, "output_memory", "at least 512"),
    "boxes of a layer not refined": (boxes_not_refined, "dec1_ref", "any"),
}


@contextlib.contextmanager
def mutated(model, name):
    with torch.no_grad():
        undo = MUTATIONS[name][0](model)
    try:
        yield model
    finally:
        with torch.no_grad():
            undo()
