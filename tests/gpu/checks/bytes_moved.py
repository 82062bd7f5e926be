# SPDX-License-Identifier: Apache-2.0
"""Measured DRAM bytes of exact launches, compared with the bytes that known_bytes moved."""

MIB = 1 << 20
GIB = 1 << 30
# Relative error of every call; below 1 GiB, writes may also differ by dirty bytes left in the L2.
SHARE = 0.01
DIRTY_L2_BYTES = 4 * MIB
LEAST_SIZE = 256 * MIB  # below it the L2 serves a part of the reads: not checked
REPEAT = 5


def known_bytes(runner, table):
    command = [f"{runner.bin}/known_bytes", "--repeat", str(REPEAT)]
    expected, trace = runner.traced("known_bytes", command, ["--counters", "exact"], timeout_s=600)
    table.equal("known_bytes: counters", "exact", trace.lines["header"][0]["counters"])
    unmeasured = [line for line in trace.lines["exact"] if "unmeasured" in line]
    table.equal("known_bytes: unmeasured launches", 0, len(unmeasured))
    kernels, without_record = trace.exact_kernels()
    table.equal("known_bytes: kernel lines", len(kernels), trace.kernel_total())
    table.equal("known_bytes: measured kernels without a kernel line", 0, without_record)
    for item in expected["ranges"]:
        calls = trace.at_path("exact", item["path"].split("/"))
        table.equal(f"{item['path']}: exact lines", item["calls"], len(calls))
        row = trace.module(item["path"])
        declared = (row or {}).get("declared_bytes")
        table.equal(f"{item['path']}: declared bytes", item["declared_bytes"], declared)
        if item["size_bytes"] >= LEAST_SIZE:
            check_calls(table, item, [call for call in calls if "unmeasured" not in call])


def check_calls(table, item, calls):
    """The largest errors of a range's calls, for reads and for writes."""
    is_large_copy = item["size_bytes"] >= GIB and item["kind"] in ("copy_kernel", "memcpy_d2d")
    dirty = 0 if is_large_copy else DIRTY_L2_BYTES
    for key, slack in (("read_bytes", 0), ("write_bytes", dirty)):
        truth = item[key] // item["calls"]
        if truth == 0:
            continue
        found = [call["dram_" + key] for call in calls]
        worst = max(found, key=lambda value: abs(value - truth), default=None)
        table.near(f"{item['path']}: DRAM {key[:-6]}, worst", truth, worst, SHARE, slack)
