# SPDX-License-Identifier: Apache-2.0
"""Several GPUs: in one process, with one process per GPU, and with NCCL between them."""
import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections import Counter

from checks.extended_payloads import calls_of
from checks.runner import Failed
from checks.trace import Trace
from checks.windows import OnRequest, end_line, lost, placed, trace_lines

MIB = 1 << 20
EXACT_SHARE, SAMPLED_SHARE = 0.01, 0.03
DIRTY_L2_BYTES = 4 * MIB  # per launch: allowed difference of written bytes (bytes_moved.py)
THREADS, LAUNCHES = 8, 200_000
MOST_COST = 1.15  # cost of a launch on two GPUs relative to one; includes the noise of two runs
TOGETHER_NS = 50_000_000  # windows requested at one time begin within this
PATIENCE_S = 60


def rank_folders(out):
    return sorted(glob.glob(os.path.join(glob.escape(out), "**", "rank=*", "pid=*"), recursive=True))


def check_gpu(table, name, item, trace, mode, row):
    """Checks that one GPU's work is on that GPU, with all its bytes. `row`: its copies in `report --json`."""
    gpu, top = item["gpu"], item["range"]
    kernels, uploads = Counter(), Counter()
    for line, path in placed(trace_lines(trace)):
        if line["t"] == "kernel" and path == (top, "copy"):
            kernels[line["gpu"]] += 1
        elif line["t"] == "memcpy" and path == (top, "upload"):
            uploads[line["gpu"]] += line["bytes"]
    table.equal(f"{name}: kernels of {top} by GPU", {gpu: item["kernels"]}, dict(kernels))
    table.equal(f"{name}: uploads of {top} by GPU", {gpu: item["upload_bytes"]}, dict(uploads))
    if mode == "off":
        return
    share = EXACT_SHARE if mode == "exact" else SAMPLED_SHARE
    for key, slack in (("read_bytes", 0), ("write_bytes", item["kernels"] * DIRTY_L2_BYTES)):
        table.near(f"{name}: DRAM {key} of {top}", item[key], row.get("dram_" + key), share, slack)


def check_gpus(runner, table, name, expected, folder, mode):
    # The report distributes the sampled bytes over its modules.
    rows = {row.get("path"): row for row in runner.report(folder)["traces"][0]["modules"]}
    for item in expected:
        check_gpu(table, name, item, folder, mode, rows.get(item["range"] + "/copy", {}))


def one_process(runner, table):
    for mode in ("off", "sampled", "exact"):
        name = f"many_gpus_{mode}"
        expected, trace = runner.traced(name, [f"{runner.bin}/many_gpus"], ["--counters", mode], timeout_s=60)
        table.at_least(f"{name}: GPUs", 2, len(expected["gpus"]))
        table.equal(f"{name}: counters", mode, trace.lines["header"][0]["counters"])
        check_gpus(runner, table, name, expected["gpus"], runner.trace_folder(name), mode)
        # While sampling of GPU 1 is set up, samples of GPU 0 wait in its buffer.
        table.equal(f"{name}: losses", {}, trace.loss)


def launch_cost(runner, table):
    """Cost of recording per launch from 8 threads, on two GPUs and on one."""
    cost = {}
    for gpus in (1, 2):
        command = [f"{runner.bin}/launch_storm", "--threads", str(THREADS), "--launches", str(LAUNCHES), "--gpus",
                   str(gpus)]
        plain, traced = [], []
        for attempt in range(2):
            plain.append(runner.plain(f"storm_{gpus}_{attempt}_plain", command, 60)["ns_per_launch"])
            result, trace = runner.traced(f"storm_{gpus}_{attempt}", command, timeout_s=60, threads=False)
            traced.append(result["ns_per_launch"])
            table.equal(f"storm on {gpus} GPUs: losses", {}, trace.loss)
            table.equal(f"storm on {gpus} GPUs: kernels", result["kernels"], trace.count["kernel"])
        cost[gpus] = min(traced)
        print(f"  {gpus} GPUs: {min(plain):.0f} ns a launch untraced, {min(traced):.0f} traced", flush=True)
    table.row("traced launch on 2 GPUs against 1", f"<= {MOST_COST} x {cost[1]:.0f} ns", f"{cost[2]:.0f} ns",
              cost[2] <= MOST_COST * cost[1])


def run_ranks(runner, name, command, options, timeout_s):
    """`rangefinder run --ranks`; (all JSON lines of the program, what `run` said, folders of the ranks)."""
    out = runner.trace_folder(name)
    shutil.rmtree(out, ignore_errors=True)
    run = [f"{runner.bin}/rangefinder", "run", "--ranks", *options, "--out", out, "--", *command]
    done = subprocess.run(run, capture_output=True, text=True, timeout=timeout_s, check=False)
    with open(os.path.join(runner.out, name + ".txt"), "w", encoding="utf-8") as file:
        file.write(done.stdout + done.stderr)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}: {' '.join(run)}\n{done.stderr[-2000:]}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines, done.stderr, rank_folders(out)


def process_each(runner, table):
    for mode in ("off", "sampled", "exact"):
        name = f"ranks_{mode}"
        command = [*runner.program("start_ranks.py"), "2", f"{runner.bin}/many_gpus", "--by-rank"]
        expected, said, folders = run_ranks(runner, name, command, ["--counters", mode], 90)
        by_gpu = {line["gpus"][0]["gpu"]: line["gpus"] for line in expected}
        table.equal(f"{name}: ranks with a folder", 2, len(folders))
        table.equal(f"{name}: one report over both", True, "rank 0" in said and "rank 1" in said)
        for folder in folders:
            rank = int(os.path.basename(os.path.dirname(folder)).partition("=")[2])
            table.equal(f"{name}: rank in the header", str(rank), next(iter(trace_lines(folder)))["rank"])
            table.equal(f"{name}: losses of rank {rank}", {}, lost(end_line(folder)))
            check_gpus(runner, table, f"{name}, rank {rank}", by_gpu[rank], folder, mode)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def torchrun(runner, program, *arguments):
    # Not --standalone: it resolves the host's name, which fails on some machines.
    return [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1", "--nproc-per-node", "2", "--master-addr",
            "127.0.0.1", "--master-port", str(free_port()), runner.program(program)[1], *arguments]


def nccl(runner, table):
    command = torchrun(runner, "collectives.py")
    lines, said, folders = run_ranks(runner, "nccl", command, ["--counters", "off"], 150)
    expected = lines[-1]
    print(f"  NCCL {expected['nccl']}", flush=True)
    table.equal("nccl: ranks with a folder", 2, len(folders))
    table.equal("nccl: `run` tells of exposed communication", True, "exposed" in said)
    check_together(runner, table, expected, runner.trace_folder("nccl"))
    for folder in folders:
        rank = os.path.basename(os.path.dirname(folder))
        check_operations(table, rank, expected, Trace(folder))
        check_communication(runner, table, rank, expected, folder)


def symmetric_memory(runner, table):
    """All-reduces that are not NCCL's, in a graph that is replayed."""
    for counters in ("off", "sampled"):
        for operation in ("two_shot_all_reduce_", "one_shot_all_reduce"):
            name = f"{operation} {counters}"
            lines, _, folders = run_ranks(runner, name.replace(" ", "_"),
                                          torchrun(runner, "symmetric_memory.py", "--operation", operation),
                                          ["--counters", counters], 90)
            for folder in folders:
                rows = runner.report(folder, "--section", "communication")["traces"][0]["communication"]
                found = sum(row["kernels"] for row in rows if row["library"] == "symmetric memory")
                table.equal(f"{name}: all-reduces of a rank", lines[-1]["all_reduces"], found)


def tensor_parallel(runner, table):
    """Waits by layer, of collectives in replayed graphs."""
    for operation in ("nccl", "one_shot"):
        for late in (-1, 0, 1):
            name = f"tensor_parallel_{operation}_{late}"
            command = torchrun(runner, "tensor_parallel.py", "--all-reduce", operation, "--slow", str(late))
            lines, _, _ = run_ranks(runner, name, command, ["--counters", "off"], 90)
            found = runner.report(runner.trace_folder(name))["stragglers"]
            if late == -1:
                table.equal(f"{name}: late ranks", [], found)
                continue
            first = found[0] if found else {}
            table.equal(f"{name}: late rank, cause, module",
                        (f"rank {late}", "gpu", f"decoder/layers\\/{lines[-1]['layer']}/mlp"),
                        (first.get("rank"), first.get("cause"), first.get("module")))
            table.near(f"{name}: ns more", lines[-1]["more_ms"] * 1e6, first.get("excess_ns", 0), 0.15)


def slow_ranks(runner, table):
    """The late rank of slow_rank.py, its cause, module and milliseconds, in the report; nothing where none is late."""
    for cause in ("none", "host", "gpu", "layer", "backward_host", "backward_gpu", "loader", "copies", "launches"):
        name = f"slow_rank_{cause}"
        lines, said, _ = run_ranks(runner, name, torchrun(runner, "slow_rank.py", cause), ["--counters", "off"], 90)
        truth, found = lines[-1], runner.report(runner.trace_folder(name))["stragglers"]
        print("  " + next((line for line in said.splitlines() if line.startswith(("Rank ", "No rank "))), ""), flush=True)
        if cause == "none":
            table.equal(f"{name}: late ranks", [], found)
            continue
        late = found[0] if found else {}
        table.equal(f"{name}: late rank, cause, module", (f"rank {truth['rank']}", truth["kind"], truth["module"]),
                    (late.get("rank"), late.get("cause"), late.get("module")))
        table.near(f"{name}: ns more", truth["ms"] * 1e6, late.get("excess_ns", 0), 0.15)


def check_together(runner, table, expected, out):
    """Both ranks on one time line, and which rank waited for which."""
    report = runner.report(out)
    print("  " + json.dumps({key: report[key] for key in ("ranks", "clocks", "rank_waits")}), flush=True)
    known = [row.get("agree_within_ns") for row in report["clocks"][1:]]
    table.row("nccl: clocks of the ranks agree within", "< 1 ms", known,
              all(ns is not None and ns < 1_000_000 for ns in known))
    table.at_least("nccl: collectives compared over the ranks", 3 * expected["steps"],
                   sum(row.get("last_in", 0) for row in report["rank_waits"]))


def check_operations(table, rank, expected, trace):
    """NVTX ranges with their payloads, and the kernels inside them."""
    calls = calls_of(trace, "NCCL")
    for name, wanted in expected["operations"].items():
        count, sizes, reductions = calls.get("nccl" + name, (0, Counter(), Counter()))
        table.at_least(f"nccl {rank}: ranges of {name}", wanted["calls"], count)
        table.row(f"nccl {rank}: {name} of {wanted['bytes']} bytes", f">= {wanted['calls']}", dict(sizes),
                  sizes[wanted["bytes"]] >= wanted["calls"])
        if name in ("AllReduce", "ReduceScatter"):
            table.row(f"nccl {rank}: reduction of {name}", "Sum", dict(reductions),
                      reductions["Sum"] >= wanted["calls"])
    libraries = {line["id"]: line["library"] for line in trace.lines["kernel_name"]}
    table.row(f"nccl {rank}: a kernel of NCCL", "some", sorted(set(libraries.values())),
              "NCCL" in libraries.values())


def check_communication(runner, table, rank, expected, folder):
    """Results as the report shows them."""
    trace = runner.report(folder, "--section", "communication")["traces"][0]
    rows = {row["operation"]: row for row in trace["communication"]}
    print("  " + json.dumps(rows), flush=True)
    print("  " + json.dumps(trace["overlap"]), flush=True)
    for name in ("AllReduce", "AllGather", "ReduceScatter", "Broadcast"):
        row, wanted = rows.get(name, {}), expected["operations"][name]
        ok = row.get("bytes", 0) >= wanted["bytes"] * wanted["calls"] and row.get("gpu_ns", 0) > 0
        table.row(f"nccl {rank}: {name} in the report", f">= {wanted['bytes'] * wanted['calls']} bytes",
                  row.get("bytes"), ok)
    overlap = trace["overlap"][0]
    total = overlap["exposed_ns"] + overlap["overlapped_ns"]
    table.equal(f"nccl {rank}: exposed and overlapped make up communication", overlap["communication_ns"], total)


def attach_all(runner, table):
    """Two idle processes with one GPU each: a window of one second on both at the same time."""
    runtime = tempfile.mkdtemp(prefix="rangefinder-ranks-")
    try:
        with OnRequest(runner, runtime, RANGEFINDER_START="off", CUDA_VISIBLE_DEVICES="0", RANK="0",
                       RANGEFINDER_OUT=runtime + "/a") as first, \
             OnRequest(runner, runtime, RANGEFINDER_START="off", CUDA_VISIBLE_DEVICES="1", RANK="1",
                       RANGEFINDER_OUT=runtime + "/b") as second:
            for program in (first, second):
                program.do("storm on")
            command = [f"{runner.bin}/rangefinder", "attach", "--all", "--window", "1s", "--at", "+1s", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                                  env={**os.environ, "XDG_RUNTIME_DIR": runtime})
            for program in (first, second):
                program.do("storm off")
            windows = [json.loads(line)["window"] for line in done.stdout.splitlines()]
            table.equal("attach --all: windows", 2, len(windows))
            begins = [int(window["begin_unix_ns"]) for window in windows]
            table.at_most("attach --all: begin at one time", TOGETHER_NS, max(begins) - min(begins), " ns apart")
            for window in windows:
                kernels = end_line(window["folder"])["records"].get("kernel", 0)
                table.row("attach --all: kernels of a window", "> 1000", kernels, kernels > 1000)
                table.equal("attach --all: losses", {}, lost(end_line(window["folder"])))
    finally:
        shutil.rmtree(runtime, ignore_errors=True)
