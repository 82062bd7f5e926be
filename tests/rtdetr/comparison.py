# SPDX-License-Identifier: Apache-2.0
"""What is compared, how an error is measured, and its limit.

README.md says how the views are judged.

  rel    ||x - r|| / ||r|| of the whole tensor
  max    maximum |x - r|: for logits, and for boxes, which are shares of the image

The error at the end of a whole pass depends on how much the weights amplify a rounding error. With these
weights the library itself, in fp16, has three times the numbers below at P5 and eight times at the logits.
"""
from dataclasses import dataclass

import torch

from stages import expected_outputs

# stage: rel of any stage. free: rel of C5 and P5. logits, boxes: max, after the same selection.
# swaps: number of the selected positions that may differ.
LIMITS = {
    "fp32": {"stage": 5e-6, "free": 5e-5, "logits": 1e-3, "boxes": 1e-4, "swaps": 2},
    "tf32": {"stage": 1e-3, "free": 3e-3, "logits": 2e-2, "boxes": 2e-3, "swaps": 8},
    "fp16": {"stage": 1e-3, "free": 5e-3, "logits": 5e-2, "boxes": 5e-3, "swaps": 8},
    "bf16": {"stage": 8e-3, "free": 4e-2, "logits": 0.3, "boxes": 2e-2, "swaps": 60},
}
MAX_TIMES_THE_LIBRARY = 1.5
# Errors below this are rounding of the result itself, and a ratio says nothing.
RATIO_FLOOR = {"fp32": 3e-7, "tf32": 3e-7, "fp16": 1e-5, "bf16": 1e-4}
# Integers, or the box logits of invalid anchors (maximum float): checked elsewhere.
NOT_MEASURED = {"topk_ind", "pixel_values"}


@dataclass
class Finding:
    """One measured error with a limit."""
    view: str
    name: str
    error: float
    limit: float

    @property
    def ok(self):
        return self.error <= self.limit  # False for NaN


@dataclass
class Outcome:
    """The findings of a case, and one line about it."""
    findings: list
    text: str = ""


def comparable(name, tensor):
    """Box logits of anchors outside the image are the maximum float: as boxes they are 1."""
    return tensor.sigmoid() if name == "init_reference_points" else tensor


def relative(name, found, wanted):
    if found.shape != wanted.shape:
        return float("nan")
    found, wanted = (comparable(name, tensor.double()) for tensor in (found, wanted))
    return ((found - wanted).norm() / wanted.norm().clamp_min(1e-30)).item()


def greatest(found, wanted):
    if found.shape != wanted.shape:
        return float("nan")
    return (found.double() - wanted.double()).abs().max().item()


def stage_findings(model, dumps, chosen, dtype):
    limit = LIMITS[dtype]["stage"]
    for name, wanted in expected_outputs(model, dumps, chosen):
        yield Finding("stage", name, relative(name, dumps[name], wanted), limit)


def free_names(reference):
    """Dumps to measure, in the reference's order."""
    return [name for name in reference if name not in NOT_MEASURED]


def coarsest_maps(reference):
    """C5 and P5."""
    blocks = [name for name in reference if name.startswith("stage3_block")]
    return [max(blocks, key=lambda name: int(name.removeprefix("stage3_block"))), "pan1"]


def box_names(reference):
    return [name for name in reference if name.endswith("_ref")] + ["pred_boxes"]


def whole_pass_limits(dtype, reference, library=None):
    """The limits of the type, or MAX_TIMES_THE_LIBRARY the library's own errors if these are greater."""
    limits = dict(LIMITS[dtype])
    if library is None:
        return limits
    own = {"free": max(relative(name, library[name], reference[name]) for name in coarsest_maps(reference)),
           "logits": greatest(library["logits"], reference["logits"]),
           "boxes": max(greatest(library[name], reference[name]) for name in box_names(reference))}
    for kind, error in own.items():
        limits[kind] = max(limits[kind], MAX_TIMES_THE_LIBRARY * error)
    return limits


def free_findings(dumps, reference, limits):
    for name in coarsest_maps(reference):
        yield Finding("free", name, relative(name, dumps[name], reference[name]), limits["free"])
    yield Finding("max", "logits", greatest(dumps["logits"], reference["logits"]), limits["logits"])
    for name in box_names(reference):
        yield Finding("max", name, greatest(dumps[name], reference[name]), limits["boxes"])


def ratio_findings(dumps, library, truth, dtype):
    """Limits each error to 1.5 times the library's own error in this type."""
    for name in free_names(truth):
        ours = relative(name, dumps[name], truth[name])
        theirs = relative(name, library[name], truth[name])
        limit = MAX_TIMES_THE_LIBRARY * theirs + RATIO_FLOOR[dtype]
        yield Finding("ratio", name, ours, limit)


def missing(dumps, reference):
    """Names that are missing or have another shape."""
    return [name for name, tensor in reference.items()
            if name not in dumps or dumps[name].shape != tensor.shape]


def best_positions(scores, count):
    """For (images, rows, labels): rows by their maximum score, then by row number."""
    best = scores.max(-1).values
    return torch.sort(best, dim=1, descending=True, stable=True).indices[:, :count]


def selection_findings(dumps, reference, limits):
    """The selection is right for its own scores, and differs from the reference's only near the last one."""
    own, theirs = dumps["topk_ind"], reference["topk_ind"]
    wrong = (own != best_positions(dumps["enc_outputs_class"], own.shape[1])).sum().item()
    yield Finding("top-k", "not the best of its own scores", wrong, 0)
    scores = reference["enc_outputs_class"].max(-1).values
    swaps, farthest = 0, 0.0
    for image in range(len(own)):
        last = scores[image, theirs[image]].min()
        other = own[image][~torch.isin(own[image], theirs[image])]
        swaps = max(swaps, len(other))
        if len(other):
            farthest = max(farthest, (last - scores[image, other]).abs().max().item())
    yield Finding("top-k", "swaps", swaps, limits["swaps"])
    # Two scores can swap only if they differ by less than twice the error of each.
    yield Finding("top-k", "distance of swaps", farthest, 2 * limits["logits"])


def common_rows(dumps, reference):
    """Free selection: maximum error of logits and boxes over the rows that both selected, and whether the sets are the
    same. The decoder does not depend on the order of its queries."""
    logits, boxes, same = [], [], True
    for image in range(len(dumps["topk_ind"])):
        own, theirs = dumps["topk_ind"][image], reference["topk_ind"][image]
        place = {position: row for row, position in enumerate(theirs.tolist())}
        rows = [(row, place[position]) for row, position in enumerate(own.tolist()) if position in place]
        same = same and len(rows) == len(place)
        left, right = (torch.tensor(side, device=own.device) for side in zip(*rows))
        logits.append((dumps["logits"][image, left] - reference["logits"][image, right]).abs().amax(-1))
        boxes.append((dumps["pred_boxes"][image, left] - reference["pred_boxes"][image, right]).abs().amax(-1))
    return torch.cat(logits), torch.cat(boxes), same


def common_row_findings(dumps, reference, limits):
    """If the sets differ, every query has seen other queries: then the median row counts."""
    logits, boxes, same = common_rows(dumps, reference)
    for name, errors in (("logits", logits), ("boxes", boxes)):
        error = errors.max() if same else errors.median()
        yield Finding("own choice", f"{name}, {'worst' if same else 'median'} row", error.item(), limits[name])
