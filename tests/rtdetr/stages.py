# SPDX-License-Identifier: Apache-2.0
"""Each stage of the network on its own, in Hugging Face's modules. They get an implementation's inputs of the stage,
and give the expected outputs. The implementation's dumps are enough: it need not accept tensors."""
import torch
import torch.nn.functional as F

from reference_dumps import sampling_of


def backbone(model, dumps):
    resnet = model.model.backbone.model
    last = dumps["pixel_values"]
    for i, module in enumerate(resnet.embedder.embedder):
        yield f"stem{i}", module(last)
        last = dumps[f"stem{i}"]
    yield "pool", resnet.embedder.pooler(last)
    last = dumps["pool"]
    for number, stage in enumerate(resnet.encoder.stages):
        for i, block in enumerate(stage.layers):
            yield f"stage{number}_block{i}", block(last)
            last = dumps[f"stage{number}_block{i}"]


def last_block(model, stage):
    return f"stage{stage}_block{len(model.model.backbone.model.encoder.stages[stage].layers) - 1}"


def sequence(feature_map):
    return feature_map.flatten(2).transpose(1, 2)


def aifi(model, dumps):
    for i, module in enumerate(model.model.encoder_input_proj):
        yield f"inproj{i}", module(dumps[last_block(model, i + 1)])
    holder = model.model.encoder.aifi[0]
    layer = holder.layers[0]
    coarsest = dumps["inproj2"]
    rows = sequence(coarsest)
    height, width = coarsest.shape[-2:]
    with_position = rows + holder.position_embedding(width=width, height=height, device=rows.device, dtype=rows.dtype)
    attention = layer.self_attn
    yield "aifi_q", attention.q_proj(with_position)
    yield "aifi_k", attention.k_proj(with_position)
    yield "aifi_v", attention.v_proj(rows)
    heads = model.config.encoder_attention_heads
    query, key, value = (dumps[f"aifi_{part}"].unflatten(-1, (heads, -1)).transpose(1, 2) for part in "qkv")
    scores = (query @ key.transpose(-1, -2)) * query.shape[-1] ** -0.5
    yield "aifi_attn", attention.o_proj((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))
    yield "aifi_ln1", layer.self_attn_layer_norm(rows + dumps["aifi_attn"])
    yield "aifi_out", layer.final_layer_norm(dumps["aifi_ln1"] + layer.mlp(dumps["aifi_ln1"]))


def fusion(model, dumps):
    encoder = model.model.encoder
    height, width = dumps["inproj2"].shape[-2:]
    last = dumps["aifi_out"].transpose(1, 2).unflatten(2, (height, width))
    for i in range(2):
        yield f"lat{i}", encoder.lateral_convs[i](last)
        coarse = F.interpolate(dumps[f"lat{i}"], scale_factor=2.0, mode="nearest")
        yield f"fpn{i}", encoder.fpn_blocks[i](torch.cat([coarse, dumps[f"inproj{1 - i}"]], 1))
        last = dumps[f"fpn{i}"]
    for i in range(2):
        yield f"down{i}", encoder.downsample_convs[i](last)
        yield f"pan{i}", encoder.pan_blocks[i](torch.cat([dumps[f"down{i}"], dumps[f"lat{1 - i}"]], 1))
        last = dumps[f"pan{i}"]


def level_shapes(dumps):
    return tuple(tuple(dumps[name].shape[-2:]) for name in ("fpn1", "pan0", "pan1"))


def rows_at(tensor, indices):
    return tensor.expand(len(indices), -1, -1).gather(1, indices[..., None].expand(-1, -1, tensor.shape[-1]))


def selection(model, dumps, chosen):
    """`chosen`: the positions that the decoder really got, (images, queries)."""
    inner = model.model
    memory = dumps["source_flatten"]
    yield "source_flatten", torch.cat([sequence(inner.decoder_input_proj[i](dumps[name]))
                                       for i, name in enumerate(("fpn1", "pan0", "pan1"))], 1)
    anchors, valid = inner.generate_anchors(level_shapes(dumps), device=memory.device, dtype=memory.dtype)
    yield "output_memory", inner.enc_output(valid.to(memory.dtype) * memory)
    yield "enc_outputs_class", inner.enc_score_head(dumps["output_memory"])
    yield "target", rows_at(dumps["output_memory"], chosen)
    yield "init_reference_points", inner.enc_bbox_head(dumps["target"]) + rows_at(anchors, chosen)


def inverse_sigmoid(x, least=1e-5):
    x = x.clamp(0, 1)
    return torch.log(x.clamp_min(least) / (1 - x).clamp_min(least))


def level_places(dumps, device):
    """Sizes of the levels, and the row at which each begins."""
    sizes = torch.tensor(level_shapes(dumps), device=device)
    return sizes, torch.cat((sizes.new_zeros(1), sizes.prod(1).cumsum(0)[:-1]))


def cross_attention(module, dumps, x, position, boxes):
    """(output, locations, weights) of the library's own module."""
    sizes, starts = level_places(dumps, x.device)
    seen = []
    hook = module.attn.register_forward_pre_hook(lambda _, args, kwargs: seen.append(sampling_of(args, kwargs)),
                                                 with_kwargs=True)
    try:
        output = module(hidden_states=x, encoder_hidden_states=dumps["source_flatten"],
                        position_embeddings=position, reference_points=boxes.unsqueeze(2), spatial_shapes=sizes,
                        spatial_shapes_list=list(level_shapes(dumps)), level_start_index=starts)[0]
    finally:
        hook.remove()
    return output, *seen[0]


def sampled(module, dumps, locations, weights):
    """The second half of cross attention: from given locations and weights."""
    value = module.value_proj(dumps["source_flatten"]).unflatten(-1, (weights.shape[2], -1))
    sizes, starts = level_places(dumps, value.device)
    return module.output_proj(module.attn(value, sizes, list(level_shapes(dumps)), starts, locations, weights,
                                          module.im2col_step))


def decoder_layer(model, dumps, index):
    decoder = model.model.decoder
    layer = decoder.layers[index]
    prefix = f"dec{index}_"
    x = dumps["target"] if index == 0 else dumps[f"dec{index - 1}_ln3"]
    boxes = dumps["init_reference_points"].sigmoid() if index == 0 else dumps[f"dec{index - 1}_ref"]
    position = dumps[prefix + "pos"]
    yield prefix + "pos", decoder.query_pos_head(boxes)
    yield prefix + "self_attn", layer.self_attn(hidden_states=x, position_embeddings=position,
                                                attention_mask=None)[0]
    yield prefix + "ln1", layer.self_attn_layer_norm(x + dumps[prefix + "self_attn"])
    x = dumps[prefix + "ln1"]
    _, locations, weights = cross_attention(layer.encoder_attn, dumps, x, position, boxes)
    yield prefix + "sampling_locations", locations
    yield prefix + "attention_weights", weights.view_as(dumps[prefix + "attention_weights"])
    yield prefix + "msda", sampled(layer.encoder_attn, dumps, dumps[prefix + "sampling_locations"],
                                   dumps[prefix + "attention_weights"])
    yield prefix + "ln2", layer.encoder_attn_layer_norm(x + dumps[prefix + "msda"])
    yield prefix + "ffn", layer.mlp(dumps[prefix + "ln2"])
    yield prefix + "ln3", layer.final_layer_norm(dumps[prefix + "ln2"] + dumps[prefix + "ffn"])
    yield prefix + "ref", (decoder.bbox_embed[index](dumps[prefix + "ln3"]) + inverse_sigmoid(boxes)).sigmoid()


@torch.no_grad()
def expected_outputs(model, dumps, chosen):
    """(name, expected output of the stage), in the order of the network. `dumps` have the type and the device of
    `model`."""
    yield from backbone(model, dumps)
    yield from aifi(model, dumps)
    yield from fusion(model, dumps)
    yield from selection(model, dumps, chosen)
    layers = len(model.model.decoder.layers)
    for index in range(layers):
        yield from decoder_layer(model, dumps, index)
    yield "logits", model.model.decoder.class_embed[layers - 1](dumps[f"dec{layers - 1}_ln3"])
