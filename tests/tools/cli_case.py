# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the command line: a temporary folder, the program, a small trace."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RANGEFINDER = ""
REPOSITORY = pathlib.Path()

HEADER = {
    "t": "header", "schema": "rangefinder.trace", "version": "1.0", "segment": 0,
    "base_unix_ns": "1700000000000000000", "base_monotonic_ns": "5", "tool_version": "0.1.0",
    "pid": 4711, "parent_pid": 1, "host": "node7", "executable": "/usr/bin/app", "command": ["app"],
    "counters": "off",
}
TRACE = [
    HEADER,
    {"t": "gpu", "id": 0, "name": "Test GPU", "uuid": "GPU-1", "compute_capability": [9, 0], "sm_count": 132,
     "memory_bytes": 141000000000, "l2_bytes": 60000000},
    {"t": "path", "id": 1, "parent": 0, "name": "model"},
    {"t": "kernel_name", "id": 1, "mangled": "k", "demangled": "void k<int>(int)", "library": "own", "evidence": "none"},
    {"t": "config", "id": 1, "grid": [1, 1, 1], "block": [32, 1, 1]},
    {"t": "launch", "start": 10, "end": 20, "thread": 5, "path": 1, "range": 1, "api": "cuLaunchKernel", "corr": 1},
    {"t": "kernel", "start": 100, "end": 1100, "gpu": 0, "ctx": 1, "stream": 7, "corr": 1, "path": 1, "range": 1,
     "name": 1, "config": 1},
    {"t": "range", "id": 1, "start": 5, "end": 30, "thread": 5, "path": 1},
]


def clean_environment(**more):
    names = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    base = {k: v for k, v in os.environ.items() if k not in names and not k.startswith("RANGEFINDER_")}
    return {**base, "NO_COLOR": "1", **more}


def rest_of_terminal(terminal):
    """What a program writes to the other side, until that is closed."""
    shown = b""
    try:
        while part := os.read(terminal, 1024):
            shown += part
    except OSError:  # the other side is closed
        pass
    return shown


class CommandLine(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def call(self, *arguments, cwd=None, **environment):
        return subprocess.run([RANGEFINDER, *map(str, arguments)], cwd=cwd or self.folder, text=True, capture_output=True,
                              timeout=120, env=clean_environment(**environment))

    def check_code(self, done, code):
        self.assertEqual(done.returncode, code, f"stdout: {done.stdout}\nstderr: {done.stderr}")

    def report(self, *arguments):
        """The report of one trace as JSON."""
        done = self.call("report", *arguments, "--json")
        self.check_code(done, 0)
        (trace,) = json.loads(done.stdout)["traces"]
        return trace

    def make_long_trace(self):
        """A trace that takes many seconds to read: 2,000 links to one file. Returns its folder and that file: the reading
        ends early once the file is replaced by a short one."""
        trace = self.folder / "trace"
        trace.mkdir()
        lines = self.folder / "lines"
        mark = '{"t":"mark","at":5,"thread":7,"name":1}\n'
        lines.write_text(json.dumps(HEADER, separators=(",", ":")) + "\n" + mark * 100_000)
        for segment in range(2_000):
            (trace / f"trace-{segment:05}.ndjson").symlink_to(lines)
        return trace, lines

    def make_trace(self, lines=None, name="trace"):
        folder = self.folder / name
        folder.mkdir()
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in (lines or TRACE))
        (folder / "trace-00000.ndjson").write_text(text)
        return folder


def main(doc):
    """Runs the tests of the calling file. argv: path of rangefinder, repository, arguments of unittest."""
    global RANGEFINDER, REPOSITORY
    if len(sys.argv) < 3:
        sys.exit(doc)
    RANGEFINDER = os.path.abspath(sys.argv[1])
    REPOSITORY = pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
