# SPDX-License-Identifier: Apache-2.0
"""Kernels of CUDA graphs: all recorded, and under the range in which they were captured."""
from collections import Counter, defaultdict


def graph_replay(runner, table):
    expected, trace = runner.traced("graph_replay", [f"{runner.bin}/graph_replay"])
    captured, built = expected["captured"], expected["built"]
    in_graphs = sum(count for (_, graph, _), count in trace.kernels.items() if graph)
    table.equal("graph_replay: kernels of graphs", captured["kernels"] + built["kernels"], in_graphs)
    table.equal("graph_replay: kernels outside of graphs", expected["kernels_outside"],
                trace.kernel_total() - in_graphs)
    by_path = trace.kernels_by_path()
    for item in captured["paths"]:
        table.equal(f"{item['path']}: kernels", item["kernels"], by_path[tuple(item["path"].split("/"))])
    # Nodes added explicitly belong to the range of that call or, if it was not recorded, to the launch's.
    of_built = by_path[("graph_replay", "build")] + by_path[("graph_replay", "replay built")]
    table.equal("graph_replay: kernels of the built graph", built["kernels"], of_built)
    for kind in ("memcpy", "memset"):
        found = [line for line in trace.lines[kind] if line.get("graph")]
        table.equal(f"graph_replay: {kind} nodes, bytes", (built[f"{kind}s"], built[f"{kind}_bytes"]),
                    (len(found), sum(line["bytes"] for line in found)))
    balance = trace.end.get("launches", {}).get("graph", {})
    table.equal("graph_replay: graph launches", expected["graph_launches"], balance.get("launched"))
    table.equal("graph_replay: graph launches recorded", expected["graph_launches"], balance.get("recorded"))
    table.equal("graph_replay: losses", {}, trace.loss)


def graph_kinds(runner, table):
    for counters in ("off", "sampled", "exact"):
        name = f"graph_kinds_{counters}"
        expected, trace = runner.traced(name, [f"{runner.bin}/graph_kinds"], ["--counters", counters])
        found, wrong = defaultdict(Counter), Counter()
        for (path, kernel), count in trace.kernels_by_path_and_name().items():
            kind, wanted = path[0] if path else "", kernel.split("_")[1]
            found[kind][kernel] += count
            if path[-1:] != (wanted,):
                wrong[f"{kernel} at {'/'.join(path)}"] += count
        for kind, kernels in expected["kinds"].items():
            table.equal(f"{name}: {kind}", kernels, dict(sorted(found[kind].items())))
        table.equal(f"{name}: kernels at another path", {}, dict(wrong))
        # Eager launches beside a capture have no counter range.
        loss = {key: count for key, count in trace.loss.items() if (counters, key) != ("exact", "exact_unmeasured")}
        table.equal(f"{name}: losses", {}, loss)
        # A launch of a graph with conditional nodes counts once it has a record: `if_not` has none.
        balance = trace.end["launches"]["graph"]
        without_record = 0 if counters == "exact" else expected["without_record"]  # an exact line counts, too
        table.equal(f"{name}: graph launches without a record", without_record,
                    expected["graph_launches"] - balance["launched"])
