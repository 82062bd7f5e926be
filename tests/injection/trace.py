# SPDX-License-Identifier: Apache-2.0
"""A trace folder, read strictly: every line must be whole and must parse."""

import json
from pathlib import Path

WORK = ("kernel", "memcpy", "memset")


class Trace:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.lines = []
        self.headers = []
        for segment in sorted(self.folder.glob("trace-*.ndjson")):
            self._read(segment)
        self.summary_file = self.folder / "summary.json"

    def _read(self, segment):
        text = segment.read_bytes()
        if text and not text.endswith(b"\n"):
            raise AssertionError(f"{segment} ends in half a line: {text[-200:]!r}")
        paths, names, configs = {}, {}, {}  # every segment is self-contained
        # Not splitlines(), which splits at U+0085 and others too: names may have them.
        for number, raw in enumerate(text.decode("utf-8").split("\n")[:-1], 1):
            try:
                line = json.loads(raw)
            except ValueError as error:
                raise AssertionError(f"{segment}:{number} is no JSON ({error}): {raw[:200]}") from error
            kind = line["t"]
            if number == 1 and kind != "header":
                raise AssertionError(f"{segment} begins with {kind}, not with its header")
            if kind == "header":
                self.headers.append(line)
            elif kind == "path":
                above = paths[line["parent"]] + "/" if line["parent"] else ""
                paths[line["id"]] = above + line["name"]
            elif kind == "kernel_name":
                names[line["id"]] = line["demangled"]
            elif kind == "config":
                configs[line["id"]] = line
            else:
                # Names are resolved at their use, so a definition that comes too late is an error.
                if "path" in line:
                    line["path_text"] = paths[line["path"]]
                if kind == "kernel" or (kind == "exact" and "name" in line):
                    line["name_text"] = names[line["name"]]
                if kind == "kernel":
                    line["grid"] = configs[line["config"]]["grid"]
            self.lines.append(line)

    def of(self, *kinds):
        return [line for line in self.lines if line["t"] in kinds]

    @property
    def end(self):
        ends = self.of("end")
        if len(ends) > 1 or (ends and self.lines[-1] is not ends[0]):
            raise AssertionError(f"{self.folder}: the end line is not the last and only one")
        return ends[0] if ends else None

    @property
    def summary(self):
        return json.loads(self.summary_file.read_text(encoding="utf-8"))

    def problems(self):
        """Errors in the event counts of this trace; empty: they balance."""
        found = []
        lines = [line for line in self.of("launch", "exact") if line.get("kind") != "range"]
        launches = {(line["corr"], line.get("ctx")) for line in lines}
        if len(launches) != len(lines):
            found.append("a launch is written twice")
        for work in self.of(*WORK):
            if "path" in work and (work["corr"], work["ctx"]) not in launches:
                found.append(f"{work['t']} {work['corr']} has a path and no launch")
        if self.end is None:
            return found
        for kind, count in self.end["launches"].items():
            if count["launched"] != count["recorded"] + count["exact"] + count["lost"]:
                found.append(f"{kind}: {count} does not add up")
        for kind, count in self.end["records"].items():
            if len(self.of(kind)) != count:
                found.append(f"{len(self.of(kind))} lines of {kind}, the end line says {count}")
        if not self.summary["final"]:
            found.append("summary.json is not the final one")
        return found
