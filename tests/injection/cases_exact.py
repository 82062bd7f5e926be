# SPDX-License-Identifier: Apache-2.0
"""Exact mode with other than one range per launch: ranges that are shared, chosen, refused, or handed over."""

from cases_counters import values_of, values_of_range
from harness import InjectionCase

EXACT = {"RANGEFINDER_COUNTERS": "exact"}
AT_RANGE = EXACT | {"RANGEFINDER_EXACT_AT": "range", "FAKE_CUPTI_SHARED": "1"}
LATER = "earlier work had not ended, and a counter range would have waited for it"
MAY_WAIT = "this kernel may wait for work that is launched later"
TURN = "another context of this GPU had its turn"


def launches_of(trace):
    """Exact lines of launches, in the order of the calls."""
    return sorted((line for line in trace.of("exact") if line["kind"] != "range"), key=lambda line: line["corr"])


def ranges_of(trace):
    return sorted((line for line in trace.of("exact") if line["kind"] == "range"),
                  key=lambda line: line["counter_range"])


def measured_of(trace):
    return [line for line in launches_of(trace) if "unmeasured" not in line]


class ExactCase(InjectionCase):
    def run_exact(self, *arguments, both=True, **variables):
        """Trace of a run without messages, and how often it called each CUPTI function."""
        file = self.place / f"calls-{self.runs}"
        run = (self.run_both if both else self.run_injected)(
            "counters", *arguments, FAKE_CUPTI_CALLS=str(file), **{**EXACT, **variables})
        self.assert_silent(run)
        self.assertEqual(run.status, 0)
        trace = run.trace()
        self.assert_balanced(trace)
        return trace, {name: int(times) for name, times in map(str.split, file.read_text().splitlines())}


class ExactRangeCases(ExactCase):
    def test_launches_of_one_range_instance_share_a_counter_range(self):
        trace, calls = self.run_exact("ranges", **AT_RANGE)

        ranges = ranges_of(trace)
        self.assertEqual([(line["path_text"], line["launches"], line["kernels"]) for line in ranges],
                         [("outer/inner", 3, 3), ("outer", 1, 1), ("outer/inner", 3, 3), ("outer", 1, 1)])
        self.assertEqual([values_of(line) for line in ranges], [values_of_range(n) for n in range(1, 5)])
        self.assertEqual(calls["RangeProfilerPushRange"], 5)
        self.assertFalse(any("exclusive" in line for line in ranges))
        numbers = [line["counter_range"] for line in ranges]
        alone, *shared = launches_of(trace)
        self.assertEqual((alone["grid"], values_of(alone), "path" in alone), ([1, 1, 1], values_of_range(0), False))
        self.assertEqual([line["shared_range"] for line in shared],
                         [numbers[n] for n in (0, 0, 0, 1, 2, 2, 2, 3)])
        self.assertFalse(any("gpu_ns" in line or "unmeasured" in line for line in shared))
        self.assertEqual(len(trace.of("kernel")), 9)

    def test_another_threads_range_closes_the_open_one(self):
        trace, calls = self.run_exact("threads", **AT_RANGE)

        self.assertEqual([(line["path_text"], line["launches"]) for line in ranges_of(trace)],
                         [("first", 2), ("second", 2), ("first", 2), ("second", 2)])
        self.assertEqual(calls["RangeProfilerPushRange"], 4)
        self.assertEqual(len({line["thread"] for line in ranges_of(trace)}), 2)

    def test_a_range_over_two_streams_says_that_it_is_not_exclusive(self):
        trace, _ = self.run_exact("streams", **AT_RANGE)

        self.assertEqual([(line["launches"], line.get("exclusive")) for line in ranges_of(trace)], [(4, False)])

    def test_the_summary_has_the_bytes_of_ranges(self):
        trace, _ = self.run_exact("ranges", **AT_RANGE)

        modules = {module["path"]: module for module in trace.summary["modules"]}
        self.assertEqual((modules["outer/inner"]["dram_read_bytes"], modules["outer"]["dram_read_bytes"]),
                         (2001 + 2003, 2001 + 2002 + 2003 + 2004))


class ExactHoldCases(ExactCase):
    def test_a_batch_that_restarts_holds_the_thread_that_launches(self):
        run = self.run_both("plain", "40", RANGEFINDER_EXACT_BATCH="8", FAKE_CUPTI_START_MS="2", **EXACT)

        trace = run.trace()
        self.assert_balanced(trace)
        holds = trace.of("hold")
        batches = [line for line in holds if line["cause"] == "counter_batch"]
        self.assertEqual(len(batches), 4)  # the first start is none
        self.assertTrue(any(line["cause"] == "session_start" and line["end"] - line["start"] >= 2_000_000
                            for line in holds))
        launches = launches_of(trace)
        for hold in batches:
            self.assertGreaterEqual(hold["end"] - hold["start"], 2_000_000)
            inside = [line for line in launches if line["start"] <= hold["start"] and hold["end"] <= line["end"]]
            self.assertEqual([line["thread"] for line in inside], [hold["thread"]])
        held = sum(line["end"] - line["start"] for line in holds)
        self.assertEqual((trace.end["own_cost"]["held_ns"], trace.summary["own_cost"]["held_ns"]), (held, held))

    def test_a_thread_that_waits_for_anothers_launch_is_held_by_the_lock(self):
        trace, _ = self.run_exact("threads", RANGEFINDER_EXACT_BATCH="1", FAKE_CUPTI_START_MS="20")

        locked = [line for line in trace.of("hold") if line["cause"] == "launch_lock"]
        self.assertTrue(all(line["end"] - line["start"] >= 1_000_000 for line in locked))
        self.assertGreaterEqual(trace.end["own_cost"]["launch_lock_ns"],
                                sum(line["end"] - line["start"] for line in locked))


class ExactChoiceCases(ExactCase):
    def test_a_glob_opens_ranges_in_its_paths_only(self):
        for glob, wanted in (("a/b", {"a/b"}), ("a", {"a/b"}), ("**/b", {"a/b"}), ("?", {"a/b", "c"}), ("x", set())):
            with self.subTest(glob=glob):
                trace, calls = self.run_exact("kernels", RANGEFINDER_EXACT_RANGE=glob)

                measured = measured_of(trace)
                self.assertEqual({line["path_text"] for line in measured}, wanted)
                self.assertEqual(calls.get("RangeProfilerPushRange", 0), len(measured))
                self.assertEqual(len(measured), 2 * len(wanted))  # without the kernel that may wait
                self.assertEqual(len(trace.of("kernel")), 6)
                others = {line["corr"] for line in trace.of("kernel")} - {line["corr"] for line in trace.of("exact")}
                self.assertEqual({line["corr"] for line in trace.of("launch")}, others)

    def test_a_regular_expression_opens_ranges_for_its_kernels_only(self):
        trace, calls = self.run_exact("kernels", RANGEFINDER_EXACT_KERNEL="^red.*float")

        self.assertEqual([line["name_text"] for line in measured_of(trace)], ["reduce(float*)"] * 2)
        self.assertEqual(calls["RangeProfilerPushRange"], 2)
        self.assertEqual(len(trace.of("launch")), 2)

    def test_nothing_that_is_wanted_takes_no_counters(self):
        trace, calls = self.run_exact("kernels", RANGEFINDER_EXACT_KERNEL="no such kernel")

        self.assertEqual(measured_of(trace), [])
        self.assertNotIn("RangeProfilerEnable", calls)

    def test_kernels_that_may_wait_get_no_range_and_say_so(self):
        for variables, skipped in (({}, {"ncclDevKernel_fake(float*)"}),
                                   ({"RANGEFINDER_EXACT_SKIP": "^scale"},
                                    {"ncclDevKernel_fake(float*)", "scale(float*, int)"})):
            with self.subTest(variables=variables):
                trace, calls = self.run_exact("kernels", **variables)

                why = {(line["name_text"], line.get("unmeasured")) for line in launches_of(trace)}
                self.assertEqual({name for name, reason in why if reason == MAY_WAIT}, skipped)
                self.assertEqual({name for name, reason in why if reason is None},
                                 {"ncclDevKernel_fake(float*)", "scale(float*, int)", "reduce(float*)"} - skipped)
                self.assertEqual(calls["RangeProfilerPushRange"], 6 - 2 * len(skipped))
                self.assertEqual(trace.end["loss"]["exact_unmeasured"], 2 * len(skipped))


class ExactHazardCases(ExactCase):
    def test_a_kernel_that_waits_for_a_later_launch_is_found_out_named_and_let_go(self):
        run = self.run_injected("counters", "later", "_Z14wait_for_laterPi", **EXACT)

        self.assertEqual(run.status, 0)
        self.assert_one_line(run, "kernel wait_for_later(int*) did not end", "--exact-skip")
        trace = run.trace()
        self.assert_balanced(trace)
        launches = launches_of(trace)
        self.assertEqual([line.get("unmeasured") for line in launches],
                         ([MAY_WAIT, LATER] + [None] * 5) * 2)
        self.assertEqual({line["name_text"] for line in launches if line.get("unmeasured") == MAY_WAIT},
                         {"wait_for_later(int*)"})
        self.assertEqual(len(trace.of("kernel")), 14)

    def test_a_kernel_that_is_known_to_wait_holds_nothing_up(self):
        for kernel, variables in (("_Z19nccl_wait_for_laterPi", {}),
                                  ("_Z14wait_for_laterPi", {"RANGEFINDER_EXACT_SKIP": "wait_for"})):
            with self.subTest(kernel=kernel):
                trace, _ = self.run_exact("later", kernel, **variables)

                self.assertEqual([line.get("unmeasured") for line in launches_of(trace)],
                                 ([MAY_WAIT, LATER] + [None] * 5) * 2)

    def test_a_range_of_several_launches_is_thrown_away_where_one_waits(self):
        run = self.run_injected("counters", "later", "_Z14wait_for_laterPi", **AT_RANGE)

        self.assert_one_line(run, "kernel wait_for_later(int*) did not end")
        self.assert_balanced(run.trace())
        self.assertEqual([line.get("unmeasured") for line in ranges_of(run.trace())][0], MAY_WAIT)

    def test_a_stream_that_waits_for_a_value_holds_nothing_up(self):
        trace, _ = self.run_exact("value")

        reasons = [line.get("unmeasured") for line in launches_of(trace)]
        self.assertEqual(reasons, [None, LATER, LATER] + [None] * 5)

    def test_a_stream_may_be_destroyed_with_work_in_it(self):
        for took in ("2000", "1000000"):
            with self.subTest(took=took):
                trace, _ = self.run_exact("destroy", FAKE_CUDA_KERNEL_NS=took)

                self.assertEqual([values_of(line) for line in launches_of(trace)], [values_of_range(n) for n in range(8)])

    def test_a_capture_is_left_alone_however_long_it_takes(self):
        trace, _ = self.run_exact("capture")

        self.assertEqual([line.get("unmeasured") for line in launches_of(trace)], [None] * 11)
        self.assertEqual(len(trace.of("launch")), 1)  # the captured launch


class ExactGpuCases(ExactCase):
    def test_a_context_without_the_turn_says_so_and_gets_it_when_the_other_ends(self):
        trace, _ = self.run_exact("contexts")

        self.assertEqual([(line["path_text"], line.get("unmeasured")) for line in launches_of(trace)],
                         [("first", None)] * 5 + [("second", TURN)] * 5 + [("alone", None)] * 5)
        self.assertEqual(trace.end["loss"]["exact_unmeasured"], 5)

    def test_contexts_of_one_gpu_take_turns(self):
        trace, _ = self.run_exact("handover", both=False)

        second = [line.get("unmeasured") for line in launches_of(trace) if line["path_text"] == "second"]
        self.assertEqual((set(second[:-1]), second[-1]), ({TURN}, None))
        first = [line.get("unmeasured") for line in launches_of(trace) if line["path_text"] == "first"]
        self.assertEqual((first[0], first[-1]), (None, TURN))

    def test_every_gpu_has_counters_of_its_own(self):
        trace, calls = self.run_exact("gpus", "3", fake={"FAKE_CUDA_GPUS": "3"})

        launches = launches_of(trace)
        self.assertEqual([sum(line["gpu"] == gpu for line in launches) for gpu in range(3)], [20] * 3)
        self.assertEqual(sorted(values_of(line) for line in launches), [values_of_range(n) for n in range(60)])
        self.assertEqual(calls["RangeProfilerEnable"], 3)

    def test_counters_are_free_after_a_quiet_time_and_taken_again(self):
        run = self.run_injected("counters", "quiet", **EXACT)

        self.assert_silent(run)
        self.assertEqual(run.stdout, "counters held by 0\n")
        self.assertEqual([values_of(line) for line in launches_of(run.trace())], [values_of_range(n) for n in range(10)])

    def test_counters_are_free_at_the_end(self):
        _, calls = self.run_exact("ranges")

        self.assertEqual(calls["RangeProfilerDisable"], calls["RangeProfilerEnable"])


class MetricSetCases(ExactCase):
    METRICS = {"RANGEFINDER_METRICS": "bytes,lts__t_tag_requests_hit.sum,lts__average_t_sector.ratio",
               "FAKE_CUPTI_A_PASS": "5"}

    def test_sets_that_one_pass_cannot_hold_take_turns(self):
        run = self.run_both("plain", "40", RANGEFINDER_EXACT_BATCH="4", **EXACT, **self.METRICS)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        of_set = [line.get("set", 0) for line in launches_of(trace)]
        # Each set comes after two launches. Later it changes only when one was seen twice as often as the other: a
        # change takes as long as a start.
        self.assertEqual(of_set, [0] * 2 + [2] * 8 + [0] * 16 + [2] * 14)
        (named,) = trace.of("metric_set")
        self.assertEqual((named["id"], named["metrics"][2:]),
                         (2, ["lts__t_tag_requests_hit.sum", "lts__average_t_sector.ratio"]))
        for n, line in enumerate(launches_of(trace)):
            if line.get("set") == 2:
                self.assertEqual(line["values"], [4100 + n, 1e9, 5000 + n, None])  # a ratio of 0 / 0
                self.assertNotIn("dram_read_bytes", line)
            else:
                self.assertEqual(values_of(line), values_of_range(n))

    def test_a_metric_that_no_chip_has_is_an_error_that_names_the_nearest(self):
        run = self.run_both("plain", "5", RANGEFINDER_METRICS="lts__t_byte.sum", **EXACT)

        self.assert_one_line(run, "no bytes: ", "lts__t_byte.sum", "Everything else is recorded.")
        self.assertEqual(len(run.trace().of("kernel")), 5)


class ExactEndCases(ExactCase):
    def test_a_configuration_that_cannot_be_made_is_a_refusal(self):
        _, calls = self.run_exact("ranges")
        last = calls["ProfilerHostGetConfigImage"]  # the earlier calls tried what fits into a pass

        run = self.run_both("counters", "ranges", FAKE_CUPTI_FAIL=f"ProfilerHostGetConfigImage:999@{last}", **EXACT)

        self.assert_one_line(run, "no bytes: choosing counters failed", "Everything else is recorded.")
        self.assertEqual(len(run.trace().of("kernel")), 9)

    def test_an_end_while_the_counters_are_planned_ends_the_planning(self):
        # Planning takes longer than the first launch waits for it.
        run = self.run_both("plain", "5", FAKE_CUPTI_PLAN_US="400000", **EXACT, **MetricSetCases.METRICS)

        self.assertEqual(run.status, 0)
        self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_counters_that_failed_are_given_free(self):
        for failure in ("RangeProfilerPushRange:999@3", "RangeProfilerDecodeData:999", "RangeProfilerStart:999@2"):
            with self.subTest(failure=failure):
                file = self.place / f"calls-{self.runs}"
                run = self.run_both("counters", "ranges", FAKE_CUPTI_FAIL=failure, FAKE_CUPTI_CALLS=str(file),
                                    RANGEFINDER_EXACT_BATCH="4", **EXACT)

                self.assert_one_line(run, "no bytes: ")
                self.assertIn("RangeProfilerDisable 1", file.read_text().splitlines())
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual(len(launches_of(trace)) + len(trace.of("launch")), 9)

    def test_without_counters_no_counter_function_is_called(self):
        file = self.place / "calls"
        run = self.run_both("plain", "20", RANGEFINDER_COUNTERS="off", FAKE_CUPTI_CALLS=str(file))

        self.assert_silent(run)
        called = [line.split()[0] for line in file.read_text().splitlines()]
        self.assertIn("ActivityFlushAll", called)
        self.assertEqual([name for name in called if "Profiler" in name or "Pm" in name or "Chip" in name], [])

    def test_an_end_inside_a_launch_neither_hangs_nor_touches_its_counters(self):
        for how in ("exit", "_exit", "fork"):
            with self.subTest(how=how):
                run = self.run_both("exits", "inside-" + how, **EXACT)

                self.assert_silent(run)
                if how == "_exit" and not run.folders():
                    continue  # no code of ours runs at _exit: the folder may not exist yet
                self.assertEqual(run.trace().problems(), [])
