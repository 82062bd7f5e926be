# SPDX-License-Identifier: Apache-2.0
"""Checks of rtdetr other than the comparison of tensors: files to accept or refuse, equal bits in repeated runs, and
image and detections as the library's image processor gives them."""
import os
from types import SimpleNamespace

import torch
from safetensors.torch import load_file, save_file

import comparison
from comparison import Finding, Outcome
from hf_model import old_state_dict
from program import ProgramFailed, write_images

SQUARE = (640, 640)
WRONG_FILE = 2  # rtdetr's exit code
REPLAYS = 100
TIE = 1e-6  # scores closer than this may be in either order
PIXELS = 0.01  # error of a corner, at 800 pixels in fp32
FP16_HEADROOM = 65504 / 16


def detections(dumps, size):
    """scores, labels and boxes must be the library's result for rtdetr's own logits and boxes."""
    from transformers import RTDetrImageProcessor
    output = SimpleNamespace(logits=dumps["logits"].cpu(), pred_boxes=dumps["pred_boxes"].cpu())
    wanted = RTDetrImageProcessor().post_process_object_detection(output, threshold=-1.0,
                                                                  target_sizes=[size] * len(output.logits))
    for image, want in enumerate(wanted):
        scores, labels, boxes = (dumps[name][image].cpu() for name in ("scores", "labels", "boxes"))
        order = torch.sort(want["scores"], descending=True, stable=True).indices
        want = {name: tensor[order] for name, tensor in want.items()}
        gaps = (want["scores"][:-1] - want["scores"][1:]).abs()
        alone = torch.ones(len(scores), dtype=torch.bool)
        alone[1:] &= gaps > TIE
        alone[:-1] &= gaps > TIE
        yield Finding("post", f"scores of image {image}", comparison.greatest(scores, want["scores"]), TIE)
        yield Finding("post", f"labels of image {image}", (labels != want["labels"])[alone].sum().item(), 0)
        yield Finding("post", f"boxes of image {image}", comparison.greatest(boxes[alone], want["boxes"][alone]), PIXELS)


def healthy_weights(bench):
    """No activation vanishes or nears the maximum of fp16; the selection has no ties at its end."""
    findings = []
    text = []
    for name in ("r18", "r34", "r50", "r101"):
        reference, _ = bench.references(name, 1, SQUARE)
        maps = {key: tensor for key, tensor in reference.items()
                if key not in ("topk_ind", "init_reference_points", "pixel_values")}
        greatest = max(tensor.abs().max().item() for tensor in maps.values())
        least = min(tensor.std().item() for key, tensor in maps.items() if not key.endswith(("_ref", "pred_boxes")))
        findings.append(Finding("weights", f"{name}: greatest activation", greatest, FP16_HEADROOM))
        findings.append(Finding("weights", f"{name}: an activation hardly varies ({least:.2g})", 0 if least > 0.01 else 1, 0))
        outside = (reference["init_reference_points"][..., 0] > 1e30).sum().item()
        findings.append(Finding("weights", f"{name}: chosen positions outside", outside, 0))
        scores = reference["enc_outputs_class"].max(-1).values.sort(descending=True).values[0]
        queries = reference["topk_ind"].shape[1]
        spacing = ((scores[queries - 10] - scores[queries + 10]) / 20).item()
        text.append(f"{name} max {greatest:.0f} min std {least:.2f} score spacing {spacing:.1e}")
    return Outcome(findings, "; ".join(text))


def old_names(bench):
    """A file with the hub's names gives the same bits as one with new names."""
    weights = bench.weights("r18")
    old = os.path.join(bench.folder, "old-names.safetensors")
    save_file(old_state_dict(load_file(weights)), old)
    files = bench.image_files(1, SQUARE)
    results = [bench.program.dumps(bench.program.arguments("r18", path, "fp32", files, SQUARE)) for path in (weights, old)]
    different = [name for name in results[0] if not torch.equal(results[0][name], results[1][name])]
    return Outcome([Finding("names", f"different: {different[:3]}", len(different), 0)], f"{len(results[0])} dumps equal")


def wrong_weights(bench):
    """One missing tensor, one unknown one, one of another shape: each is refused by name."""
    good = load_file(bench.weights("r18"))
    victim = "model.decoder.layers.1.encoder_attn.value_proj.weight"
    broken = {
        "missing": ({name: tensor for name, tensor in good.items() if name != victim}, victim),
        "surplus": ({**good, "model.decoder.layers.9.extra.weight": torch.zeros(3)}, "model.decoder.layers.9.extra.weight"),
        "misshapen": ({**good, victim: torch.zeros(256, 255)}, victim),
    }
    findings = []
    for kind, (state, name) in broken.items():
        path = os.path.join(bench.folder, kind + ".safetensors")
        save_file(state, path)
        case = bench.program.arguments("r18", path, "fp32", bench.image_files(1, SQUARE), SQUARE)
        try:
            bench.program.run(*case, "--iterations", 1)
            refused, said = False, "it ran"
        except ProgramFailed as error:
            refused, said = error.exit_code == WRONG_FILE and name in error.stderr, str(error)
        os.unlink(path)
        findings.append(Finding("weights", f"{kind}: {said}", 0 if refused else 1, 0))
    return Outcome(findings, "missing, surplus and misshapen tensors are named")


def same_bits(dtype):
    """The same input twice, and launches compared with replays of a graph."""
    def run(bench):
        case = bench.program.arguments("r50", bench.weights("r50"), dtype, bench.image_files(1, SQUARE), SQUARE)
        first, second = bench.program.dumps(case), bench.program.dumps(case)
        different = [name for name in first if not torch.equal(first[name], second[name])]
        launched = bench.program.detections(case, "--graph", "off", "--iterations", 1, "--warmup", 0)
        replayed = bench.program.detections(case, "--graph", "on", "--iterations", REPLAYS)
        return Outcome([Finding("bits", f"different: {different[:3]}", len(different), 0),
                        Finding("bits", "no detections", 0 if launched[0] else 1, 0),
                        Finding("bits", "launched and replayed", 0 if launched == replayed else 1, 0)],
                       f"{len(first)} dumps; {len(launched[0])} detections after {REPLAYS} replays")
    return run


def batch_invariance(dtype):
    """The first of eight images compared with that image alone."""
    def run(bench):
        reference, _ = bench.references("r50", 8, SQUARE)
        files = bench.image_files(8, SQUARE)
        weights = bench.weights("r50")
        chosen = reference["topk_ind"]
        eight = bench.program.dumps(bench.program.arguments("r50", weights, dtype, files, SQUARE), chosen)
        one = bench.program.dumps(bench.program.arguments("r50", weights, dtype, files[:1], SQUARE), chosen[:1])
        library = bench.hugging_face("r50", dtype, 8, SQUARE, chosen)
        limits = comparison.whole_pass_limits(dtype, reference, library)
        return Outcome([Finding("batch", name, comparison.greatest(one[name], eight[name][:1]), limits[kind])
                        for name, kind in (("logits", "logits"), ("pred_boxes", "boxes"))], "image 0 of 8 and alone")
    return run


def preprocessing(bench):
    """A picture of another size, compared with the library's image processor: one step of 255 may differ."""
    from transformers import RTDetrImageProcessor
    findings = []
    for height, width in ((480, 640), (1080, 1333), (333, 500)):
        picture = bench.images(1, (height, width))
        files = write_images(picture, bench.folder)
        case = bench.program.arguments("r18", bench.weights("r18"), "fp32", files, SQUARE)
        found = bench.program.dumps(case)["pixel_values"].cpu()
        wanted = RTDetrImageProcessor()(images=list(picture), return_tensors="pt")["pixel_values"]
        findings.append(Finding("pixels", f"{height}x{width}", comparison.greatest(found, wanted), 1 / 255 + 1e-6))
        other = ((found - wanted).abs() > 0.5 / 255).float().mean().item()
        findings.append(Finding("pixels", f"{height}x{width}: share that differs", other, 0.01))
    return Outcome(findings, ", ".join(f"{one.name} {one.error:.2g}" for one in findings))


CASES = {"names: old and new": old_names, "weights: wrong files": wrong_weights, "preprocessing": preprocessing,
         **{f"bits-{dtype}": same_bits(dtype) for dtype in ("fp32", "tf32", "fp16", "bf16")},
         "batch-fp32": batch_invariance("fp32"), "batch-fp16": batch_invariance("fp16")}
