# SPDX-License-Identifier: Apache-2.0
"""Python programs that load the library by rangefinder.enable(), and record parts of themselves by window() and
schedule()."""

import sys
from pathlib import Path

from harness import Build, InjectionCase
from trace import Trace

PROGRAM = Path(__file__).parent / "programs" / "windows.py"


class WindowCases(InjectionCase):
    def run_part(self, part, **variables):
        """The run of a part of windows.py, and what it printed."""
        variables = {"CUDA_INJECTION64_PATH": None} | variables  # enable() sets it
        run = self.run_injected(PROGRAM, part, wrap=[sys.executable, "-B"],
                                PYTHONPATH=str(Build.folder / "share/rangefinder/python"), **variables)
        self.assertEqual(run.status, 0, run.stderr)
        return run, run.stdout.splitlines()

    def traces_of(self, part):
        """The traces of a silent program, which are those that it prints."""
        run, paths = self.run_part(part)
        self.assert_silent(run)
        self.assertEqual([str(folder) for folder in run.folders()], sorted(paths))
        traces = [Trace(path) for path in paths]
        for trace in traces:
            self.assert_balanced(trace)
        return traces

    def blocks(self, trace):
        """Blocks of the launches of a trace, which identify them."""
        self.assertEqual(len(trace.of("launch", "exact")), len(trace.of("kernel")))
        return [line["grid"][0] for line in trace.of("kernel")]

    def test_a_window_holds_what_was_launched_in_its_block_and_nothing_else(self):
        trace, = self.traces_of("block")

        self.assertEqual(self.blocks(trace), [2, 3])
        self.assertEqual([line.get("path_text") for line in trace.of("kernel")], [None, "step"])

    def test_a_window_of_iterations_holds_just_these(self):
        trace, = self.traces_of("iterations")

        self.assertEqual(self.blocks(trace), [3, 4, 5])
        self.assertEqual([line["path_text"] for line in trace.of("range")], ["step"] * 3)

    def test_counters_are_those_of_the_window(self):
        exact, plain = self.traces_of("counters")

        self.assertEqual((self.blocks(exact), self.blocks(plain)), ([1, 2], [5, 6]))
        self.assertEqual(["dram_read_bytes" in line for line in exact.of("exact")], [True] * 2)
        self.assertEqual([trace.headers[0]["counters"] for trace in (exact, plain)], ["exact", "off"])

    def test_an_error_in_the_block_ends_the_window(self):
        trace, = self.traces_of("fails")

        self.assertEqual(self.blocks(trace), [1])

    def test_a_window_initialises_cuda_if_the_program_has_not(self):
        trace, = self.traces_of("initialises")

        self.assertEqual(self.blocks(trace), [1])

    def test_a_window_in_which_no_range_began_has_no_trace_and_the_next_has_one(self):
        run, paths = self.run_part("nothing")

        self.assertEqual(paths, ["None", str(run.trace().folder)])
        self.assertIn("RuntimeWarning: rangefinder.window: no range began in the block", run.stderr)
        self.assertEqual(self.blocks(run.trace()), [2, 3])

    def test_a_window_in_a_program_that_is_recorded_already_is_refused(self):
        run, lines = self.run_part("refused")

        self.assertEqual(lines, ["rangefinder start: a window is open already"])
        self.assertEqual(self.blocks(run.trace()), [1])

    def test_a_schedule_has_a_trace_of_the_active_iterations_of_each_cycle(self):
        self.assertEqual([self.blocks(trace) for trace in self.traces_of("schedule")], [[3, 4], [7, 8]])

    def test_a_schedule_ends_with_its_block(self):
        self.assertEqual([self.blocks(trace) for trace in self.traces_of("schedule_ends")], [[3, 4], [7]])

    def test_under_run_the_same_program_has_the_same_windows(self):
        run, paths = self.run_part("block", CUDA_INJECTION64_PATH=str(Build.injection_library),
                                   NVTX_INJECTION64_PATH=str(Build.injection_library), RANGEFINDER_START="off")

        self.assertEqual(paths, [str(run.trace().folder)])
        self.assertEqual(self.blocks(run.trace()), [2, 3])
