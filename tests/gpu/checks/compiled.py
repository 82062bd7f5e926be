# SPDX-License-Identifier: Apache-2.0
"""torch.compile by module: the program stays what it is, and its kernels have the paths of modules."""
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

from checks.runner import REPOSITORY

MODELS = ("hf_rtdetr", "bert", "vit", "resnet50")
MODES = ("default", "reduce-overhead")
LEAST_BELOW_A_MODULE, LEAST_OF_FEW_MODULES = 0.95, 0.85


def compiled_models(runner, table):
    """Two runs without us and one with the hooks, each with a cache of its own, side by side."""
    for model in MODELS:
        with ThreadPoolExecutor() as pool:
            runs = {(mode, kind): pool.submit(run, runner, model, mode, kind)
                    for mode in MODES for kind in ("first", "second", "hooks")}
        for mode in MODES:
            compare(runner, table, f"compiled_{model}_{mode}",
                    *(runs[mode, kind].result() for kind in ("first", "second", "hooks")))


def run(runner, model, mode, kind):
    name = f"compiled_{model}_{mode}"
    cache = os.path.join(runner.out, f"{name}_{kind}_cache")
    shutil.rmtree(cache, ignore_errors=True)
    command = ["env", f"TORCHINDUCTOR_CACHE_DIR={cache}", *runner.program("compiled_models.py"), model, "--mode", mode]
    if kind == "hooks":
        return runner.recorded(name, command, ["--torch-modules"], timeout_s=300)
    return runner.plain(f"{name}_{kind}", command, timeout_s=300)


def compare(runner, table, name, first, second, hooks):
    # Layers that call Module.__call__ themselves, as Hugging Face's with gradient checkpointing, have a guard on each of
    # the two functions that ours calls.
    guards = [counts["counted"].pop("guards") for counts in (first, second, hooks)]
    table.at_most(f"{name}: guards more than without us", 2, max(map(int.__sub__, guards[2], guards[0])))
    table.equal(f"{name}: what TorchDynamo counted", first["counted"], hooks["counted"])
    if first["digest"] == second["digest"]:
        table.equal(f"{name}: results", first["digest"], hooks["digest"])
    else:
        print(f"  {name}: two runs without us differ: no bitwise comparison")
    below, few = shares(runner.validated(name, runner.trace_folder(name)))
    table.at_least(f"{name}: GPU time below a module", LEAST_BELOW_A_MODULE, round(below, 4))
    table.at_least(f"{name}: in a module or a label of at most three", LEAST_OF_FEW_MODULES, round(few, 4))


def shares(trace):
    """Parts of the GPU time of the steps: below a module, and there in a leaf or a label of at most three modules."""
    total = below = few = 0
    for row in trace.summary["modules"]:
        path = row["path"].split("/")
        if path[0] != "step" or "(autotuning)" in path:
            continue
        total += row["gpu_ns_exclusive"]
        names = [part for part in path[1:] if part != "backward"]
        if not names or names[0].startswith("(compiled"):
            continue
        below += row["gpu_ns_exclusive"]
        few += row["gpu_ns_exclusive"] if not names[-1].endswith(" more)") else 0
    return below / max(1, total), few / max(1, total)


def compiled_unnamed(runner, table):
    """Code that cannot be named is one range that says why."""
    for name, options, label in (("cpp_wrapper", ["--cpp-wrapper"], "step/(compiled: cpp_wrapper)"),
                                 ("aot_eager", ["--backend", "aot_eager"],
                                  "step/(compiled VisionTransformer: backend aot_eager)")):
        name = f"compiled_{name}"
        command = [*runner.program("compiled_models.py"), "vit", *options]
        runner.recorded(name, command, ["--torch-modules"], timeout_s=300)
        trace = runner.validated(name, runner.trace_folder(name))
        row = trace.module(label) or {}
        table.row(f"{name}: GPU time in {label}", "> 0", row.get("gpu_ns"), bool(row.get("gpu_ns")))
        coverage = runner.report(runner.trace_folder(name))["traces"][0]["opening"]["coverage"]
        table.equal(f"{name}: what the report says", "unnamed_code", coverage.get("why"))


def compiled_decode(runner, table):
    """Each layer of a decoder reads its weights once a step, inside of its CUDA graph, and from the cache again."""
    steps, layers = 200, 12
    program = os.path.join(REPOSITORY, "workloads", "cases", "compiled_decode.py")
    command = [sys.executable, program, "--steps", str(steps)]
    cache = os.path.join(runner.out, "compiled_decode_cache")
    shutil.rmtree(cache, ignore_errors=True)
    for name in ("compiled_decode", "compiled_decode_cached"):
        result = runner.recorded(name, ["env", f"TORCHINDUCTOR_CACHE_DIR={cache}", *command],
                                 ["--torch-modules", "--counters", "sampled"], timeout_s=300)
        trace = runner.validated(name, runner.trace_folder(name))
        below, few = shares(trace)
        table.at_least(f"{name}: GPU time below a module", LEAST_BELOW_A_MODULE, round(below, 4))
        table.at_least(f"{name}: in a module or a label of at most three", LEAST_OF_FEW_MODULES, round(few, 4))
        for layer in range(layers):
            row = trace.module(f"step/model/layers/{layer}") or {}
            read = row.get("dram_read_bytes", 0) / max(1, steps + 8)
            table.near(f"{name}: bytes that layer {layer} reads a step", result["layer_bytes"], round(read), 0.05)
