# SPDX-License-Identifier: Apache-2.0
"""Intermediates of Hugging Face's model under the names of `rtdetr --dump`, by hooks.

Maps are (images, channels, height, width), sequences (images, rows, channels), all in fp32 unless the model
computes in fp64. The hooks only read.
"""
import contextlib

import torch


class ForcedTopK:
    """Replaces torch.topk while the model runs: records the model's own choice and returns the forced one. The model
    has exactly one such call; a second one raises an error."""

    def __init__(self, forced):
        self.forced = forced  # (images, queries), or None
        self.chosen = None
        self._topk = torch.topk

    def __call__(self, values, k, dim=-1, **others):
        if self.chosen is not None:
            raise RuntimeError("the model calls torch.topk more than once: reference_dumps.py must be updated")
        found = self._topk(values, k, dim=dim, **others)
        self.chosen = found.indices
        if self.forced is None:
            return found
        indices = self.forced.to(values.device)
        return torch.return_types.topk((values.gather(dim, indices), indices))

    @contextlib.contextmanager
    def in_place(self):
        torch.topk = self
        try:
            yield self
        finally:
            torch.topk = self._topk


def hooked_modules(model):
    """(name of the dump, module whose output it is)."""
    inner = model.model
    resnet = inner.backbone.model
    yield from ((f"stem{i}", module) for i, module in enumerate(resnet.embedder.embedder))
    yield "pool", resnet.embedder.pooler
    for number, stage in enumerate(resnet.encoder.stages):
        yield from ((f"stage{number}_block{i}", block) for i, block in enumerate(stage.layers))
    yield from ((f"inproj{i}", module) for i, module in enumerate(inner.encoder_input_proj))
    aifi = inner.encoder.aifi[0].layers[0]
    for part in ("q", "k", "v"):
        yield f"aifi_{part}", getattr(aifi.self_attn, part + "_proj")
    yield from (("aifi_attn", aifi.self_attn), ("aifi_ln1", aifi.self_attn_layer_norm), ("aifi_out", aifi))
    for kind, modules in (("lat", inner.encoder.lateral_convs), ("fpn", inner.encoder.fpn_blocks),
                          ("down", inner.encoder.downsample_convs), ("pan", inner.encoder.pan_blocks)):
        yield from ((f"{kind}{i}", module) for i, module in enumerate(modules))
    yield from (("output_memory", inner.enc_output), ("enc_outputs_class", inner.enc_score_head))
    for i, layer in enumerate(inner.decoder.layers):
        yield from ((f"dec{i}_self_attn", layer.self_attn), (f"dec{i}_ln1", layer.self_attn_layer_norm),
                    (f"dec{i}_msda", layer.encoder_attn), (f"dec{i}_ln2", layer.encoder_attn_layer_norm),
                    (f"dec{i}_ffn", layer.mlp), (f"dec{i}_ln3", layer.final_layer_norm))


def sampling_of(args, kwargs):
    """Finds locations and weights among the arguments of the sampling module by their dimensions."""
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
    locations = next(tensor for tensor in tensors if tensor.dim() == 6)
    weights = next(tensor for tensor in tensors if tensor.dim() == 5)
    return locations, weights


class Recorder:
    """Collects dumps while its hooks are on a model."""

    def __init__(self, model):
        self.dumps = {}
        self._model = model
        self._keep = torch.float64 if model.dtype == torch.float64 else torch.float32
        self._positions = 0

    def keep(self, name, tensor):
        self.dumps[name] = tensor.detach().to(self._keep)

    def _output(self, name):
        def after(_, __, output):
            self.keep(name, output[0] if isinstance(output, tuple) else output)
        return after

    def _position(self, _, __, output):
        self.keep(f"dec{self._positions}_pos", output)
        self._positions += 1

    def _sampling(self, index):
        def before(_, args, kwargs):
            locations, weights = sampling_of(args, kwargs)
            self.keep(f"dec{index}_sampling_locations", locations)
            self.keep(f"dec{index}_attention_weights", weights)
        return before

    def _decoder_input(self, _, __, kwargs):
        for name, argument in (("source_flatten", "encoder_hidden_states"), ("target", "inputs_embeds"),
                               ("init_reference_points", "reference_points")):
            self.keep(name, kwargs[argument])

    @contextlib.contextmanager
    def on(self):
        decoder = self._model.model.decoder
        hooks = [module.register_forward_hook(self._output(name)) for name, module in hooked_modules(self._model)]
        hooks.append(decoder.query_pos_head.register_forward_hook(self._position))
        hooks.append(decoder.register_forward_pre_hook(self._decoder_input, with_kwargs=True))
        for i, layer in enumerate(decoder.layers):
            hooks.append(layer.encoder_attn.attn.register_forward_pre_hook(self._sampling(i), with_kwargs=True))
        try:
            yield self
        finally:
            for hook in hooks:
                hook.remove()


@torch.no_grad()
def record(model, pixels, forced_top_k=None):
    """All dumps of one forward pass. `forced_top_k` (images, queries) replaces the model's own choice after the
    selection; topk_ind still holds its own choice."""
    recorder = Recorder(model)
    with recorder.on(), ForcedTopK(forced_top_k).in_place() as selection:
        output = model(pixel_values=pixels.to(model.dtype))
    recorder.keep("pixel_values", pixels.to(model.dtype))
    for i in range(len(model.model.decoder.layers)):
        recorder.keep(f"dec{i}_ref", output.intermediate_reference_points[:, i])
    recorder.keep("logits", output.logits)
    recorder.keep("pred_boxes", output.pred_boxes)
    recorder.dumps["topk_ind"] = selection.chosen.to(torch.int64)
    return recorder.dumps
