# SPDX-License-Identifier: Apache-2.0
"""A trace in memory: the lines of all segments by kind, names and paths resolved (schema/README.md).

Written independently from the format's description, so that it does not share errors with the
project's reader.
"""
import glob
import json
import os
from collections import Counter, defaultdict

# `t` of lines that are kept individually; launches are only counted (there may be millions).
_NAMING = {"thread", "domain", "category", "payload_schema", "stream", "gpu", "kernel_name"}
_KEPT = _NAMING | {"memcpy", "memset", "exact", "range", "mark", "alloc", "free", "event_record", "stream_wait",
                   "sync", "capture", "hold", "stack_sample", "header", "end"}


class Trace:
    """`kernels` counts (path id, graph or 0, thread of the launch) triples.

    `threads` False: launch lines are not read, and the thread is 0. For traces of millions of launches.
    """

    def __init__(self, folder, threads=True):
        self.lines = defaultdict(list)
        self.count = Counter()
        self.names = {}
        self.kernels = Counter()
        self._paths = {}
        self._thread_of = {}
        self._kernel_keys = Counter()
        self._kernel_names = Counter()  # ids
        self._named_kernels = Counter()  # (path id, name id)
        self._recorded = set()  # correlation ids of kernel lines
        # Its own segments are at the top level; subfolders hold those of child processes or ranks.
        where = glob.escape(folder)
        segments = sorted(glob.glob(os.path.join(where, "trace-*.ndjson"))) or sorted(
            glob.glob(os.path.join(where, "**", "trace-*.ndjson"), recursive=True))
        if not segments:
            raise FileNotFoundError(f"no trace-*.ndjson under {folder}")
        self._seen = set()  # every segment repeats the lines that define names
        for segment in segments:
            with open(segment, encoding="utf-8") as lines:
                for line in lines:
                    if not threads and '"t":"launch"' in line[:24]:
                        continue
                    self._add(json.loads(line), line)
        self._resolve_threads()
        summary = os.path.join(os.path.dirname(segments[0]), "summary.json")
        with open(summary, encoding="utf-8") as file:
            self.summary = json.load(file)

    def _add(self, record, line):
        kind = record["t"]
        self.count[kind] += 1
        if kind == "kernel":
            self._kernel_keys[(record.get("path", 0), record.get("graph", 0), record["corr"])] += 1
            self._recorded.add(record["corr"])
            self._kernel_names[record["name"]] += 1
            self._named_kernels[(record.get("path", 0), record["name"])] += 1
        elif kind == "launch":
            self._thread_of[record["corr"]] = record["thread"]
        elif kind == "path":
            self._paths[record["id"]] = (record["parent"], record["name"])
        elif kind == "name":
            self.names[record["id"]] = record["text"]
        elif kind in _KEPT:
            if kind in _NAMING:
                if line in self._seen:
                    return
                self._seen.add(line)
            self.lines[kind].append(record)
            if kind == "exact" and "corr" in record:  # replaces the launch line
                self._thread_of[record["corr"]] = record["thread"]

    def _resolve_threads(self):
        for (path, graph, correlation), count in self._kernel_keys.items():
            self.kernels[(path, graph, self._thread_of.get(correlation, 0))] += count
        self._kernel_keys.clear()

    def path(self, path_id):
        """Names, outermost first; (): outside any range."""
        names = []
        while path_id:
            path_id, name = self._paths[path_id]
            names.append(name)
        return tuple(reversed(names))

    def kernels_by_path(self):
        found = Counter()
        for (path, _, _), count in self.kernels.items():
            found[self.path(path)] += count
        return found

    def kernels_by_path_and_name(self):
        """Kernel records by (path, mangled name)."""
        texts = {line["id"]: line["mangled"] for line in self.lines["kernel_name"]}
        return {(self.path(path), texts[name]): count for (path, name), count in self._named_kernels.items()}

    def kernels_by_name(self):
        """Kernel records by mangled name."""
        texts = {line["id"]: line["mangled"] for line in self.lines["kernel_name"]}
        found = Counter()
        for name, count in self._kernel_names.items():
            found[texts[name]] += count
        return found

    def exact_kernels(self):
        """Exact lines of kernels, and how many of them have no kernel line."""
        lines = [line for line in self.lines["exact"] if line["kind"] == "kernel"]
        return lines, sum(1 for line in lines if line["corr"] not in self._recorded)

    def kernel_total(self):
        return sum(self.kernels.values())

    def at_path(self, kind, names):
        return [record for record in self.lines[kind] if self.path(record.get("path", 0)) == tuple(names)]

    @property
    def end(self):
        return self.lines["end"][-1] if self.lines["end"] else {}

    @property
    def loss(self):
        """Without stacks that changed while they were read, as long as they are less than a tenth."""
        kept = sum(sum(count[0] if count else 1 for _, _, *count in line["samples"]) for line in self.lines["stack_sample"])
        loss = dict(self.end.get("loss", {}))
        if 10 * loss.get("stacks_lost", 0) < kept:
            loss.pop("stacks_lost", None)
        return loss

    def module(self, path):
        """Row of summary.json, or None."""
        return next((row for row in self.summary["modules"] if row["path"] == path), None)
