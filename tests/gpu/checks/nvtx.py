# SPDX-License-Identifier: Apache-2.0
"""Every NVTX form in the trace: counts, texts, paths, payloads. Misuse is counted as a loss."""
import math

LONGEST_NAME = 16 * 1024  # bytes kept of a name


def _text(in_hex):
    """The text as in the trace: invalid UTF-8 becomes U+FFFD; cut at the same length."""
    return bytes.fromhex(in_hex).decode("utf-8", "replace")


def _same(expected, found):
    if len(expected) <= LONGEST_NAME:
        return expected == found
    # cut at 16 KiB, with ~ and 16 digits of a hash
    return len(found) >= LONGEST_NAME // 2 and expected.startswith(found[:LONGEST_NAME - 17])


def _is_value(payload, line):
    found = line.get("payload", 0)  # 0 is omitted
    if payload["type"] in ("f64", "f32"):
        return math.isclose(float(found), float(payload["value"]), rel_tol=1e-7)
    return int(found) == int(payload["value"])


def nvtx_shapes(runner, table):
    expected, trace = runner.traced("nvtx_shapes", [f"{runner.bin}/nvtx_shapes"])
    counts(table, expected, trace)
    texts(table, expected, trace)
    payloads(table, expected, trace)
    paths(table, expected, trace)
    for cause, count in expected["loss"].items():
        table.equal(f"nvtx_shapes: loss {cause}", count, trace.loss.get(cause, 0))
    others = {cause: count for cause, count in trace.loss.items() if cause not in expected["loss"]}
    table.equal("nvtx_shapes: other losses", {}, others)


def counts(table, expected, trace):
    ranges = trace.lines["range"]
    push_pop = [line for line in ranges if not line.get("name")]
    start_end = [line for line in ranges if line.get("name")]
    table.equal("nvtx_shapes: push/pop ranges", expected["push_pop_lines"], len(push_pop))
    table.equal("nvtx_shapes: start/end ranges", expected["start_end"], len(start_end))
    elsewhere = [line for line in start_end if line.get("end_thread", line["thread"]) != line["thread"]]
    table.equal("nvtx_shapes: ended on another thread", expected["end_on_another_thread"], len(elsewhere))
    still_open = [line for line in ranges if line["end"] is None]
    table.equal("nvtx_shapes: still open at the end", expected["loss"]["nvtx_unclosed"], len(still_open))
    table.equal("nvtx_shapes: marks", expected["marks"], trace.count["mark"])
    table.equal("nvtx_shapes: payload schemas", expected["schemas"], len(trace.lines["payload_schema"]))
    table.equal("nvtx_shapes: nvtxDomainIsEnabled", True, expected["domain_enabled"])
    color = f"#{expected['color']:08X}"
    colored = [line for line in ranges if line.get("color", "").upper() == color]
    table.equal(f"nvtx_shapes: ranges of colour {color}", 1, len(colored))


def texts(table, expected, trace):
    domain_names = {line["id"]: line["name"] for line in trace.lines["domain"]}
    there = {"domains": set(domain_names.values()), "threads": {line["name"] for line in trace.lines["thread"]},
             "names": set(trace.names.values())}
    for kind, found in there.items():
        wanted = map(_text, expected[kind + "_hex"])
        table.equal(f"nvtx_shapes: {kind} not found", [], [name for name in wanted if name not in found])
    categories = {(domain_names.get(line["domain"], ""), line["id"], line["name"])
                  for line in trace.lines["category"]}
    wanted = [(item["domain"], item["id"], _text(item["name_hex"])) for item in expected["categories"]]
    table.equal("nvtx_shapes: categories not found", [], [item for item in wanted if item not in categories])


def payloads(table, expected, trace):
    marks = {trace.names.get(line.get("name"), ""): line for line in trace.lines["mark"]}
    for payload in expected["payloads"]:
        line = marks.get(payload["name"], {})
        ok = line.get("payload_type") == payload["type"] and _is_value(payload, line)
        table.row(f"nvtx_shapes: {payload['name']}", payload["value"], line.get("payload"), ok)
    with_schema = [line for line in trace.lines["range"] + trace.lines["mark"]
                   if line.get("payload_data", "").lower() == expected["schema_payload_hex"]]
    # in a range's attributes, in nvtxRangePushPayload, in nvtxMarkPayload
    table.equal("nvtx_shapes: payloads with a schema", 3, len(with_schema))
    ids = {line["id"] for line in trace.lines["payload_schema"]}
    table.equal("nvtx_shapes: their schemas are known", True,
                bool(with_schema) and all(line.get("payload_schema") in ids for line in with_schema))


def paths(table, expected, trace):
    found = trace.kernels_by_path()
    total = 0
    for item in expected["paths"]:
        names = [_text(name) for name in item["names_hex"]]
        total += item["kernels"]
        count = sum(kernels for path, kernels in found.items()
                    if len(path) == len(names) and all(map(_same, names, path)))
        shown = ascii("/".join(names))[1:-1]
        shown = shown[:35] + "…" if len(shown) > 36 else shown
        table.equal(f"nvtx_shapes: path {shown}", item["kernels"], count)
    table.equal("nvtx_shapes: kernels", total, trace.kernel_total())
