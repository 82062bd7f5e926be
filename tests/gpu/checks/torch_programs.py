# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs: each kernel has the path of its module, forward and backward."""
from collections import Counter

MOST_WITHOUT_PATH = 0.01
LEAST_BACKWARD_WITH_MODULE = 0.95
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
    check_rtdetr(table, "hf_rtdetr_modules", result, trace, calls=result["iterations"] + result["warmup"])


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
               ("gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"))


def check_rtdetr(table, name, result, trace, calls):
    table.equal(f"{name}: finite output", True, result["finite"])
    check_paths(table, name, trace)
    check_rows(table, name, trace, calls, ("gpu_ns",))
    table.equal(f"{name}: losses", {}, trace.loss)
    print(f"  {result['ms_per_forward']} ms a forward")


def check_paths(table, name, trace):
    """Nearly all kernels have a path; returns the number of kernels."""
    total = trace.kernel_total()
    share = trace.kernels_by_path()[()] / max(1, total)
    table.row(f"{name}: kernels without a path", "< 1 %", f"{share:.2%} of {total}",
              total > 0 and share < MOST_WITHOUT_PATH)
    return total


def check_rows(table, name, trace, calls, fields):
    """Each module has a row of the summary with values; `model` sees every forward."""
    table.equal(f"{name}: calls of model", calls, (trace.module("model") or {}).get("calls"))
    for path in RTDETR_MODULES:
        row = trace.module(path) or {}
        values = {field: row.get(field) for field in fields}
        # a module whose data is all in the L2 may read 0 bytes from DRAM: 0 is valid, absence is not
        ok = all(value is not None for value in values.values()) and values["gpu_ns"] > 0
        table.row(f"{name}: {path}", " ".join(fields), " ".join(map(str, values.values())), ok)


def resnet50_train(runner, table):
    command = [*runner.program("resnet50_train.py"), "--steps", "5"]
    result, trace = runner.traced("resnet50_train", command, ["--torch-modules"], timeout_s=400)
    main = trace.lines["header"][0]["pid"]  # the main thread's id is the process's
    backward, with_module, missing = 0, 0, Counter()
    for (path_id, _, thread), count in trace.kernels.items():
        path = trace.path(path_id)
        if path[:1] != ("backward",) and thread in (0, main):
            continue
        backward += count
        if path[:1] == ("backward",) and len(path) > 1:
            with_module += count
        else:
            missing["/".join(path) or "(no path)"] += count
    share = with_module / max(1, backward)
    table.row("resnet50_train: backward kernels with a module path", ">= 95 %",
              f"{share:.2%} of {backward}", backward > 0 and share >= LEAST_BACKWARD_WITH_MODULE)
    if missing:
        print("  without: " + ", ".join(f"{path} {count}" for path, count in missing.most_common(5)))
    by_path = trace.kernels_by_path()
    for path in ("layer1/0/conv1", "backward/layer1/0/conv1", "backward/layer4/2/bn3", "optimizer/SGD",
                 "backward/CrossEntropyLoss"):
        found = sum(count for names, count in by_path.items() if names == tuple(path.split("/")))
        table.row(f"resnet50_train: {path}", "kernels", found, found > 0)
    uploads = sum(line["bytes"] for line in trace.lines["memcpy"]
                  if line["kind"] == "HtoD" and trace.path(line.get("path", 0))[-1:] == ("H2D",))
    images = result["steps"] * result["batch"] * 3 * 224 * 224 * 4
    table.at_least("resnet50_train: bytes copied under H2D", images, uploads)
    calls = (trace.module("dataloader") or {}).get("calls")
    table.equal("resnet50_train: calls of dataloader", result["steps"] + 1, calls)  # the last one ends the loop
    table.equal("resnet50_train: losses", {}, trace.loss)
