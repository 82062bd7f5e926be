# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of `rangefinder export`: recorded traces, their lines, hostile names."""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import cli_case
from cli_case import CommandLine

SKIPPED = 77
RECORDINGS = ("copy_storm", "graph_replay", "hf_rtdetr_trace", "known_bytes_exact", "multi_stream_ranges",
              "nvtx_shapes", "rtdetr_exact", "rtdetr_rotated", "rtdetr_sampled")
GPU_WORK = ("kernel", "memcpy", "memset")
# Names that an application may use for ranges: quotes, line ends, a formula, control characters, separators,
# bytes that are not UTF-8 (as the trace has them), a name that looks like the rank of a distributed run.
HOSTILE = ['"quoted"', "two\nlines\r\n", "=1+1", "@SUM(A1)", "-2", "tab\there", "\x01\x1f\x7f", "a,b;c", "back\\slash",
           "sl/ash", "\ufffd\ufffd", '"rank": 99', "'; DROP TABLE kernels; --", "</script>", "\U0001f600", "", "{}",
           "nul\x00inside"]

_folder = tempfile.TemporaryDirectory()
_replay = ""


def recorded(name):
    """The folder of a recorded trace, replayed once."""
    out = pathlib.Path(_folder.name) / name
    if out.exists():
        return out
    recording = cli_case.REPOSITORY / "tests" / "replay" / name / "recording.zst"
    done = subprocess.run([_replay, recording, "--out", out], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"rangefinder-replay failed with {done.returncode}: {done.stderr}")
    return out


@functools.lru_cache(maxsize=4)
def lines_of(trace):
    return [json.loads(line) for file in sorted(trace.glob("trace-*.ndjson"))
            for line in file.read_text(encoding="utf-8").splitlines()]


def of_kind(lines, *kinds):
    return [line for line in lines if line["t"] in kinds]


def kernel_ns(lines):
    return sum(line["end"] - line["start"] for line in of_kind(lines, "kernel"))


def parent_text(path):
    """The path without its last level; a '/' in a name is escaped."""
    at = max((i for i, c in enumerate(path) if c == "/" and (len(path[:i]) - len(path[:i].rstrip("\\"))) % 2 == 0), default=0)
    return path[:at]


def path_texts(lines):
    """{id: names joined by '/'}, as users see paths."""
    out = {0: ""}
    for line in of_kind(lines, "path"):
        name = line["name"].replace("\\", "\\\\").replace("/", "\\/")
        above = out[line["parent"]]
        out[line["id"]] = above + "/" + name if above else name
    return out


class Export(CommandLine):
    maxDiff = 2000

    def export(self, trace, to, *more, out=None):
        """Exports and returns the output path."""
        return self.exported_together(to, out or f"out.{to}", trace, *more)

    def exported_together(self, to, out, *traces):
        out = self.folder / out
        self.check_code(self.call("export", *traces, "--to", to, "--out", out), 0)
        return out

    def two_traces(self, **second):
        """Two small traces; `second` changes the header of the second one."""
        header = {**cli_case.HEADER, "pid": 4712, **second}
        return self.make_trace(name="one"), self.make_trace([header, *cli_case.TRACE[1:]], "two")

    def hostile_trace(self, name="hostile", **header):
        """A trace in which every name is hostile."""
        lines = [{**cli_case.HEADER, "host": 'ho"st\n', "executable": "/bin/a\"b", **header}, cli_case.TRACE[1],
                 {"t": "context", "id": 1, "gpu": 0}, {"t": "stream", "id": 7, "ctx": 1},
                 {"t": "thread", "id": 5, "name": 'thr"ead\n'}, {"t": "domain", "id": 1, "name": 'do"main\n'},
                 {"t": "category", "domain": 1, "id": 3, "name": '=cate"gory'}, cli_case.TRACE[4]]
        for i, text in enumerate(HOSTILE, 1):
            lines += [{"t": "path", "id": i, "parent": 0, "name": text}, {"t": "name", "id": i, "text": text},
                      {"t": "kernel_name", "id": i, "mangled": text, "demangled": text, "library": text,
                       "evidence": "none"}]
        for i in range(1, len(HOSTILE) + 1):
            at = i * 1000
            of = {"path": i, "range": i, "corr": i}
            lines += [{**cli_case.TRACE[5], **of, "start": at + 10, "end": at + 20},
                      {"t": "range", "id": i, "start": at, "end": at + 900, "thread": 5, "path": i,
                       "domain": 1, "category": 3, "payload": "nan", "payload_type": "f64"},
                      {"t": "mark", "at": at + 5, "thread": 5, "name": i, "path": i, "range": i},
                      {**cli_case.TRACE[6], **of, "start": at + 100, "end": at + 600, "name": i}]
        return self.make_trace(lines, name)


def main(doc):
    """Like cli_case.main, with the path of rangefinder-replay as third argument."""
    global _replay
    if len(sys.argv) < 4:
        sys.exit(doc)
    _replay = sys.argv.pop(3)
    cli_case.REPOSITORY = pathlib.Path(sys.argv[2]).resolve()
    try:
        recorded("copy_storm")
    except RuntimeError as error:
        # The replay uses libcupti's record iterator. Without it there is nothing to export.
        if "libcupti" in str(error):
            print(f"skipped: {error}")
            sys.exit(SKIPPED)
        raise
    cli_case.main(doc)
