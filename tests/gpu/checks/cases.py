# SPDX-License-Identifier: Apache-2.0
"""Case programs, one for each finding. The rules must report it where it exists, and nowhere else."""
import os
import sys

from checks.runner import REPOSITORY

SECTORS_SHARE = 0.01
CONFLICTS_SHARE = 0.02  # allowed above the share that the layout implies
IDLE_POINTS = 0.03
# With one loader per core, the main thread and the profiler take CPU time from the loaders.
CROWDED_POINTS = 0.10


def findings(runner, name):
    """Findings in the trace of the run NAME."""
    report = runner.report(runner.trace_folder(name), "--section", "findings")
    return [finding for trace in report["traces"] for finding in trace["findings"]]


def of_rule(found, rule, where=""):
    """Findings of a rule. `where`: part of the module or of the kernel."""
    return [finding for finding in found
            if finding["id"] == rule and (where in finding.get("where", "") or where in finding.get("kernel", ""))]


def transpose(runner, table):
    options = ["--counters", "exact", "--metrics", "bytes,memory", "--exact-batch", "8"]
    expected, _ = runner.traced("case_transpose", [f"{runner.bin}/case_transpose", "--iterations", "30"], options)
    found = findings(runner, "case_transpose")
    naive = expected["variants"][0]
    stores = of_rule(found, "uncoalesced_stores", "transpose_naive")
    sectors = stores[0]["evidence"]["sectors_per_request"] if stores else 0
    table.near("case_transpose: sectors a store, naive", naive["store_sectors_per_request"], sectors, SECTORS_SHARE)
    table.equal("case_transpose: kernels with scattered stores", 1, len(of_rule(found, "uncoalesced_stores")))
    table.equal("case_transpose: kernels with scattered loads", 0, len(of_rule(found, "uncoalesced_loads")))
    conflicts = of_rule(found, "bank_conflicts", "transpose_tile<32>")
    counted = conflicts[0]["evidence"]["conflicts_per_launch"] if conflicts else 0
    table.near("case_transpose: conflicts, unpadded tile", expected["variants"][1]["bank_conflicts"], counted,
               CONFLICTS_SHARE)
    table.equal("case_transpose: kernels with conflicts", 1, len(of_rule(found, "bank_conflicts")))
    table.equal("case_transpose: wrong words", 0, expected["wrong_words"])


def gemm(runner, table):
    for types, wanted in (("fp32", 1), ("tf32,fp16", 0)):
        name = "case_gemm_" + types.replace(",", "_")
        command = [f"{runner.bin}/case_gemm", "--types", types, "--sizes", "256,1024", "--iterations", "100"]
        expected, _ = runner.traced(name, command)
        found = findings(runner, name)
        table.equal(f"{name}: FP32 products found", wanted, len(of_rule(found, "fp32_math")))
        table.equal(f"{name}: results right", True, expected["right"])
    command = [f"{runner.bin}/case_gemm", "--types", "fp16", "--sizes", "8192", "--iterations", "10"]
    runner.traced("case_gemm_8192", command)
    found = findings(runner, "case_gemm_8192")
    table.equal("case_gemm_8192: grids under one wave found", 0, len(of_rule(found, "grid_under_one_wave")))


def starved(runner, table):
    for workers in (0, 1, 8, 16):
        name = f"case_starved_{workers}"
        expected, _ = runner.traced(name, [f"{runner.bin}/case_starved", "--workers", str(workers)])
        loads = of_rule(findings(runner, name), "idle_in_range", "iteration/load")
        idle = loads[0]["evidence"]["share_of_time"] if loads else 0
        slack = CROWDED_POINTS if workers >= expected["cores"] else IDLE_POINTS
        table.near(f"{name}: share of the time idle in load", expected["expected_idle"], idle, 0, slack)
    for memory, wanted in (("pageable", 1), ("pinned", 0)):
        name = f"case_starved_{memory}"
        runner.traced(name, [f"{runner.bin}/case_starved", "--workers", "8", "--copy", memory])
        copies = of_rule(findings(runner, name), "pageable_or_synchronous_copies")
        table.equal(f"{name}: slow copies found", wanted, len(copies))


def attention(runner, table):
    expected, _ = runner.traced("case_attention", [f"{runner.bin}/case_attention"], ["--counters", "exact"])
    found = findings(runner, "case_attention")
    table.equal("case_attention: scores in memory, unfused", 1,
                len(of_rule(found, "attention_scores", "attention/unfused")))
    table.equal("case_attention: scores in memory, all", 1, len(of_rule(found, "attention_scores")))
    # Its row withholds DRAM / declared: carry-over may exceed the declared bytes.
    scores = of_rule(found, "attention_scores", "attention/unfused")
    also = scores[0]["evidence"].get("also", "") if scores else ""
    table.equal("case_attention: amplification, unfused", False, "amplification" in also)
    table.equal("case_attention: amplification, fused", 0, len(of_rule(found, "amplification", "attention/fused")))
    table.equal("case_attention: results agree", True, expected["same"])


ATTENTION_PARTS = ("qkv", "scores", "softmax", "dropout", "context", "out")


def bert(runner, table):
    """One figure for attention, each kernel once; FP32 against mixed precision."""
    seconds = {}
    for precision in ("fp32", "amp"):
        name = f"case_bert_{precision}"
        program = os.path.join(REPOSITORY, "workloads", "cases", "bert.py")
        command = [sys.executable, program, "--precision", precision, "--steps", "12", "--warmup", "3"]
        result, _ = runner.traced(name, command, ["--torch-modules"], timeout_s=500)
        seconds[precision] = result["seconds_per_step"]
        table.equal(f"{name}: finite loss", True, result["finite"])
        check_attention(runner, table, name, result["steps"] + result["warmup"])
        check_units(runner, table, name, on_tensor_cores=precision == "amp")
    ratio = seconds["fp32"] / seconds["amp"]
    table.row("case_bert: throughput of amp over fp32", "> 1", f"{ratio:.2f}", ratio > 1)
    ratios = runner.diff("case_bert_fp32", "case_bert_amp").get("ratios", {})
    print(f"  {ratios.get('text')}")
    for key in ("kernels", "iterations"):
        table.row(f"case_bert: ratio of {key} in diff", "> 1", ratios.get(key), ratios.get(key, 0) > 1)


def check_attention(runner, table, name, steps):
    """The share of attention, and that disjoint totals add up."""
    def total(*options):
        report = runner.report(runner.trace_folder(name), "--section", "modules", "--total", *options)
        return report["traces"][0]["total"]

    modules = runner.report(runner.trace_folder(name), "--section", "modules")["traces"][0]
    whole, attention = total(), total("--range", "**/attention/**")
    print(f"  attention: {attention['share']:.1%} of the GPU time, {attention['iteration_share']:.1%} of a step's")
    table.row(f"{name}: share of attention", "0 to 1", f"{attention['share']:.3f}", 0 < attention["share"] < 1)
    table.equal(f"{name}: calls of attention", 12 * steps, attention["calls"])
    table.row(f"{name}: attention's backward pass, of its forward pass", "> 1",
              f"{attention['backward_gpu_ns'] / max(1, attention['forward_gpu_ns']):.2f}",
              attention["backward_gpu_ns"] > attention["forward_gpu_ns"] > 0)
    passes = attention["forward_gpu_ns"] + attention["backward_gpu_ns"]
    table.equal(f"{name}: both passes of attention", attention["gpu_ns"], passes)
    for key in ("gpu_ns", "kernels"):
        parts = sum(total("--range", f"**/attention/{part}")[key] for part in ATTENTION_PARTS)
        own = sum(row["gpu_ns_exclusive"] for row in modules["modules"] if row["path"].endswith("/attention"))
        if key == "gpu_ns":
            table.equal(f"{name}: GPU time of attention's parts and of its own", attention[key], parts + own)
        else:
            table.at_most(f"{name}: kernels of attention's parts", attention[key], parts)
        outer = sum(total("--range", "/" + row["path"])[key] for row in modules["modules"] if row["depth"] == 1)
        table.equal(f"{name}: {key} of all outermost ranges and outside", whole[key], outer + modules["outside"].get(key, 0))


def check_units(runner, table, name, on_tensor_cores):
    """Matrix products by the unit that their names place them on."""
    kernels = runner.report(runner.trace_folder(name), "--section", "kernels")["traces"][0]["kernels"]
    found = {True: 0, False: 0}
    for row in kernels:
        if "unit" in row:
            found[row["unit"].startswith("tensor")] += row["count"]
    table.row(f"{name}: products on {'tensor cores' if on_tensor_cores else 'the FP32 pipes'}", "some",
              found[on_tensor_cores], found[on_tensor_cores] > 0)
    table.equal(f"{name}: products elsewhere", 0, found[not on_tensor_cores])
