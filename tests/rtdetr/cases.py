# SPDX-License-Identifier: Apache-2.0
"""The cases of verify.py: what runs, what it is compared with, and one line of result."""
from dataclasses import dataclass
from typing import Callable

import torch

import comparison
import program_checks
from comparison import Finding, Outcome
from hf_model import precision
from mutations import MUTATIONS, mutated
from reference_dumps import record

SQUARE = (640, 640)
WIDE = (512, 768)
ODD = (608, 800)


@dataclass
class Case:
    name: str
    run: Callable
    needs_program: bool = True


def present(dumps, reference):
    lost = comparison.missing(dumps, reference)
    return [Finding("dumps", "missing or of another shape: " + " ".join(lost[:8]), len(lost), 0)]


def compare(bench, dumps, model_name, dtype, count, size, library=None):
    """All findings of dumps that were made after the reference's selection."""
    reference, truth = bench.references(model_name, count, size)
    findings = present(dumps, reference)
    if not findings[0].ok:
        return findings
    unmatched = comparison.greatest(dumps["pixel_values"], reference["pixel_values"])
    findings.append(Finding("input", "pixel_values", unmatched, 0.004 if dtype in ("fp16", "bf16") else 1e-7))
    model = bench.model(model_name, "fp32", "eager")
    with precision("fp32"):
        findings += comparison.stage_findings(model, dumps, reference["topk_ind"], dtype)
    limits = comparison.whole_pass_limits(dtype, reference, library)
    findings += comparison.free_findings(dumps, reference, limits)
    findings += comparison.selection_findings(dumps, reference, limits)
    if library is not None:
        findings += comparison.ratio_findings(dumps, library, truth, dtype)
    return findings


def summary(findings):
    """The worst error of each view, beside its limit."""
    def worst(view, key=lambda one: one.error / max(one.limit, 1e-30)):
        ones = [one for one in findings if one.view == view]
        return max(ones, key=key) if ones else None
    parts = []
    for view in ("stage", "free", "max"):
        one = worst(view)
        if one is not None:
            parts.append(f"{view} {one.error:.1e}/{one.limit:.0e} {one.name}")
    ratio = worst("ratio")
    if ratio is not None:
        parts.append(f"of library {1.5 * ratio.error / max(ratio.limit, 1e-30):.2f}/1.5 {ratio.name}")
    swaps = [one for one in findings if one.name == "swaps"]
    if swaps:
        parts.append(f"swaps {swaps[0].error}")
    return ", ".join(parts)


def against_library(model_name, dtype, count, size, extra=()):
    """rtdetr in one type, with the reference's selection and with its own."""
    def run(bench):
        reference, _ = bench.references(model_name, count, size)
        case = bench.program.arguments(model_name, bench.weights(model_name), dtype, bench.image_files(count, size), size)
        dumps = bench.program.dumps([*case, *extra], reference["topk_ind"])
        library = bench.hugging_face(model_name, dtype, count, size, reference["topk_ind"])
        findings = compare(bench, dumps, model_name, dtype, count, size, library)
        findings += program_checks.detections(dumps, size)
        free = bench.program.dumps([*case, *extra])
        limits = comparison.whole_pass_limits(dtype, reference, library)
        findings += comparison.common_row_findings(free, reference, limits)
        return Outcome(findings, summary(findings))
    return run


def control(attention, channels_last):
    """The library compared with itself, computed in another way. It must pass, or the limits mean nothing."""
    def run(bench):
        reference, truth = bench.references("r50", 1, WIDE)
        model = bench.model("r50", "fp32", attention)
        pixels = bench.pixels(1, WIDE)
        if channels_last:
            pixels = pixels.to(memory_format=torch.channels_last)
        with precision("fp32"):
            dumps = record(model, pixels, reference["topk_ind"])
        findings = compare(bench, dumps, "r50", "fp32", 1, WIDE, reference)
        return Outcome(findings, summary(findings))
    return run


def library_errors(dtype):
    """How far the library itself is from the limits: only printed, except for the rule of the selection."""
    def run(bench):
        reference, truth = bench.references("r50", 1, SQUARE)
        dumps = bench.hugging_face("r50", dtype, 1, SQUARE, reference["topk_ind"])
        measured = compare(bench, dumps, "r50", dtype, 1, SQUARE)
        bad = sum(not one.ok for one in measured)
        return Outcome([], f"the library's own: {summary(measured)}; over a limit: {bad} of {len(measured)}")
    return run


def mutation(name):
    """The comparison must fail, and must name the stage of the mistake."""
    def run(bench):
        reference, truth = bench.references("r50", 1, WIDE)
        model = bench.model("r50", "fp32", "eager")
        with mutated(model, name), precision("fp32"):
            dumps = record(model, bench.pixels(1, WIDE), reference["topk_ind"])
        measured = compare(bench, dumps, "r50", "fp32", 1, WIDE, reference)
        bad = [one for one in measured if not one.ok]
        place = MUTATIONS[name][1]
        stages = [one.name for one in bad if one.view == "stage"]
        caught = next((one for one in bad if one.view == "stage" and one.name == place), None)
        findings = [Finding("mutation", f"not caught at {place}; caught at {stages[:3]}", 0 if caught else 1, 0)]
        times = f"{caught.error:.1e}, {caught.error / caught.limit:.0f} times the limit" if caught else "nothing"
        return Outcome(findings, f"caught at {place}: {times}; {len(bad)} of {len(measured)} checks fail")
    return run


def selection_mutation(bench):
    """Two adjacent selected positions swapped; the last one replaced by the best one that was not selected."""
    reference, _ = bench.references("r50", 1, WIDE)
    exchanged = dict(reference, topk_ind=reference["topk_ind"].clone())
    exchanged["topk_ind"][:, [10, 11]] = reference["topk_ind"][:, [11, 10]]
    replaced = dict(reference, topk_ind=reference["topk_ind"].clone())
    replaced["topk_ind"][:, -1] = comparison.best_positions(reference["enc_outputs_class"], 301)[:, -1]
    findings = []
    for name, dumps in (("exchanged", exchanged), ("replaced", replaced)):
        bad = [one for one in comparison.selection_findings(dumps, reference, comparison.LIMITS["fp32"])
               if not one.ok]
        findings.append(Finding("mutation", f"{name} positions are not caught", 0 if bad else 1, 0))
    good = comparison.selection_findings(reference, reference, comparison.LIMITS["fp32"])
    return Outcome([*findings, *good], "swapped and replaced positions")


def all_cases():
    found = [Case("weights are healthy", program_checks.healthy_weights, needs_program=False),
             Case("control-channels-last", control("eager", True), needs_program=False),
             Case("control-sdpa", control("sdpa", False), needs_program=False)]
    found += [Case(f"library-{dtype}", library_errors(dtype), needs_program=False) for dtype in ("tf32", "fp16", "bf16")]
    found += [Case(f"mutation: {name}", mutation(name), needs_program=False) for name in MUTATIONS]
    found.append(Case("mutation: selection", selection_mutation, needs_program=False))
    for model in ("r50", "r18", "r34", "r101"):
        found.append(Case(f"{model}-fp32-b1-640x640", against_library(model, "fp32", 1, SQUARE)))
    for size in (SQUARE, WIDE, ODD):
        for count in (1, 8):
            for dtype in ("fp32", "tf32", "fp16", "bf16"):
                name = f"r50-{dtype}-b{count}-{size[0]}x{size[1]}"
                if all(case.name != name for case in found):
                    found.append(Case(name, against_library("r50", dtype, count, size)))
    unfused = ("--attention", "unfused", "--deformable", "unfused")
    found += [Case(f"r50-{dtype}-b1-512x768-unfused", against_library("r50", dtype, 1, WIDE, unfused))
              for dtype in ("fp32", "fp16")]
    found += [Case(name, check) for name, check in program_checks.CASES.items()]
    return found
