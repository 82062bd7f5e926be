# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs of this folder with and without the library, with a fake driver."""

import functools
import os
import resource
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from trace import Trace

ALLOWED_SECONDS = 2.0  # how much longer a program's exit may take with us
DEADLINE_SECONDS = int(os.environ.get("RANGEFINDER_TEST_DEADLINE", "60"))


class Build:
    """Paths; set once by injection_test.py."""

    folder = Path(".")
    injection_library = Path(".")
    rangefinder = None  # the command line program, if it was built
    real = False  # True: use this machine's driver, CUPTI and GPU instead of the fakes

    @classmethod
    def fake(cls, name):
        return cls.folder / "tests/injection/fake" / name

    @classmethod
    def driver(cls):
        return cls.fake("driver")

    @classmethod
    def cupti(cls):
        return cls.fake("toolkit/lib64/libcupti.so.13")

    @classmethod
    def faults(cls):
        """The preloaded library that makes our C library calls fail (faults.cpp)."""
        return cls.fake("libfaults.so")

    @classmethod
    def program(cls, name):
        return cls.folder / "tests/injection/programs" / name


class Outcome:
    def __init__(self, done, seconds, place):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.seconds, self.place = seconds, place

    def folders(self):
        return sorted(path.parent for path in self.place.glob("**/trace-00000.ndjson"))

    def trace(self):
        folders = self.folders()
        if len(folders) != 1:
            raise AssertionError(f"{len(folders)} traces instead of one: {folders}; stderr: {self.stderr}")
        return Trace(folders[0])

    def own_lines(self):
        return [line for line in self.stderr.splitlines() if line.startswith("rangefinder")]


def clean_environment():
    foreign = ("RANGEFINDER_", "FAKE_", "CUDA_INJECTION", "NVTX_", "LD_")
    of_cuda = {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"}
    return {name: value for name, value in os.environ.items()
            if (Build.real if name in of_cuda else not name.startswith(foreign))}


def driver_environment(variables=()):
    """`clean_environment` with the driver for the programs. `variables`: added by the test. A variable that only
    the fakes support skips the test with a real driver."""
    if not Build.real:
        return clean_environment() | {"LD_LIBRARY_PATH": str(Build.driver())} | dict(variables)
    for name in variables:
        if name.startswith("FAKE_"):
            raise unittest.SkipTest(f"{name} needs the fake driver")
    return clean_environment() | dict(variables)


def host_environment(runtime, variables=()):
    """`driver_environment` with the CUPTI that the library finds, and the folder of control sockets."""
    cupti = {} if Build.real else {"RANGEFINDER_CUPTI": str(Build.cupti())}
    return driver_environment(cupti | {"XDG_RUNTIME_DIR": str(runtime)} | dict(variables))


def execute(command, environment, place):
    began = time.monotonic()
    done = subprocess.run(
        [str(word) for word in command], env=environment, cwd=place, capture_output=True, text=True, check=False,
        timeout=DEADLINE_SECONDS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    return Outcome(done, time.monotonic() - began, place)


FAILED_WITHOUT_US, CANNOT_BE_LOADED = 3, 127  # exit codes: the driver returned an error (gpu.h); a library is missing


def allowed_seconds(counters):
    """On a real GPU, counters took up to 3.2 s to start (H200), in each context. There the only bound is the
    deadline."""
    return DEADLINE_SECONDS if Build.real and counters == "exact" else ALLOWED_SECONDS


RETRIED = []  # ids of tests that ran a second time; injection_test.py prints their number


def retry(label, failure):
    """Notes that `label` runs a second time. tools/check counts these lines."""
    RETRIED.append(label)
    print(f"retried: {label}: {str(failure).splitlines()[0] if str(failure) else 'failed'}", flush=True)


def bounds_wall_time(test):
    """A test with a limit on wall time, which a busy machine may exceed. After a failure it runs once more."""
    @functools.wraps(test)
    def run(self):
        try:
            test(self)
        except AssertionError as failure:
            retry(self.id(), failure)
            self.doCleanups()
            self.setUp()
            test(self)
    return run


class InjectionCase(unittest.TestCase):
    """A test whose programs run in a separate folder."""

    maxDiff = 2000

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="rangefinder-injection-")
        self.addCleanup(holder.cleanup)
        self.place = Path(holder.name)
        self.runtime = self.place / "runtime"  # folder of the control sockets
        self.runtime.mkdir()
        self.runs = 0

    def run_bare(self, program, *arguments, wrap=(), **variables):
        """Runs the program without us, in a separate folder."""
        return execute([*wrap, Build.program(program), *arguments], driver_environment(variables),
                       self._new_place("bare"))

    def run_injected(self, program, *arguments, nvtx=False, wrap=(), place=None, forgiven=(), **variables):
        """Runs it with us. `nvtx`: also sets NVTX's variable; `wrap`: words before the program; a variable that is
        None is not set; `forgiven`: prefixes of violations that the test provokes."""
        place = place or self._new_place("run")
        violations = place / "violations"
        environment = host_environment(self.runtime, {"CUDA_INJECTION64_PATH": str(Build.injection_library)} | variables)
        environment.setdefault("FAKE_VIOLATIONS", str(violations))
        if nvtx:
            environment["NVTX_INJECTION64_PATH"] = str(Build.injection_library)
        environment = {name: value for name, value in environment.items() if value is not None}
        outcome = execute([*wrap, Build.program(program), *arguments], environment, place)
        broken = violations.read_text() if violations.exists() else ""
        broken = [line for line in broken.splitlines() if not line.startswith(forgiven)] if forgiven else broken
        self.assertFalse(broken, "the library did what a guest must not do")
        return outcome

    def run_both(self, program, *arguments, fake=None, **options):
        """Runs it with us, and checks that it behaves the same and as fast without us. `fake`: variables for
        both runs."""
        fake = fake or {}
        allowed = allowed_seconds(options.get("RANGEFINDER_COUNTERS"))
        bare, injected = self._run_pair(program, arguments, fake, options)
        if injected.seconds - bare.seconds >= allowed and options.get("place") is None:
            retry(f"{self.id()} {program}", f"{injected.seconds - bare.seconds:.1f} s more than without us")
            bare, injected = self._run_pair(program, arguments, fake, options)
        self.assertLess(injected.seconds - bare.seconds, allowed, "the program lost too much time")
        return injected

    def _run_pair(self, program, arguments, fake, options):
        bare = self.run_bare(program, *arguments, wrap=options.get("wrap", ()), **fake)
        if Build.real and bare.status in (FAILED_WITHOUT_US, CANNOT_BE_LOADED):
            self.skipTest(f"without us it does not run here: {bare.stdout}{bare.stderr}")
        injected = self.run_injected(program, *arguments, **fake, **options)
        self.assertEqual((injected.status, injected.stdout), (bare.status, bare.stdout), injected.stderr)
        return bare, injected

    def assert_silent(self, outcome):
        self.assertEqual(outcome.stderr, "")

    def assert_one_line(self, outcome, *parts):
        """stderr has exactly one line. It is ours and contains all `parts`."""
        self.assertEqual(len(outcome.stderr.splitlines()), 1, outcome.stderr)
        self.assertTrue(outcome.stderr.startswith("rangefinder: "), outcome.stderr)
        for part in parts:
            self.assertIn(part, outcome.stderr)

    def assert_balanced(self, trace, ended=True):
        self.assertEqual(trace.problems(), [])
        self.assertEqual(trace.end is not None, ended, "end line")
        self.assert_valid(trace.folder)

    def assert_valid(self, folder):
        """Checked by the command line program, if it was built."""
        if Build.rangefinder is not None:
            done = subprocess.run([str(Build.rangefinder), "validate", str(folder)], capture_output=True, text=True,
                                  check=False, timeout=DEADLINE_SECONDS)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def _new_place(self, kind):
        self.runs += 1
        place = self.place / f"{kind}-{self.runs}"
        place.mkdir()
        return place
