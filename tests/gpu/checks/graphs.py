# SPDX-License-Identifier: Apache-2.0
"""Kernels of CUDA graphs: all recorded, and under the range in which they were captured."""


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
    # The child graph's nodes have no record of their creation: CUPTI reports only the copy.
    unseen = by_path[("graph_replay", "replay built")]
    table.equal("graph_replay: losses", {"graph_nodes_unseen": unseen} if unseen else {}, trace.loss)
