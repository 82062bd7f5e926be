# SPDX-License-Identifier: Apache-2.0
"""Every form of copy and memset; managed memory."""


def copy_storm(runner, table):
    expected, trace = runner.traced("copy_storm", [f"{runner.bin}/copy_storm"])
    for item in expected["copies"]:
        found = check_bytes(table, trace, "memcpy", item, item["copies"], len)
        wanted = {(item["kind"], item["src"], item["dst"])}
        kinds = {(line["kind"], line["src"], line["dst"]) for line in found}
        table.equal(f"{item['path']}: kind", wanted, kinds)
    for item in expected["batches"]:  # one record for a batch, or one for each copy of it
        check_bytes(table, trace, "memcpy", item, item["copies"], lambda found: sum(line.get("count", 1) for line in found))
    for item in expected["memsets"]:
        check_bytes(table, trace, "memset", item, item["calls"], len)
    table.equal("copy_storm: losses", {}, trace.loss)


def check_bytes(table, trace, kind, item, wanted, count):
    """Number and bytes of a path's records; returns them."""
    found = trace.at_path(kind, item["path"].split("/"))
    table.equal(f"{item['path']}: {kind}, number and bytes", (wanted, item["bytes"]),
                (count(found), sum(line["bytes"] for line in found)))
    return found


def managed_memory(runner, table):
    expected, trace = runner.traced("managed_memory", [f"{runner.bin}/managed_memory"])
    managed = [line for line in trace.lines["alloc"] if line["memory"] == "managed"]
    table.equal("managed_memory: allocations, bytes", (expected["managed_allocs"], expected["managed_bytes"]),
                (len(managed), sum(line["bytes"] for line in managed)))
    table.equal("managed_memory: kernels", expected["kernels"], trace.kernel_total())
    table.equal("managed_memory: words that came out wrong", 0, expected["wrong_words"])
    table.equal("managed_memory: losses", {}, trace.loss)
