# SPDX-License-Identifier: Apache-2.0
"""A forked child records nothing, an exec'd child is traced separately, and getenv() keeps working."""

from harness import Build, InjectionCase
from trace import Trace


class ForkCases(InjectionCase):
    def test_a_forked_child_adds_nothing_and_ends_by_itself(self):
        for how in ("exit", "_exit", "nvtx"):
            for counters in ("off", "exact"):
                with self.subTest(how=how, counters=counters):
                    run = self.run_both("forks", how, nvtx=True, RANGEFINDER_COUNTERS=counters)

                    self.assert_silent(run)
                    trace = run.trace()
                    self.assert_balanced(trace)
                    self.assertEqual(len(trace.of("kernel" if counters == "off" else "exact")), 20)
                    self.assertNotIn("in the child", str(trace.lines))

    def test_children_forked_while_a_thread_launches_end_well(self):
        run = self.run_both("forks", "storm", nvtx=True)

        self.assert_silent(run)
        self.assertEqual(run.stdout, "20 of 20 children ended well\n")
        self.assert_balanced(run.trace())

    def test_handlers_of_fork_may_use_nvtx(self):
        run = self.run_both("forks", "handlers", nvtx=True)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 20)
        self.assertNotIn("in the child", str(trace.lines))

    def test_a_fork_may_wait_for_a_lock_of_the_program_that_a_thread_has_while_it_uses_nvtx(self):
        run = self.run_both("forks", "mutex", nvtx=True)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 20)
        self.assertGreater(trace.end["loss"]["names_folded"], 0)

    def test_a_signal_in_the_middle_of_nvtx_may_use_it_and_fork(self):
        run = self.run_both("forks", "signal", nvtx=True)

        self.assert_silent(run)
        self.assertEqual(run.stdout, "100 of 100 children ended well\n")
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 30)
        self.assertNotIn("in the child", str(trace.lines))

    def test_an_exec_of_a_cuda_program_gets_a_trace_of_its_own(self):
        run = self.run_both("forks", "exec", Build.program("plain"), "7")

        self.assert_silent(run)
        traces = sorted((Trace(folder) for folder in run.folders()), key=lambda trace: len(trace.of("kernel")))
        self.assertEqual([len(trace.of("kernel")) for trace in traces], [7, 20])
        self.assertEqual(traces[0].headers[0]["parent_pid"], traces[1].headers[0]["pid"])
        for trace in traces:
            self.assert_balanced(trace)

    def test_an_exec_of_a_program_without_cuda_leaves_one_trace(self):
        run = self.run_both("forks", "exec", Build.program("no_cuda"))

        self.assert_silent(run)
        self.assertEqual(len(run.trace().of("kernel")), 20)

    def test_a_child_that_starts_cuda_itself_is_recorded(self):
        run = self.run_both("forks", "first")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 10)

    def test_threads_may_read_the_environment_during_cuinit(self):
        for _ in range(5):
            run = self.run_both("getenv_storm")

            self.assert_silent(run)
            self.assertEqual(run.stdout, "wrong answers: 0, after cuInit: two\n")
            self.assertTrue(all(kernel["path_text"] == "work/step" for kernel in run.trace().of("kernel")))
