#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the JSON Schemas with the examples, and with broken copies of them, since a schema that
# accepts everything would pass the first check.
#
#   schema_validation_test.py REPOSITORY [TRACE.ndjson | summary.json ...]
#
# Needs python3-jsonschema (4.x). Prints one line. Exit status 1: a check failed.
import copy
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

DELETE = object()  # as a new value: remove the key

# Kind, place of the change (a key, or a path of keys), new value. The schema must refuse each.
BROKEN_LINES = [
    ("header", "schema", "other.trace"),
    ("header", "version", "2.0"), ("header", "version", 1.0),
    ("header", "base_unix_ns", 1763712000123456789),
    ("header", "base_unix_ns", "12.5"),
    ("header", "pid", 0),
    ("header", "segment", -1),
    ("header", "command", "detector"),
    ("header", "command", [1]),
    ("header", "counters", "some"),
    ("header", "rank", ""),
    ("gpu", "id", -1),
    ("gpu", "compute_capability", [9]),
    ("gpu", "compute_capability", "9.0"),
    ("gpu", ("peak_flops", "fp32"), 0),
    ("gpu", "mig", False),
    ("context", "id", 4294967296),
    ("stream", "priority", 0),
    ("stream", "non_blocking", 1),
    ("thread", "id", 0), ("thread", "name", None),
    ("domain", "id", 0),
    ("category", "domain", -1),
    ("name", "text", 5),
    ("path", "id", 0), ("path", "id", -2),
    ("path", "parent", "1"),
    ("kernel_name", "id", 1.5),
    ("config", "grid", [1, 2]), ("config", "grid", [1, 2, 3, 4]),
    ("config", "block", [1, 2, -1]),
    ("config", "cluster", [0, 0, 0]),
    ("config", "registers", 0),
    ("payload_schema", "definition", "{}"),
    ("payload_schema", "definition", []),
    ("samples", "runs", [[0, 20000, 0]]),
    ("samples", "dram_read", [1.5]),
    ("samples", "dram_read", {"0": 0}),
    ("samples", "idle", DELETE),
    ("samples", "idle", {"disk": 1}),
    ("sampling", "interval", -1),
    ("sampling", "columns", ["disk"]),
    ("kernel", "start", DELETE),
    ("kernel", "end", DELETE),
    ("kernel", "end", None),
    ("kernel", "start", 1.5),
    ("kernel", "start", 9223372036854775808),
    ("kernel", "stream", "7"),
    ("kernel", "stream", -7),
    ("kernel", "name", 0),
    ("kernel", "config", -1),
    ("kernel", "path", 0),
    ("kernel", "range", 18446744073709551616),
    ("memcpy", "kind", "HtoX"),
    ("memcpy", "kind", "PtoP"),  # without its GPUs
    ("memcpy", "src", ""),
    ("memcpy", "dst", 3),
    ("memcpy", "bytes", -1),
    ("memcpy", "async", False),
    ("memcpy", "count", 1),
    ("memset", "memory", "host"),
    ("memset", "value", 0),
    ("launch", "api", 1),
    ("launch", "result", 0),
    ("launch", "thread", 0),
    ("launch", "start", DELETE),
    ("metric_set", "id", 0),
    ("metric_set", "metrics", "a"),
    ("metric_set", "metrics", [1]),
    ("metric_set", "name", DELETE),
    ("exact", "kind", "event"),
    ("exact", "gpu_ns", DELETE),
    ("exact", "l2_bytes", -1),
    ("exact", "unmeasured", "and measured"),
    ("exact", "api", DELETE),
    ("exact", "corr", DELETE),
    ("exact", "shared_range", 1),  # and values
    ("exact", "counter_range", 1),  # of a launch
    ("exact", "counter_range", DELETE),
    ("exact", "launches", DELETE),
    ("exact", "kernels", DELETE),
    ("exact", "exclusive", False),  # of a launch
    ("exact", "set", DELETE),
    ("exact", "values", DELETE),
    ("exact", "values", [1]),  # without a set
    ("sync", "event", "55aa"),
    ("sync", "event", 21930),
    ("alloc", "memory", "pinned"),
    ("alloc", "address", 0),
    ("alloc", "bytes", 0),
    ("free", "address", "0xZZ"),
    ("free", "pool", ""),
    ("event_record", "event", DELETE),
    ("stream_wait", "event", "0x"),
    ("stream_wait", "stream", 0),
    ("capture", "step", "start"),
    ("capture", "graph", "0x00000000000000001"),
    ("overhead", "what", DELETE),
    ("overhead", "thread", 0),
    ("range", "id", 0),
    ("range", "end", DELETE),
    ("range", "end", "null"),
    ("range", "path", DELETE),
    ("range", "path", 0),
    ("range", "color", "#76b900"),
    ("range", "payload", DELETE),
    ("range", "payload", -1),
    ("range", "payload", "many"),
    ("range", "payload", 1.5),
    ("range", "payload_type", DELETE),
    ("range", "payload_type", "u128"),
    ("mark", "at", DELETE),
    ("mark", "name", 0),
    ("mark", "payload_data", "abc"),
    ("mark", "payload_schema", DELETE),
    ("clock", "monotonic", "1"),
    ("flush", "records", -1),
    ("flush", ("loss", "gpu_work_untimed"), 0),
    ("end", "records", []),
    ("end", ("records", "kernel"), -1),
    ("end", ("launches", "graph"), DELETE),
    ("end", ("launches", "kernel", "lost"), DELETE),
    ("end", ("launches", "kernel", "lost"), -1),
    ("end", ("own_cost", "exact_ns"), DELETE),
    ("end", ("truth", "copies"), 0),
    ("end", ("truth", "known_bytes"), DELETE),
    ("end", "loss", None),
]

BROKEN_SUMMARY = [
    ("schema", "rangefinder.trace"),
    ("final", 1),
    ("duration_ns", -1),
    (("process", "pid"), "4711"),
    (("process", "counters"), "some"),
    (("gpus", 0, "uuid"), DELETE),
    (("modules", 0, "path"), 5),
    (("modules", 0, "path"), DELETE),
    (("modules", 0, "depth"), 0),
    (("modules", 0, "calls"), DELETE),
    (("modules", 0, "gpu_ns"), DELETE),
    (("modules", 0, "gpu_ns"), 1.5),
    (("modules", 0, "gpu_busy_ns"), DELETE),
    (("modules", 0, "kernels"), 0),  # and time
    (("modules", 0, "time_source"), "counter"),
    (("modules", 0, "time_source"), DELETE),
    (("outside", "gpu_ns"), 5),  # without a kernel
    (("modules", 0, "bytes_source"), DELETE),
    (("modules", 0, "bytes_source"), "estimated"),
    (("modules", 0, "l2_bytes"), DELETE),
    (("modules", 0, "measured_launches"), 0),
    (("modules", 0, "bytes_error_pct"), -1),
    (("modules", 0, "bytes_estimated"), False),
    (("modules", 0, "bytes_source"), "sampled"),  # and measured launches
    (("modules", 0, "sampled_share"), 1.5),
    (("modules", 0, "limiter"), "cpu"),
    (("modules", 0, "dram_peak_share"), "0.5"),
    (("modules", 0, "unstable"), False),
    (("modules", 0, "missing_sets"), []),
    (("modules", 0, "metrics"), {"a.sum": 1}),
    ("metric_sets", [{"id": 1, "name": "memory"}]),
    ("samples", {"count": 1}),
    ("truth", {"copies": 0, "known_bytes": 0, "measured_bytes": 0}),
    (("outside", "memcpy_bytes", "HtoD"), 0),
    (("outside", "kernels"), -1),
    (("kernels", 0, "count"), -1),
    (("kernels", 0, "min_ns"), DELETE),
    (("memcpy", 0, "kind"), "HtoX"),
    (("memcpy", 0, "bytes"), DELETE),
    ("findings", {}),
    (("loss", "nvtx_unclosed"), "1"),
    (("own_cost", "bytes_written"), DELETE),
]


def changed(document, where, value):
    """A copy with the value at `where` replaced, or None if that place does not exist."""
    result = copy.deepcopy(document)
    *above, key = where if isinstance(where, tuple) else (where,)
    target = result
    try:
        for step in above:
            target = target[step]
        if value is DELETE:
            del target[key]
        else:
            target[key] = value
    except (KeyError, IndexError):
        return None
    return result


def required_of(schema, definition):
    """Required keys of a kind, including those of referenced schemas."""
    keys = set(definition.get("required", []))
    for part in [definition, *definition.get("allOf", [])]:
        if "$ref" in part:
            keys |= required_of(schema, schema["$defs"][part["$ref"].rsplit("/", 1)[1]])
    return keys


class Check:
    def __init__(self, root):
        self.problems = []
        self.refused = 0
        self.schemas = {}
        self.validators = {}
        for name in ("trace", "summary"):
            schema = json.loads((root / f"schema/{name}.schema.json").read_text())
            Draft202012Validator.check_schema(schema)
            self.schemas[name] = schema
            self.validators[name] = Draft202012Validator(schema)

    def accept(self, name, document, where):
        for error in self.validators[name].iter_errors(document):
            self.problems.append(f"{where}: {error.message} at {error.json_path}")

    def refuse(self, name, document, what):
        self.refused += 1
        if self.validators[name].is_valid(document):
            self.problems.append(f"accepted, and should not be: {what}")

    def file(self, path):
        """Checks all lines of a trace, or a summary. Returns the documents."""
        text = path.read_text(encoding="utf-8")
        name = "trace" if path.suffix == ".ndjson" else "summary"
        documents = [json.loads(line) for line in text.splitlines()] if name == "trace" else [json.loads(text)]
        for number, document in enumerate(documents, start=1):
            self.accept(name, document, f"{path}:{number}")
        return documents

    def mutations(self, lines, summary):
        kinds = {line["t"] for line in lines}
        defined = {part["if"]["properties"]["t"]["const"] for part in self.schemas["trace"]["allOf"]}
        if kinds != defined:
            self.problems.append(f"examples and schema differ in kinds: {sorted(kinds ^ defined)}")
        for line in lines:
            for key in required_of(self.schemas["trace"], self.schemas["trace"]["$defs"][line["t"]]):
                self.refuse("trace", changed(line, key, DELETE), f"{line['t']} without {key}")
        for kind, where, value in BROKEN_LINES:
            # The first example of the kind that has the place to change.
            copies = [changed(line, where, value) for line in lines if line["t"] == kind]
            broken = next((broken for broken in copies if broken is not None), None)
            if broken is None:
                self.problems.append(f"no {kind} line in the example has {where}")
            else:
                self.refuse("trace", broken, f"{kind} with {where} = {value!r}")
        self.refuse("trace", {"kind": "kernel"}, "a line without t")
        self.refuse("trace", [], "an array")
        for key in self.schemas["summary"]["required"]:
            self.refuse("summary", changed(summary, key, DELETE), f"summary without {key}")
        for where, value in BROKEN_SUMMARY:
            self.refuse("summary", changed(summary, where, value), f"summary with {where} = {value!r}")

    def newer_minor_version(self, lines, summary):
        """Extensions that a reader of 1.0 must accept."""
        self.accept("trace", {"t": "sample", "anything": [1]}, "an unknown kind")
        for line in lines:
            self.accept("trace", {**line, "added_later": {"x": 1}}, f"{line['t']} with a new key")
        self.accept("summary", {**summary, "added_later": 1}, "summary with a new key")


def main():
    if len(sys.argv) < 2:
        print("usage: schema_validation_test.py REPOSITORY [FILE ...]", file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[1])
    check = Check(root)
    lines = check.file(root / "schema/examples/trace-00000.ndjson")
    (summary,) = check.file(root / "schema/examples/summary.json")
    check.mutations(lines, summary)
    check.newer_minor_version(lines, summary)
    more = sum(len(check.file(pathlib.Path(name))) for name in sys.argv[2:])

    if check.problems:
        rest = f" (and {len(check.problems) - 1} more)" if len(check.problems) > 1 else ""
        print(f"schema validation: {check.problems[0]}{rest}")
        return 1
    print(f"schema validation: {len(lines) + 1 + more} documents valid, {check.refused} broken ones refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
