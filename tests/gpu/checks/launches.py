# SPDX-License-Identifier: Apache-2.0
"""launch_storm: no loss, no memory growth. multi_stream: streams, events, memory. unloaded_modules: names of kernels
whose module is unloaded."""
from collections import Counter

MIB = 1 << 20
THREADS = 8
LAUNCHES = 2_000_000
MOST_GROWTH_BYTES = 160 * MIB


def launch_storm(runner, table):
    command = [f"{runner.bin}/launch_storm", "--threads", str(THREADS), "--launches", str(LAUNCHES)]
    plain = runner.plain("launch_storm_plain", command, timeout_s=300)
    expected, trace = runner.traced("launch_storm", command, timeout_s=600, threads=False)
    balance = trace.end.get("launches", {}).get("kernel", {})
    table.equal("launch_storm: end line", True, bool(trace.end))
    table.equal("launch_storm: launched, says the profiler", expected["kernels"], balance.get("launched"))
    table.equal("launch_storm: kernel records + lost", expected["kernels"], trace.count["kernel"] + balance.get("lost", 0))
    table.equal("launch_storm: losses", {}, trace.loss)
    by_path = trace.kernels_by_path()
    wanted = [LAUNCHES // THREADS + expected["warm_up_kernels"] // THREADS] * THREADS
    table.equal("launch_storm: kernels of each thread's path", wanted,
                [by_path[("storm", f"thread {k}")] for k in range(THREADS)])
    growth = expected["rss_after_bytes"] - plain["rss_after_bytes"]
    table.row("launch_storm: memory over the untraced run", "< 160 MiB", f"{growth / MIB:.0f} MiB",
              growth < MOST_GROWTH_BYTES)
    own = expected["rss_after_bytes"] - expected["rss_before_bytes"]
    table.row("launch_storm: growth during the storm", "< 160 MiB", f"{own / MIB:.0f} MiB",
              own < MOST_GROWTH_BYTES)
    print(f"  ns a launch: {plain['ns_per_launch']:.0f} untraced, {expected['ns_per_launch']:.0f} traced")


def multi_stream(runner, table):
    expected, trace = runner.traced("multi_stream", [f"{runner.bin}/multi_stream"])
    by_path = trace.kernels_by_path()
    found = [by_path[("multi_stream", f"stream {k}")] for k in range(expected["streams"])]
    table.equal("multi_stream: kernels", expected["kernels"], trace.kernel_total())
    wanted = [expected["kernels_per_stream"]] * expected["streams"]
    table.equal("multi_stream: kernels of each path", wanted, found)
    for kind in ("memset", "event_record", "stream_wait"):
        table.equal(f"multi_stream: {kind}", expected[kind + "s"], trace.count[kind])
    allocs = [line for line in trace.lines["alloc"] if line["memory"] == "async"]
    table.equal("multi_stream: stream-ordered allocations", expected["allocs_async"], len(allocs))
    table.equal("multi_stream: their bytes", expected["alloc_bytes"], sum(line["bytes"] for line in allocs))
    frees = [line for line in trace.lines["free"] if line["memory"] == "async"]
    table.equal("multi_stream: stream-ordered frees", expected["frees_async"], len(frees))
    wanted = Counter(expected["priorities"])
    priorities = Counter(line.get("priority", 0) for line in trace.lines["stream"])
    table.row("multi_stream: streams by priority", dict(wanted), dict(priorities),
              all(priorities[priority] >= count for priority, count in wanted.items()))
    syncs = [line for line in trace.lines["sync"] if line["api"].startswith("cuCtxSynchronize")]
    table.at_least("multi_stream: device synchronisations", expected["device_syncs"], len(syncs))
    table.equal("multi_stream: losses", {}, trace.loss)


def unloaded_modules(runner, table):
    for name, more in (("new names", []), ("reloaded", ["--reload"]), ("libraries", ["--library"]), ("graphs", ["--graph"])):
        command = [f"{runner.bin}/unloaded_modules", *more]
        for mode in ("off", "exact"):
            title = f"unloaded_modules, {name}, {mode}"
            expected, trace = runner.traced(title.replace(", ", "_").replace(" ", "_"), command, ["--counters", mode])
            found = trace.kernels_by_name()
            wrong = {kernel: (count, found[kernel]) for kernel, count in expected["kernels_by_name"].items()
                     if found[kernel] != count}
            table.equal(f"{title}: kernels", expected["kernels"], sum(found.values()))
            table.row(f"{title}: names with a wrong count", 0, f"{len(wrong)} {dict(list(wrong.items())[:2])}", not wrong)
            table.equal(f"{title}: losses", {}, trace.loss)


def rtdetr_holds(runner, table):
    """Restarts of counter batches are hold lines, and make no iteration slow."""
    command = [f"{runner.bin}/rtdetr", "--model", "r50", "--graph", "off", "--iterations", "20", "--json"]
    _, trace = runner.traced("rtdetr_holds", command, ["--counters", "exact"], timeout_s=600)
    holds = trace.lines["hold"]
    batches = [line for line in holds if line["cause"] == "counter_batch"]
    table.at_least("rtdetr_holds: restarted batches", 1, len(batches))
    held = sum(line["end"] - line["start"] for line in holds)
    table.equal("rtdetr_holds: held_ns of the summary", held, trace.summary["own_cost"]["held_ns"])
    report = runner.report(runner.trace_folder("rtdetr_holds"), "--section", "iterations")
    rows = [row for of_trace in report["traces"] for row in of_trace["iterations"]]
    with_hold = [row for row in rows if row.get("held_ns")]
    table.at_least("rtdetr_holds: iterations with a hold", 1, len(with_hold))
    slow = [row["iteration"] for row in with_hold if "slow on host" in (row.get("outlier") or "")]
    table.equal("rtdetr_holds: of these slow on host", [], slow)
