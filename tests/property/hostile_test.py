# SPDX-License-Identifier: Apache-2.0
"""Property: a hostile trace costs what a normal one of its size costs, in every verb that reads, and its faults are told.

    hostile_test.py RANGEFINDER TRACE_MAKER            300 KB a trace, two verbs
    hostile_test.py RANGEFINDER TRACE_MAKER --full     10 MB a trace, each verb, section and format (tests/nightly)

The traces are in hostile_traces.py.
"""
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from hostile_traces import FILES, TRACES, HostileTraces

RANGEFINDER = TRACE_MAKER = ""
FULL = False
MAX_MEMORY = 256 << 20
MAX_TIMES_NORMAL = 3
# Traces of 10 MB that take more than these goals, as measured: 60,000 modules, whose rows are the table; one module, renamed or
# nested 100,000 times; 2,000 files. The limits keep it from growing.
MORE_MEMORY = {"one_path": 300 << 20, "paths": 300 << 20, "nested_ranges": 420 << 20, "groups": 370 << 20}
MORE_TIMES_NORMAL = {"paths": 10, "iterations": 8, "one_path": 5, "gpus": 5, "payload": 5, "payload_of_itself": 5,
                     "large_numbers": 5, "kernel_names": 5, "segments": 12}
START_S = 0.3  # what does not depend on the size of a trace: a process, a file of each segment
MAX_SIZE_S = 120
# What a reader must say about what it refuses, and about numbers that it shows. The others end with 0.
REFUSED = {
    "empty_lines": "reading stopped at trace-00000.ndjson:1006, after 1,000 unreadable lines in a row",
    "braces": "reading stopped at trace-00000.ndjson:1006",
    "random": "trace-00000.ndjson:", "no_numbers": "trace-00000.ndjson:", "nesting": "trace-00000.ndjson:",
    "large_numbers": "trace-00000.ndjson:",
    "sums": "the times of GPU work of its lines sum to 2^64 or more",
    "bytes": "the bytes of its lines sum to 2^64 or more",
    "deep_paths": "more than 128 levels",
    "cycle": "path: 1 has parent 2, which is not smaller",
    "fifo": "not a regular file", "device": "not a regular file", "directory": "not a regular file",
    "dangling": "cannot open", "link_to_itself": "cannot open",
    "long_line": "longer than 64 MiB", "expanding_line": "expands to more than 1,000 times", "expanding_lines": "reading stopped at",
}
REFUSED_FULL = {"expanding_line": "longer than 64 MiB"}  # of a larger file more was read by then


class Done:
    """A run of the program within limits."""

    def __init__(self, arguments, folder):
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen([RANGEFINDER, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=output, cwd=folder, preexec_fn=self.limit)
            deadline = time.monotonic() + MAX_SIZE_S
            pid = 0
            while pid == 0:
                pid, status, used = os.wait4(process.pid, os.WNOHANG)
                if pid == 0 and time.monotonic() > deadline:
                    process.send_signal(signal.SIGKILL)
                time.sleep(0.002)
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            output.seek(0)
            self.text = output.read().decode(errors="replace")
        self.cpu_s = used.ru_utime + used.ru_stime
        self.memory = used.ru_maxrss << 10

    @staticmethod
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.traces = HostileTraces(cls.folder, *((10_000_000, 1 << 32) if FULL else ()))
        normal = cls.folder / "normal"
        subprocess.run([TRACE_MAKER, "--kernels", "20000", "--paths", "50", "--out", normal], check=True,
                       stdout=subprocess.DEVNULL)
        size = (normal / "trace-00000.ndjson").stat().st_size
        (cls.folder / "exported").mkdir()
        cls.normal = {name: Done(arguments, cls.folder).cpu_s / size for name, arguments in cls.verbs(normal).items()}

    @classmethod
    def listed(cls, *arguments):
        return re.findall(r"\w+", Done(arguments, cls.folder).text.split("; use ")[1].replace(" or ", " "))

    @classmethod
    def verbs(cls, trace):
        """The arguments of each verb, by its name."""
        out = {"findings": ["report", trace, "--section", "findings"], "validate": ["validate", trace]}
        if not FULL:
            return out
        for section in cls.listed("report", "x", "--section", "?"):
            if section != "kernel":
                out[section] = ["report", trace, "--section", section]
        for form in cls.listed("export", trace, "--to", "?"):
            out[form] = ["export", trace, "--to", form, "--out", cls.folder / "exported" / form, "--force"]
        return out | {"html": ["report", trace, "--html", cls.folder / "page.html"], "json": ["report", trace, "--json"],
                      "csv": ["report", trace, "--csv"], "diff": ["diff", trace, trace]}

    def check(self, name, verb, done, size):
        self.assertLess(done.memory, FULL and MORE_MEMORY.get(name) or MAX_MEMORY)
        times = FULL and MORE_TIMES_NORMAL.get(name) or MAX_TIMES_NORMAL
        self.assertLess(done.cpu_s, START_S + times * self.normal[verb] * size)
        if verb != "csv":  # for programs: names as they are
            self.assertNotIn("\x1b", done.text)
        refusal = FULL and REFUSED_FULL.get(name) or REFUSED.get(name)
        if verb == "validate":
            self.assertIn(done.code, (0, 1))
            self.assertTrue(refusal is None or done.code == 1, done.text)
        else:
            self.assertEqual(done.code, 3 if refusal else 0, done.text[-500:])
        self.assertIn(refusal or "", done.text)

    def test_each_verb_with_each_trace(self):
        for name in [*TRACES, *FILES]:
            trace, size = self.traces.make(name)
            for verb, arguments in self.verbs(trace).items():
                subprocess.run(["rm", "-rf", self.folder / "exported"], check=True)
                (self.folder / "exported").mkdir()
                with self.subTest(trace=name, verb=verb):
                    self.check(name, verb, Done(arguments, self.folder), size)

    def test_unknown_causes_of_loss_are_shown(self):
        if not (self.folder / "loss").exists():
            self.traces.make("loss")
        text = Done(["report", self.folder / "loss", "--section", "loss"], self.folder).text
        self.assertIn("unknown_cause", text)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    RANGEFINDER, TRACE_MAKER = map(os.path.abspath, sys.argv[1:3])
    FULL = "--full" in sys.argv
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[3:] if word != "--full")])
