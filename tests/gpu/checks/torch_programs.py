# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs: each kernel has the path of its module, forward and backward."""
import statistics
from collections import Counter

MOST_WITHOUT_PATH = 0.01
LEAST_BACKWARD_WITH_MODULE = 0.95
LEAST_UNDER_BACKWARD = 0.99
LEAST_OF_PLAIN_STEPS = 0.77
PAIRS = 3
# Modules of RTDetrForObjectDetection, and the number of layers below each.
RTDETR_MODULES = [
    "model/backbone", "model/backbone/model/encoder/stages/0", "model/backbone/model/encoder/stages/1",
    "model/backbone/model/encoder/stages/2", "model/backbone/model/encoder/stages/3", "model/encoder",
    "model/decoder", *(f"model/decoder/layers/{layer}" for layer in range(6)),
    *(f"model/decoder/layers/{layer}/self_attn" for layer in range(6)),
]


def hf_rtdetr_variable(runner, table):
    """Ranges from the program's own hooks; the profiler is injected by one variable."""
    command = [*runner.program("hf_rtdetr.py"), "--iterations", "20", "--hooks"]
    result, trace = runner.with_variable("hf_rtdetr_variable", command, timeout_s=400)
    check_rtdetr(table, "hf_rtdetr_variable", result, trace, calls=result["iterations"] + result["warmup"])


def hf_rtdetr_modules(runner, table):
    """Ranges from --torch-modules."""
    command = [*runner.program("hf_rtdetr.py"), "--iterations", "20"]
    result, trace = runner.traced("hf_rtdetr_modules", command, ["--torch-modules"], timeout_s=400)
    calls = result["iterations"] + result["warmup"]
    check_rtdetr(table, "hf_rtdetr_modules", result, trace, calls, below="step/")
    check_steps(runner, table, "hf_rtdetr_modules", trace, calls)


def hf_rtdetr_exact(runner, table):
    """Bytes of every module."""
    command = [*runner.program("hf_rtdetr.py"), "--iterations", "3", "--warmup", "2"]
    options = ["--torch-modules", "--counters", "exact"]
    result, trace = runner.traced("hf_rtdetr_exact", command, options, timeout_s=600)
    total = check_paths(table, "hf_rtdetr_exact", trace)
    launches, without_record = trace.exact_kernels()
    unmeasured = sum(1 for line in launches if "unmeasured" in line)
    table.equal("hf_rtdetr_exact: unmeasured kernels", 0, unmeasured)
    table.equal("hf_rtdetr_exact: measured kernels without a kernel line", 0, without_record)
    counted = sum(row["kernels"] for row in [*trace.summary["modules"], trace.summary["outside"]] if row["depth"] <= 1)
    table.equal("hf_rtdetr_exact: kernels of the summary", total, counted)
    partial = [row["path"] for row in trace.summary["modules"] if "launches" in row]
    table.equal("hf_rtdetr_exact: modules that lack bytes", [], partial[:5])
    check_rows(table, "hf_rtdetr_exact", trace, result["iterations"] + result["warmup"],
               ("gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"), below="step/")


def check_rtdetr(table, name, result, trace, calls, below=""):
    table.equal(f"{name}: finite output", True, result["finite"])
    check_paths(table, name, trace)
    check_rows(table, name, trace, calls, ("gpu_ns",), below)
    table.equal(f"{name}: losses", {}, trace.loss)
    print(f"  {result['ms_per_forward']} ms a forward")


def check_paths(table, name, trace):
    """Nearly all kernels have a path; returns the number of kernels."""
    total = trace.kernel_total()
    share = trace.kernels_by_path()[()] / max(1, total)
    table.row(f"{name}: kernels without a path", "< 1 %", f"{share:.2%} of {total}",
              total > 0 and share < MOST_WITHOUT_PATH)
    return total


def check_rows(table, name, trace, calls, fields, below=""):
    """Each module has a row of the summary with values; `model` sees every forward."""
    table.equal(f"{name}: calls of model", calls, (trace.module(f"{below}model") or {}).get("calls"))
    for path in RTDETR_MODULES:
        row = trace.module(f"{below}{path}") or {}
        values = {field: row.get(field) for field in fields}
        # a module whose data is all in the L2 may read 0 bytes from DRAM: 0 is valid, absence is not
        ok = all(value is not None for value in values.values()) and values["gpu_ns"] > 0
        table.row(f"{name}: {path}", " ".join(fields), " ".join(map(str, values.values())), ok)


def check_steps(runner, table, name, trace, steps):
    """The hooks' range `step` has as many calls as the program has steps, and the report takes it for the iteration."""
    table.equal(f"{name}: calls of step", steps, (trace.module("step") or {}).get("calls"))
    check_iterations(runner, table, name, steps)


def check_iterations(runner, table, name, steps):
    report = runner.report(runner.trace_folder(name), "--section", "iterations")
    table.equal(f"{name}: iterations of the report", steps, len(report["traces"][0]["iterations"]))


def loops(runner, table):
    """Loops of frameworks: their steps are found, each once."""
    for loop in ("generate", "trainer", "lightning", "accumulate"):
        name = f"loop_{loop}"
        result, trace = runner.traced(name, [*runner.program("loops.py"), loop], ["--torch-modules"], timeout_s=300)
        for path, calls in result["range"].items():
            table.equal(f"{name}: calls of {path}", calls, (trace.module(path) or {}).get("calls"))
        check_iterations(runner, table, name, max(result["range"].values()))


def after_backward(path):
    """Names below the first `backward` of a path. None: it has none."""
    return path[path.index("backward") + 1:] if "backward" in path else None


def check_backward(table, name, trace, inside=()):
    """Kernels that autograd's threads launched are under `backward`, which is in the ranges `inside`. Returns (their
    number, that of those under a module, number by path of the others)."""
    main = trace.lines["header"][0]["pid"]  # the main thread's id is the process's
    total, under, with_module, missing = 0, 0, 0, Counter()
    for (path_id, _, thread), count in trace.kernels.items():
        path = trace.path(path_id)
        below = after_backward(path)
        if below is None and thread in (0, main):
            continue
        total += count
        if path[:len(inside) + 1] == (*inside, "backward"):
            under += count
        if below:
            with_module += count
        else:
            missing["/".join(path) or "(no path)"] += count
    share = under / max(1, total)
    table.row(f"{name}: backward kernels under {'/'.join((*inside, 'backward'))}", f">= {LEAST_UNDER_BACKWARD:.0%}",
              f"{share:.2%} of {total}", total > 0 and share >= LEAST_UNDER_BACKWARD)
    return total, with_module, missing


def bert_train(runner, table):
    """Steps, and what the hooks cost where launches are the bound: pairs of plain and traced runs in turns."""
    for types, options in (("fp32", []), ("autocast", ["--autocast"])):
        name = f"bert_train_{types}"
        command = [*runner.program("bert_train.py"), "--steps", "20", *options]
        ratios = []
        for pair in range(PAIRS):
            plain = runner.plain(f"{name}_plain_{pair}", command, timeout_s=400)
            result = runner.recorded(name, command, ["--torch-modules"], timeout_s=400)
            ratios.append(result["steps_per_s"] / plain["steps_per_s"])
            print(f"  {plain['steps_per_s']} steps/s, traced {result['steps_per_s']}")
        table.at_least(f"{name}: steps a second, of plain", LEAST_OF_PLAIN_STEPS, round(statistics.median(ratios), 3))
        trace = runner.validated(name, runner.trace_folder(name))
        check_steps(runner, table, name, trace, result["steps"] + result["warmup"])
        check_backward(table, name, trace, inside=("step",))
        table.equal(f"{name}: losses", {}, trace.loss)


def resnet50_named(runner, table):
    """Without our hooks: the program names `backward` alone."""
    command = [*runner.program("resnet50_train.py"), "--steps", "12", "--ranges"]
    result, trace = runner.traced("resnet50_named", command, timeout_s=400)
    check_backward(table, "resnet50_named", trace)
    check_iterations(runner, table, "resnet50_named", result["steps"])


def resnet50_train(runner, table):
    command = [*runner.program("resnet50_train.py"), "--steps", "12"]
    result, trace = runner.traced("resnet50_train", command, ["--torch-modules"], timeout_s=400)
    check_steps(runner, table, "resnet50_train", trace, result["steps"])
    backward, with_module, missing = check_backward(table, "resnet50_train", trace, inside=("step",))
    share = with_module / max(1, backward)
    table.row("resnet50_train: backward kernels with a module path", ">= 95 %",
              f"{share:.2%} of {backward}", backward > 0 and share >= LEAST_BACKWARD_WITH_MODULE)
    if missing:
        print("  without: " + ", ".join(f"{path} {count}" for path, count in missing.most_common(5)))
    by_path = trace.kernels_by_path()
    for path in ("step/layer1/0/conv1", "step/backward/layer1/0/conv1", "step/backward/layer4/2/bn3",
                 "step/optimizer/SGD", "step/backward/CrossEntropyLoss"):
        found = sum(count for names, count in by_path.items() if names == tuple(path.split("/")))
        table.row(f"resnet50_train: {path}", "kernels", found, found > 0)
    uploads = sum(line["bytes"] for line in trace.lines["memcpy"]
                  if line["kind"] == "HtoD" and trace.path(line.get("path", 0))[-1:] == ("H2D",))
    images = result["steps"] * result["batch"] * 3 * 224 * 224 * 4
    table.at_least("resnet50_train: bytes copied under H2D", images, uploads)
    calls = (trace.module("step/dataloader") or {}).get("calls")
    table.equal("resnet50_train: calls of dataloader", result["steps"], calls)  # one more, outside, ends the loop
    table.equal("resnet50_train: losses", {}, trace.loss)
