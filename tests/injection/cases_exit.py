# SPDX-License-Identifier: Apache-2.0
"""In every way that a program can end: it ends as without us, and the recorded data is on disk."""

from harness import InjectionCase, bounds_wall_time

ORDERLY = ("return", "exit", "exit-in-thread", "exit-in-range")
SUDDEN = ("_exit", "abort", "segv", "kill")
# More than the 1 s after which everything must be on disk.
ALIVE_MS = "1300"


class ExitCases(InjectionCase):
    def test_an_orderly_exit_ends_the_trace(self):
        for how in ORDERLY:
            for counters in ("off", "exact"):
                with self.subTest(how=how, counters=counters):
                    run = self.run_both("exits", how, RANGEFINDER_COUNTERS=counters)

                    self.assert_silent(run)
                    trace = run.trace()
                    self.assert_balanced(trace)
                    self.assertEqual(trace.end["reason"], "exit")
                    wanted = 51 if how == "exit-in-range" else 50
                    self.assertEqual(len(trace.of("kernel" if counters == "off" else "exact")), wanted)

    def test_work_in_an_exit_handler_after_the_traces_end_is_done_as_without_us(self):
        for counters in ("off", "exact", "sampled"):
            with self.subTest(counters=counters):
                run = self.run_both("exits", "late", nvtx=True, RANGEFINDER_COUNTERS=counters)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual(len(trace.of("exact" if counters == "exact" else "kernel")), 50)

    def test_a_sudden_end_leaves_whole_lines_of_all_but_the_last_second(self):
        for how in SUDDEN:
            for counters in ("off", "exact"):
                with self.subTest(how=how, counters=counters):
                    run = self.run_both("exits", how, ALIVE_MS, RANGEFINDER_COUNTERS=counters)

                    self.assert_silent(run)
                    trace = run.trace()
                    self.assert_balanced(trace, ended=False)
                    self.assertEqual(len(trace.of("range")), 51)
                    if counters == "off":
                        self.assertEqual(len(trace.of("launch")), 50)
                        self.assertEqual(len(trace.of("kernel")), 50)

    def short_life(self, counters):
        run = self.run_injected("exits", "short", RANGEFINDER_COUNTERS=counters)

        self.assertEqual(run.status, 5, run.stderr)
        trace = run.trace()
        self.assert_balanced(trace, ended=False)
        waits = [int(line) for line in run.stdout.split() if line.isdigit() and len(line) > 10]
        self.assertEqual(len(waits), 12)
        holds = [line for line in trace.of("hold") if line["cause"] == "early_flush"]
        # How many there are depends on when our own thread flushed last.
        self.assertGreaterEqual(len(holds), 1)
        for hold in holds:
            self.assertLess(hold["end"] - hold["start"], 40_000_000)
        return trace, sum(wait < waits[-1] - 50_000_000 for wait in waits)

    # One test for each: what fails in a subTest is not run once more (bounds_wall_time).
    @bounds_wall_time
    def test_a_short_life_loses_at_most_the_last_50_ms(self):
        trace, old = self.short_life("off")
        self.assertGreaterEqual(len(trace.of("kernel")), 50 + 5 * old)

    @bounds_wall_time
    def test_a_short_sampled_life_loses_at_most_the_last_50_ms(self):
        trace, old = self.short_life("sampled")
        self.assertGreaterEqual(len(trace.of("kernel")), 50 + 5 * old)

    @bounds_wall_time
    def test_a_short_life_with_exact_counters_is_flushed_early(self):
        self.short_life("exact")  # a batch of counters delays its launches

    def test_a_program_killed_at_once_leaves_nothing_broken(self):
        for how in SUDDEN:
            with self.subTest(how=how):
                run = self.run_both("exits", how)

                self.assert_silent(run)
                # Killed before the first flush, it may have an empty segment, but never half a line.
                if run.folders():
                    self.assertEqual(run.trace().problems(), [])
                    self.assertIsNone(run.trace().end)

    def test_exit_while_other_threads_launch_is_in_time(self):
        for counters in ("off", "exact"):
            with self.subTest(counters=counters):
                run = self.run_both("exits", "exit-while-launching", RANGEFINDER_COUNTERS=counters)

                self.assert_silent(run)
                trace = run.trace()
                self.assertIsNotNone(trace.end)
                self.assertEqual(trace.problems(), [])

    def test_exit_in_a_signal_in_the_middle_of_nvtx_ends_the_trace(self):
        for _ in range(10):
            run = self.run_both("exits", "exit-in-nvtx", nvtx=True)

            self.assert_silent(run)
            trace = run.trace()
            self.assert_balanced(trace)
            self.assertEqual(trace.end["reason"], "exit")

    def test_a_gpu_that_never_finishes_does_not_hold_up_the_exit(self):
        run = self.run_both("plain", "20", fake={"FAKE_CUDA_KERNEL_NS": "100000000000"})

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 20)
        self.assertEqual(trace.end["loss"]["gpu_work_untimed"], 20)
        self.assertFalse(any("start" in kernel for kernel in trace.of("kernel")))

    def test_a_destroyed_context_ends_its_counters_first(self):
        for mode in ("destroy", "twice"):
            for counters in ("off", "exact"):
                with self.subTest(mode=mode, counters=counters):
                    run = self.run_both("plain", "10", mode, RANGEFINDER_COUNTERS=counters)

                    self.assert_silent(run)
                    self.assert_balanced(run.trace())
