# SPDX-License-Identifier: Apache-2.0
"""Runs programs under Rangefinder with a time limit, keeps their files, collects rows of the result table."""
import json
import os
import shutil
import signal
import subprocess
import sys

from checks.trace import Trace

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class Failed(Exception):
    """A step failed that the check cannot continue without."""


class Table:
    """Rows (name, expected, found, ok)."""

    def __init__(self):
        self.rows = []

    def row(self, name, expected, found, ok):
        self.rows.append((name, str(expected), str(found), bool(ok)))
        wanted = "" if str(found) == str(expected) else f" (expected: {expected})"
        print(f"{'PASS' if ok else 'FAIL'}  {name}: {found}{wanted}", flush=True)

    def equal(self, name, expected, found):
        self.row(name, expected, found, expected == found)

    def at_least(self, name, least, found, unit=""):
        self.row(name, f">= {least}{unit}", f"{found}{unit}", found >= least)

    def at_most(self, name, most, found, unit=""):
        self.row(name, f"<= {most}{unit}", f"{found}{unit}", found <= most)

    def near(self, name, truth, found, share, slack=0):
        """Within `share` of `truth` and `slack`. None: there is no value."""
        ok = found is not None and abs(found - truth) <= share * truth + slack
        off = f" ({found / truth - 1:+.2%})" if found is not None and truth else ""
        self.row(name, f"{truth} +- {share:.0%}" + (f" + {slack}" if slack else ""), f"{found}{off}", ok)

    @property
    def failures(self):
        return [row for row in self.rows if not row[3]]


class Runner:
    """One folder per run: stdout, stderr, the trace."""

    def __init__(self, table, out, build):
        self.table = table
        self.out = out
        self.bin = os.path.join(build, "bin")
        self.injection_library = os.path.join(build, "lib", "librangefinder.so")

    def program(self, name):
        return [sys.executable, os.path.join(REPOSITORY, "tests", "gpu", "programs", name)]

    def plain(self, name, command, timeout_s=300, environment=None):
        """Runs `command`; returns the last JSON line of its stdout. Raises Failed."""
        folder = os.path.join(self.out, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "command"), "w", encoding="utf-8") as file:
            file.write(" ".join(command) + "\n")
        stdout, stderr = os.path.join(folder, "stdout"), os.path.join(folder, "stderr")
        with open(stdout, "wb") as out, open(stderr, "wb") as err:
            code = _run_limited(command, out, err, timeout_s, {**os.environ, **(environment or {})})
        if code != 0:
            how = f"took over {timeout_s} s" if code is None else f"exit code {code}"
            raise Failed(f"{how}: {' '.join(command)}\n{_tail(stderr)}")
        lines = [line for line in _tail(stdout, 4_000_000).splitlines() if line.startswith("{")]
        if not lines:
            raise Failed(f"no JSON on stdout of {' '.join(command)}")
        return json.loads(lines[-1])

    def traced(self, name, command, options=(), timeout_s=300, threads=True):
        """Under `rangefinder run`, by default without counters; returns (the program's JSON, Trace).
        The trace must be valid."""
        expected = self.recorded(name, command, options, timeout_s)
        return expected, self.validated(name, self.trace_folder(name), threads)

    def recorded(self, name, command, options=(), timeout_s=300):
        """The same without a look at the trace; returns the program's JSON."""
        if "--counters" not in options:
            options = ["--counters", "off", *options]
        trace = self._empty_trace_folder(name)
        run = [os.path.join(self.bin, "rangefinder"), "run", *options, "--quiet", "--out", trace, "--", *command]
        return self.plain(name, run, timeout_s)

    def with_variable(self, name, command, timeout_s=300):
        """With only CUDA_INJECTION64_PATH and the output folder set."""
        trace = self._empty_trace_folder(name)
        environment = {"CUDA_INJECTION64_PATH": self.injection_library, "RANGEFINDER_OUT": trace}
        expected = self.plain(name, command, timeout_s, environment)
        return expected, self.validated(name, trace)

    def validated(self, name, trace, threads=True):
        command = [os.path.join(self.bin, "rangefinder"), "validate", trace]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        with open(os.path.join(self.out, name, "validate"), "w", encoding="utf-8") as file:
            file.write(done.stdout + done.stderr)
        self.table.equal(f"{name}: validate", "exit code 0", f"exit code {done.returncode}")
        return Trace(trace, threads)

    def report(self, trace, *options):
        """`rangefinder report --json`. Raises Failed."""
        return self._json("report", *options, trace)

    def diff(self, before, after):
        """`rangefinder diff --json` of two runs by name. Raises Failed."""
        return self._json("diff", self.trace_folder(before), self.trace_folder(after))

    def _json(self, verb, *arguments):
        command = [os.path.join(self.bin, "rangefinder"), verb, "--json", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}: {' '.join(command)}\n{done.stderr}")
        return json.loads(done.stdout)

    def trace_folder(self, name):
        return os.path.join(self.out, name, "trace")

    def _empty_trace_folder(self, name):
        trace = self.trace_folder(name)
        shutil.rmtree(trace, ignore_errors=True)
        os.makedirs(os.path.dirname(trace), exist_ok=True)
        return trace


def _run_limited(command, out, err, timeout_s, environment):
    """Exit code. None: the time limit ended, and the process and its children were killed."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                               start_new_session=True)
    try:
        return process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # children still running; the process has its own group
        except ProcessLookupError:
            pass
        process.wait()


def _tail(path, count=2000):
    with open(path, "rb") as file:
        return file.read()[-count:].decode("utf-8", "replace")
