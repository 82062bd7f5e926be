# SPDX-License-Identifier: Apache-2.0
"""Faults that hit the profiler do not reach the program: memory, disk, threads, CUPTI, the driver.

RANGEFINDER_TEST_FAULTS=N tests every Nth place, beginning with RANGEFINDER_TEST_FIRST. The default is every 36th from
the first on; tests/nightly tests all.
"""

import itertools
import os
import re
import tempfile
from pathlib import Path

from harness import Build, InjectionCase, allowed_seconds, retry

STRIDE = int(os.environ.get("RANGEFINDER_TEST_FAULTS", "36"))
FIRST = int(os.environ.get("RANGEFINDER_TEST_FIRST", "1"))
MODES = ("off", "exact", "sampled")
OUT_OF_FILES, READ_ONLY, NO_PERMISSION, NO_SPACE = "24", "30", "13", "28"
# Errors of CUPTI: invalid parameter, not initialized, out of memory, no permission, unknown.
CUPTI_ERRORS = ("1", "15", "8", "35", "999")
# If CUPTI cannot stop what it started, no other user can get it.
ENDING = ("RangeProfilerPopRange", "RangeProfilerStop", "RangeProfilerDisable", "PmSamplingStop", "PmSamplingDisable")
UNENDED = ("a counter range holds more than one launch", "CUPTI's exit handler ran while",
           "the driver ended while")


class FaultCases(InjectionCase):
    @classmethod
    def setUpClass(cls):
        print(f"every {STRIDE}. fault, from {FIRST} on (RANGEFINDER_TEST_FAULTS, RANGEFINDER_TEST_FIRST)", flush=True)

    def counts(self, program=("plain", "5"), **variables):
        """How often our library makes C library calls that can fail."""
        file = self.place / "counts"
        run = self.run_injected(*program, LD_PRELOAD=str(Build.faults()), FAULT_COUNTS=str(file), **variables)
        self.assert_silent(run)
        return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", file.read_text())}

    def assert_harmless(self, program=("plain", "5"), **variables):
        """The program behaves as without us. Its trace is valid, or there is none. The result's `found`:
        folders with a trace."""
        with self.subTest(str(variables)), tempfile.TemporaryDirectory(prefix="rangefinder-fault-") as place:
            bare, allowed = self.bare(program), allowed_seconds(variables.get("RANGEFINDER_COUNTERS"))
            run = self.run_injected(*program, place=Path(place), **variables)
            if run.seconds >= self.bare_seconds + allowed:
                retry(f"{self.id()} {variables}", f"{run.seconds:.1f} s")
                again = Path(place) / "again"
                again.mkdir()
                run = self.run_injected(*program, place=again, **variables)
            self.assertEqual((run.status, run.stdout), bare, run.stderr)
            self.assertLess(run.seconds, self.bare_seconds + allowed)
            run.found = run.folders()
            self.assertLessEqual(len(run.stderr.splitlines()), 1, run.stderr)
            for folder in run.found:
                self.assert_valid(folder)
            return run

    def bare(self, program):
        if not hasattr(self, "known"):
            self.known = {}
        if program not in self.known:
            run = self.run_bare(*program)
            self.known[program] = (run.status, run.stdout)
            self.bare_seconds = run.seconds
        return self.known[program]

    def test_an_allocation_that_fails_harms_nobody(self):
        for mode in MODES:
            variables = {"RANGEFINDER_COUNTERS": mode}
            allocations = self.counts(**variables)["allocations"]
            self.assertGreater(allocations, 100)
            for number, later in itertools.product(range(FIRST, allocations + 40, STRIDE), ("", "+")):
                self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_ALLOCATION=f"{number}{later}", **variables)

    def test_an_allocation_that_fails_harms_no_thread_with_a_small_stack(self):
        program = ("lives", "stack")
        allocations = self.counts(program, RANGEFINDER_COUNTERS="exact")["allocations"]
        for number, later in itertools.product(range(FIRST, allocations + 40, STRIDE), ("", "+")):
            self.assert_harmless(program, LD_PRELOAD=str(Build.faults()), FAULT_ALLOCATION=f"{number}{later}",
                                 RANGEFINDER_COUNTERS="exact")

    def test_memory_that_ends_early_harms_no_program_that_lives_on(self):
        for mode, number in itertools.product(MODES, range(FIRST, 60, min(STRIDE, 5))):
            self.assert_harmless(("exits", "return", "40"), LD_PRELOAD=str(Build.faults()),
                                 FAULT_ALLOCATION=f"{number}+", RANGEFINDER_COUNTERS=mode)

    def test_a_launch_and_its_ranges_allocate_nothing(self):
        """Our allocations on the program's threads do not grow with their work. In exact mode a batch allocates
        once in many launches."""
        for mode, ranges in itertools.product(MODES, (False, True)):
            few, many = (self.counts(program=("launches", "2", launches), nvtx=ranges,
                                     RANGEFINDER_COUNTERS=mode)["in_program"] for launches in ("200", "4000"))
            self.assertGreater(few, 0)  # the count works
            # After a flush CUPTI may want a buffer while none is ready: it is mapped then, up to --buffers of them.
            self.assertLessEqual(many - few, 7600 // 100 if mode == "exact" else 3, f"{mode}, ranges {ranges}")

    def test_a_launch_and_its_ranges_touch_no_file_and_no_socket(self):
        """Our file operations on the program's threads do not grow with their work."""
        for mode, ranges in itertools.product(MODES, (False, True)):
            few, many = (self.counts(program=("launches", "2", launches), nvtx=ranges,
                                     RANGEFINDER_COUNTERS=mode)["io_in_program"] for launches in ("200", "4000"))
            self.assertGreater(few, 0)  # the count works: the program's start searches for CUPTI
            self.assertEqual(many, few, f"{mode}, ranges {ranges}")

    def test_without_any_memory_nothing_begins(self):
        run = self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_ALLOCATION="1+")

        self.assertEqual(run.found, [])

    def test_memory_that_ends_while_a_trace_begins_leaves_no_empty_one(self):
        def found(number):
            return self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_ALLOCATION=f"{number}+",
                                        RANGEFINDER_COUNTERS="exact").found

        none, some = 1, self.counts(RANGEFINDER_COUNTERS="exact")["allocations"]
        while some - none > 1:
            middle = (none + some) // 2
            none, some = (none, middle) if found(middle) else (middle, some)
        for number in range(some - 6, some + 12):
            found(number)

    def test_a_window_that_has_no_memory_for_its_tables_is_one_line(self):
        # The table of launches is larger than the emergency pool.
        run = self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_LARGE=str(8 << 20))

        self.assert_one_line(run, "out of memory", "without being recorded")
        self.assertEqual(run.found, [])

    def test_a_thread_that_cannot_be_made_harms_nobody(self):
        for mode, number in itertools.product(MODES, ("1", "2", "3", "1+")):
            self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_THREAD=number, RANGEFINDER_COUNTERS=mode)

    def test_files_that_cannot_be_made_harm_nobody(self):
        opens = self.counts()["opens"]
        for error in (OUT_OF_FILES, READ_ONLY, NO_PERMISSION, NO_SPACE):
            for number, later in itertools.product(range(1, opens + 2), ("", "+")):
                self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_OPEN=f"{number}{later}", FAULT_ERRNO=error)

    def test_a_disk_that_is_full_at_any_byte_leaves_a_valid_trace_or_none(self):
        whole = sum(file.stat().st_size for file in self.run_injected("plain", "5").trace().folder.iterdir())
        for room in range(FIRST, whole + 2000, 13 * STRIDE):
            run = self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_DISK_BYTES=str(room))
            if not run.found:
                self.assert_one_line(run, "No space left on device", "without being recorded")

    def test_a_full_disk_is_told_and_counted(self):
        run = self.run_injected("launches", "2", "2000", LD_PRELOAD=str(Build.faults()), FAULT_DISK_BYTES="300000")

        self.assertEqual((run.status, run.stdout), self.bare(("launches", "2", "2000")))
        self.assert_one_line(run, "No space left on device", "lost lines are counted")
        self.assertGreater(len(run.trace().of("launch")), 100)

    def test_a_limit_of_a_files_size_is_told_and_sends_no_signal(self):
        program = ("launches", "2", "4000")
        run = self.run_injected(*program, wrap=("prlimit", "--fsize=300000"))

        self.assertEqual((run.status, run.stdout), self.bare(program))
        self.assert_one_line(run, "File too large", "lost lines are counted")
        self.assert_valid(run.trace().folder)

    def test_a_clock_that_is_set_an_hour_ahead_leaves_a_valid_trace(self):
        for mode, look in itertools.product(MODES, range(1, 60, STRIDE)):
            self.assert_harmless(LD_PRELOAD=str(Build.faults()), FAULT_CLOCK_STEP=str(look), RANGEFINDER_COUNTERS=mode)

    def test_a_function_of_cupti_that_fails_harms_nobody(self):
        for mode in MODES:
            file = self.place / f"calls-{mode}"
            self.run_injected("plain", "5", RANGEFINDER_COUNTERS=mode, FAKE_CUPTI_CALLS=str(file))
            functions = [line.split()[0] for line in file.read_text().splitlines()]
            self.assertGreater(len(functions), 5)
            faults = list(itertools.product(functions, CUPTI_ERRORS, ("1", "2")))
            for function, error, first in faults[FIRST % min(STRIDE, 4)::min(STRIDE, 4)]:
                self.assert_harmless(FAKE_CUPTI_FAIL=f"{function}:{error}@{first}", RANGEFINDER_COUNTERS=mode,
                                     forgiven=UNENDED if function in ENDING else ())

    def test_a_function_of_the_driver_that_fails_for_us_harms_nobody(self):
        for mode, function in itertools.product(MODES, (
                "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid",
                "cuDeviceTotalMem", "cuDeviceGetAttribute", "cuStreamQuery", "cuCtxPushCurrent", "cuCtxPopCurrent")):
            self.assert_harmless(FAKE_CUDA_FAIL=function, RANGEFINDER_COUNTERS=mode)
