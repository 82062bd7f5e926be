#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Checks the JSON Schemas with the examples, and with broken copies of them, since a schema that
# accepts everything would pass the first check.
#
#   schema_validation_test.py REPOSITORY      needs python3-jsonschema (4.x)
import copy
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

DELETE = object()  # as a new value: remove the key

# By kind: the key, or path of keys, that is changed, and its new values. The schema must refuse each.
BROKEN_LINES = {
    "header": {"schema": ["other.trace"], "version": ["2.0", 1.0], "pid": [0],
               "base_unix_ns": [1763712000123456789, "12.5"], "segment": [-1],
               "command": ["detector", [1]], "counters": ["some"], "rank": [""]},
    "gpu": {"id": [-1], "compute_capability": [[9], "9.0"], ("peak_flops", "fp32"): [0], "mig": [False]},
    "context": {"id": [4294967296]},
    "stream": {"priority": [0], "non_blocking": [1]},
    "thread": {"id": [0], "name": [None]},
    "domain": {"id": [0]},
    "category": {"domain": [-1]},
    "name": {"text": [5]},
    "path": {"id": [0, -2], "parent": ["1"]},
    "module_source": {"path": [0, DELETE], "class_file": ["", DELETE], "class_line": [0, DELETE],
                      "call_file": [5, DELETE], "call_line": ["30", DELETE]},
    "kernel_origin": {"path": [0, DELETE], "kernel": ["triton", DELETE], "operators": [5, DELETE], "file": ["", DELETE],
                      "line": [0, DELETE]},
    "kernel_name": {"id": [1.5]},
    "config": {"grid": [[1, 2], [1, 2, 3, 4]], "block": [[1, 2, -1]], "cluster": [[0, 0, 0]],
               "registers": [0]},
    "payload_schema": {"definition": ["{}", []]},
    "samples": {"runs": [[[0, 20000, 0]]], "dram_read": [[1.5], {"0": 0}], "idle": [DELETE, {"disk": 1}]},
    "sampling": {"interval": [-1], "columns": [["disk"]]},
    "kernel": {"start": [DELETE, 1.5, 9223372036854775808], "end": [DELETE, None], "stream": ["7", -7],
               "name": [0], "config": [-1], "path": [0], "range": [18446744073709551616]},
    "memcpy": {"kind": ["HtoX", "PtoP"],  # PtoP without its GPUs
               "src": [""], "dst": [3], "bytes": [-1], "async": [False], "count": [1]},
    "memset": {"memory": ["host"], "value": [0]},
    "launch": {"api": [1], "result": [0], "thread": [0]},
    "metric_set": {"id": [0], "metrics": ["a", [1]]},
    "exact": {"kind": ["event"], "gpu_ns": [DELETE], "l2_bytes": [-1], "unmeasured": ["and measured"],
              "api": [DELETE], "corr": [DELETE], "shared_range": [1],  # and values
              "counter_range": [1, DELETE],  # 1: of a launch
              "launches": [DELETE], "kernels": [DELETE], "exclusive": [False],  # of a launch
              "set": [DELETE], "values": [DELETE, [1]]},  # [1]: without a set
    "condition": {"at": [DELETE], "sm_mhz": [-1, "fast"], "throttle": ["sw_power_cap", [1]], "gpu": [-1],
                  "thread": [5]},  # 5: beside "gpu"
    "frame": {"id": [0], "function": [5], "file": ["", None], "line": [0, "41"]},
    "stack": {"id": [0], "caller": [0, None], "frame": [0]},
    "stack_sample": {"start": [None], "thread": [0], "interval": [0, 1.5],
                     "samples": [[0, 2], [[0]], [[0, 2, 1, 1]], [[-1, 2]], [[0, 4294967296]]]},
    "sync": {"event": ["55aa", 21930]},
    "alloc": {"memory": ["pinned"], "address": [0], "bytes": [0]},
    "free": {"address": ["0xZZ"], "pool": [""]},
    "stream_wait": {"event": ["0x"], "stream": [0]},
    "capture": {"step": ["start"], "graph": ["0x00000000000000001"]},
    "overhead": {"thread": [0]},
    "hold": {"thread": [DELETE, 0], "cause": [DELETE, "lunch"]},
    "gap": {"start": [DELETE], "end": [None], "cause": [DELETE, 7]},
    "range": {"id": [0], "end": ["null"], "path": [DELETE, 0], "color": ["#76b900"],
              "payload": [DELETE, -1, "many", 1.5], "payload_type": [DELETE, "u128"]},
    "mark": {"name": [0], "payload_data": ["abc"], "payload_schema": [DELETE]},
    "clock": {"monotonic": ["1"]},
    "flush": {"records": [-1], ("loss", "gpu_work_untimed"): [0]},
    "end": {"records": [[]], ("records", "kernel"): [-1], ("launches", "graph"): [DELETE],
            ("launches", "kernel", "lost"): [DELETE, -1], ("own_cost", "exact_ns"): [DELETE],
            ("truth", "copies"): [0], ("truth", "known_bytes"): [DELETE], "loss": [None]},
}

# The same by part of the summary; (): the summary itself.
BROKEN_SUMMARY = {
    (): {"schema": ["rangefinder.trace"], "final": [1], "duration_ns": [-1], "findings": [{}],
         "metric_sets": [[{"id": 1, "name": "memory"}]], "samples": [{"count": 1}],
         "truth": [{"copies": 0, "known_bytes": 0, "measured_bytes": 0}]},
    ("process",): {"pid": ["4711"], "counters": ["some"]},
    ("gpus", 0): {"uuid": [DELETE]},
    ("modules", 0): {"path": [5, DELETE], "depth": [0], "calls": [DELETE], "gpu_ns": [DELETE, 1.5],
                     "gpu_busy_ns": [DELETE], "kernels": [0],  # and time
                     "time_source": ["counter", DELETE],
                     "bytes_source": [DELETE, "estimated", "sampled"],  # sampled: and measured launches
                     "l2_bytes": [DELETE], "measured_launches": [0], "carry_over_bytes": [-1], "bytes_error_pct": [5.0],
                     "bytes_estimated": [False], "sampled_share": [1.5], "limiter": ["cpu"],
                     "dram_peak_share": ["0.5"], "unstable": [False], "missing_sets": [[]],
                     "metrics": [{"a.sum": 1}]},
    ("outside",): {"gpu_ns": [5],  # without a kernel
                   "carry_over_bytes": [5],  # and sampled
                   "kernels": [-1], ("memcpy_bytes", "HtoD"): [0]},
    ("kernels", 0): {"count": [-1], "min_ns": [DELETE]},
    ("memcpy", 0): {"kind": ["HtoX"], "bytes": [DELETE]},
    ("loss",): {"nvtx_unclosed": ["1"]},
    ("own_cost",): {"bytes_written": [DELETE]},
}


def broken(table):
    """(part, path of keys, new value) of each change."""
    return [(part, where if isinstance(where, tuple) else (where,), value)
            for part, changes in table.items() for where, values in changes.items() for value in values]


def changed(document, where, value):
    """A copy with the value at the path `where` replaced, or None if that place does not exist."""
    result = copy.deepcopy(document)
    *above, key = where
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
        self.validators = {}
        for name in ("trace", "summary"):
            schema = json.loads((root / f"schema/{name}.schema.json").read_text())
            Draft202012Validator.check_schema(schema)
            self.validators[name] = Draft202012Validator(schema)

    def accept(self, name, document, where):
        for error in self.validators[name].iter_errors(document):
            self.problems.append(f"{where}: {error.message} at {error.json_path}")

    def refuse(self, name, document, what):
        self.refused += 1
        if document is None:
            self.problems.append(f"no example has the place to change: {what}")
        elif self.validators[name].is_valid(document):
            self.problems.append(f"accepted, and should not be: {what}")

    def file(self, path):
        """Checks all lines of a trace, or a summary. Returns the documents."""
        text = path.read_text(encoding="utf-8")
        name = "trace" if path.suffix == ".ndjson" else "summary"
        documents = [json.loads(part) for part in (text.splitlines() if name == "trace" else [text])]
        for number, document in enumerate(documents, start=1):
            self.accept(name, document, f"{path}:{number}")
        return documents

    def mutations(self, lines, summary):
        trace = self.validators["trace"].schema
        kinds = {line["t"] for line in lines}
        defined = {part["if"]["properties"]["t"]["const"] for part in trace["allOf"]}
        if kinds != defined:
            self.problems.append(f"examples and schema differ in kinds: {sorted(kinds ^ defined)}")
        for line in lines:
            for key in required_of(trace, trace["$defs"][line["t"]]):
                self.refuse("trace", changed(line, [key], DELETE), f"{line['t']} without {key}")
        for kind, where, value in broken(BROKEN_LINES):
            # The first example of the kind that has the place to change.
            copies = (changed(line, where, value) for line in lines if line["t"] == kind)
            self.refuse("trace", next(filter(None, copies), None), f"{kind} with {where} = {value!r}")
        self.refuse("trace", {"kind": "kernel"}, "a line without t")
        self.refuse("trace", [], "an array")
        for key in self.validators["summary"].schema["required"]:
            self.refuse("summary", changed(summary, [key], DELETE), f"summary without {key}")
        for part, where, value in broken(BROKEN_SUMMARY):
            self.refuse("summary", changed(summary, part + where, value), f"{part} with {where} = {value!r}")

    def newer_minor_version(self, lines, summary):
        """Extensions that a reader of 1.0 must accept."""
        self.accept("trace", {"t": "sample", "anything": [1]}, "an unknown kind")
        for line in lines:
            self.accept("trace", {**line, "added_later": {"x": 1}}, f"{line['t']} with a new key")
        self.accept("summary", {**summary, "added_later": 1}, "summary with a new key")


def main():
    root = pathlib.Path(sys.argv[1])
    check = Check(root)
    lines = check.file(root / "schema/examples/trace-00000.ndjson")
    (summary,) = check.file(root / "schema/examples/summary.json")
    check.mutations(lines, summary)
    check.newer_minor_version(lines, summary)
    print("\n".join(check.problems))
    print(f"schema validation: {len(lines) + 1} documents, {check.refused} broken ones")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
