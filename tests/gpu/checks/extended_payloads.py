# SPDX-License-Identifier: Apache-2.0
"""Extended NVTX payloads of a trace, decoded with the trace's own schemas (schema/README.md).

Written independently from NVTX's description of payloads, so that it does not share errors with the
project's reader.
"""
import struct
from collections import Counter, defaultdict

_FORMATS = {"int": "i", "unsigned int": "I", "size": "Q", "uint64": "Q", "int64": "q", "uint32": "I", "int32": "i",
            "float": "f", "double": "d"}


class Payloads:
    def __init__(self, lines):
        """`lines`: the payload_schema lines of the trace."""
        self._definitions = {(line.get("domain", 0), line["id"]): line["definition"] for line in lines}

    def decode(self, domain, schema, data):
        """{name of the entry: value}; an enum's value is its name."""
        definition = self._definitions.get((domain, schema), {"entries": []})
        raw, at, values = bytes.fromhex(data), 0, {}
        for entry in definition["entries"]:
            names = self._definitions.get((domain, entry["type"]), {}).get("entries")
            letter = _FORMATS.get(entry["type"]) or ("i" if names is not None else None)
            if letter is None:
                break  # the offset of the next entry is unknown
            size = struct.calcsize(letter)
            at = entry.get("offset") or (at + size - 1) // size * size
            value, = struct.unpack_from("<" + letter, raw, at)
            if names is not None:
                value = next((name["name"] for name in names if name["value"] == value), value)
            values[entry["name"]] = value
            at += size
        return values


def calls_of(trace, domain_name):
    """{name of the range: (calls, Counter of bytes, Counter of reduction operations)} of a domain."""
    domains = {line["id"] for line in trace.lines["domain"] if line["name"] == domain_name}
    payloads = Payloads(trace.lines["payload_schema"])
    found = defaultdict(lambda: [0, Counter(), Counter()])
    for line in trace.lines["range"]:
        if line.get("domain", 0) not in domains:
            continue
        row = found[trace.path(line["path"])[-1]]
        row[0] += 1
        if "payload_data" not in line:
            continue
        values = payloads.decode(line["domain"], line["payload_schema"], line["payload_data"])
        for name, value in values.items():
            if "bytes" in name.lower():
                row[1][value] += 1
            elif name == "Reduction operation":
                row[2][value] += 1
    return dict(found)
