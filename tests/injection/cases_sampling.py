# SPDX-License-Identifier: Apache-2.0
"""Sampled mode from end to end. The fake's n-th hardware sample has unique values."""

from harness import InjectionCase

UNIT = 32
COLUMNS = ["dram_read", "dram_write", "l2", "pcie_read", "engine_active"]
# Without a wait a short program may end before sampling starts.
SAMPLED = {"RANGEFINDER_COUNTERS": "sampled"}
AUTO = {"RANGEFINDER_COUNTERS": "auto"}
# Longer than PmSampler::kStartDelay.
DELAY_MS, LATER_MS, LONG_MS = 100, "150", "800"


def sums(trace):
    """Samples, and units by column, in all lines, including idle ones."""
    samples, units = 0, {}
    for line in trace.of("samples"):
        samples += sum(run[2] for run in line["runs"]) + line.get("idle_samples", 0)
        for name in COLUMNS:
            column = line.get(name, [])
            values = column.values() if isinstance(column, dict) else column
            units[name] = units.get(name, 0) + sum(values) + line.get("idle", {}).get(name, 0)
    return samples, units


class SamplingCases(InjectionCase):
    def test_every_sample_but_the_first_is_in_the_trace(self):
        run = self.run_both("plain", "100", **SAMPLED)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(trace.headers[0]["counters"], "sampled")
        self.assertEqual([(line["interval"], line["reason"]) for line in trace.of("sampling")],
                         [(20000, "start"), (0, "stop")])
        self.assertEqual(trace.of("sampling")[0]["columns"], COLUMNS)
        samples, units = sums(trace)
        self.assertGreaterEqual(samples, 9)  # samples of the last decoding, without the first one
        self.assertEqual(samples, trace.end["own_cost"]["samples"])
        for name, base in (("dram_read", 2000), ("dram_write", 3000), ("l2", 4000)):
            told = sum(base + n for n in range(1, samples + 1))
            self.assertEqual(units[name], told // UNIT)
        self.assertEqual(units["pcie_read"], samples * 512 // UNIT)
        self.assertEqual(len(trace.of("kernel")), 100)
        self.assertNotIn("samples_lost", trace.end["loss"])

    def test_samples_follow_each_other_in_runs(self):
        trace = self.run_both("plain", "100", **SAMPLED).trace()

        runs = [run for line in trace.of("samples") for run in line["runs"]]
        self.assertEqual(sum(run[1] - run[0] for run in runs), 20000 * sum(run[2] for run in runs))
        for before, after in zip(runs, runs[1:]):
            self.assertLessEqual(before[1], after[0])

    def test_a_gpu_without_work_is_not_sampled(self):
        """Another process owns the GPU's counters: each rank of a program may have a context on the first GPU."""
        trace = self.run_both("counters", "beside", fake={"FAKE_CUDA_GPUS": "2"}, **SAMPLED).trace()

        self.assertEqual({line["gpu"] for line in trace.of("sampling")}, {1})
        self.assertEqual({line["gpu"] for line in trace.of("kernel")}, {1})

    def test_gpus_are_sampled_from_their_first_work(self):
        trace = self.run_both("counters", "gpus", "3", fake={"FAKE_CUDA_GPUS": "3"}, **SAMPLED).trace()

        begun = {line["gpu"]: line["at"] for line in trace.of("sampling") if line["reason"] == "start"}
        self.assertEqual(begun.keys(), {0, 1, 2})
        for line in trace.of("kernel"):
            self.assertLessEqual(begun[line["gpu"]], line["start"])

    def test_threads_that_launch_at_once_all_wait_for_sampling(self):
        trace = self.run_both("counters", "together", fake={"FAKE_CUPTI_PM_START_MS": "200"}, **SAMPLED).trace()

        begun = trace.of("sampling")[0]["at"]
        self.assertEqual(len(trace.of("kernel")), 20)
        for line in trace.of("kernel"):
            self.assertLessEqual(begun, line["start"])

    def test_a_longer_interval_brings_the_multiprocessors(self):
        trace = self.run_both("plain", "100", RANGEFINDER_SAMPLE_INTERVAL="100", **SAMPLED).trace()

        start = trace.of("sampling")[0]
        self.assertEqual(start["interval"], 100000)
        self.assertIn("sm_active", start["columns"])
        self.assertIn("sm_active", trace.of("samples")[0])

    def test_an_overflow_widens_the_interval_and_is_counted(self):
        run = self.run_both("plain", "100", FAKE_CUPTI_PM_OVERFLOW="1", **SAMPLED)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        told = [(line["interval"], line["reason"]) for line in trace.of("sampling")]
        self.assertIn(told, ([(20000, "start"), (40000, "overflow"), (0, "stop")],
                             [(20000, "start"), (0, "stop")]))  # the program ended first
        self.assertGreaterEqual(trace.end["loss"]["samples_lost"], 1)

    def test_samples_that_are_left_out_without_a_word_are_counted(self):
        run = self.run_both("plain", "100", FAKE_CUPTI_PM_HOLE="7", **SAMPLED)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(trace.end["loss"]["samples_lost"], 7)

    def test_what_an_image_does_not_hold_is_counted(self):
        run = self.run_both("plain", "100", FAKE_CUPTI_PM_LATE="5000", **SAMPLED)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(trace.end["loss"]["samples_lost"], 5000 - 4096)

    def test_nothing_of_a_gpu_is_lost_while_another_one_is_set_up(self):
        """CUPTI does not decode meanwhile: more samples wait than an image holds."""
        run = self.run_both("counters", "gpus", "3", fake={"FAKE_CUDA_GPUS": "3"}, FAKE_CUPTI_PM_CONFIG_MS="150",
                            **SAMPLED)

        self.assert_silent(run)
        trace = run.trace()
        self.assertNotIn("samples_lost", trace.end["loss"])
        # Of the GPU that was set up first, whichever it is.
        most = max(sum(line.get("idle_samples", 0) + sum(run[2] for run in line["runs"])
                       for line in trace.of("samples") if line["gpu"] == gpu) for gpu in range(3))
        self.assertGreater(most, 2 * 4096)

    def test_refused_counters_give_the_cure_and_everything_else(self):
        refusals = {
            "PmSamplingGetCounterAvailability:35": "NVreg_RestrictProfilingToAdminUsers=0",
            "PmSamplingEnable:26": "dcgmi profile --pause",
            "PmSamplingSetConfig:999": "cuptiPmSamplingSetConfig failed",
            "PmSamplingStart:26": "dcgmi profile --pause",
            "ProfilerInitialize:40": "cuptiProfilerInitialize failed",
            "ProfilerHostConfigAddMetrics:27": "choosing counters failed",
            "PmSamplingGetCounterDataSize:1": "cuptiPmSamplingGetCounterDataSize failed",
            "PmSamplingCounterDataImageInitialize:1": "cuptiPmSamplingCounterDataImageInitialize failed",
        }
        for failure, cure in refusals.items():
            with self.subTest(failure=failure):
                run = self.run_both("plain", "20", FAKE_CUPTI_FAIL=failure, **SAMPLED)

                self.assert_one_line(run, "no bytes: ", cure, "Everything else is recorded.")
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual(len(trace.of("kernel")), 20)
                self.assertEqual(trace.of("samples"), [])
                self.assertEqual(trace.headers[-1]["counters"], "refused")
                self.assertIn(cure, trace.headers[-1]["counters_reason"])

    def test_a_refusal_of_what_nobody_asked_for_is_silent(self):
        run = self.run_both("exits", "return", LONG_MS, FAKE_CUPTI_FAIL="PmSamplingEnable:26", **AUTO)

        self.assert_silent(run)
        trace = run.trace()
        self.assertEqual(trace.headers[-1]["counters"], "refused")
        self.assertIn("dcgmi", trace.headers[-1]["counters_reason"])

    def test_a_failure_in_the_middle_keeps_what_was_sampled(self):
        run = self.run_both("plain", "20", FAKE_CUPTI_FAIL="PmSamplingCounterDataGetSampleInfo:999@4", **SAMPLED)

        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(sums(trace)[0], 3)
        self.assertGreaterEqual(trace.end["loss"]["samples_lost"], 1)

    def test_auto_samples_without_a_wait(self):
        run = self.run_both("exits", "return", LONG_MS, fake={"FAKE_CUPTI_PM_START_MS": "100"}, **AUTO)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        start = trace.of("sampling")[0]
        self.assertEqual(start["reason"], "start")
        self.assertGreater(start["at"] - trace.of("kernel")[-1]["end"], DELAY_MS // 2 * 1_000_000)
        self.assertGreater(sums(trace)[0], 0)
        self.assertNotIn("samples_lost", trace.end["loss"])

    def test_a_program_that_ends_before_the_first_sample_says_so(self):
        for alive_ms, start_ms in (("0", "0"), (LATER_MS, "300")):
            with self.subTest(alive_ms=alive_ms):
                run = self.run_both("exits", "return", alive_ms, fake={"FAKE_CUPTI_PM_START_MS": start_ms}, **AUTO)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                reason = trace.headers[-1].get("counters_reason", "")
                if trace.of("samples"):  # it ended in the last step of the start, which cannot be left
                    self.assertEqual((alive_ms, reason), (LATER_MS, ""))
                else:
                    self.assertIn("before the first sample", reason)
                    self.assertIn("--counters sampled", reason)

    def test_a_longer_interval_is_a_labelled_gap(self):
        run = self.run_both("exits", "return", "1500", fake={"FAKE_CUPTI_PM_BEHIND": "20001"}, **SAMPLED)

        trace = run.trace()
        self.assert_balanced(trace)
        told = [(line["interval"] > 20000, line["interval"] == 0, line["reason"]) for line in trace.of("sampling")]
        self.assertEqual(told, [(False, False, "start"), (False, True, "behind"), (True, False, "behind"),
                                (False, True, "stop")])
        gap = trace.of("sampling")[1:3]
        before = [run for line in trace.of("samples") for run in line["runs"] if run[1] <= gap[0]["at"]]
        sampled = sum(run[2] for run in before)
        # Every second sample is missing, and none of the gap.
        self.assertAlmostEqual(trace.end["loss"]["samples_lost"] / sampled, 1, delta=0.1)

    def test_an_exit_at_any_time_leaves_the_counters_free(self):
        for variables in (SAMPLED, AUTO):
            for how in ("exit", "return"):
                with self.subTest(how=how, variables=variables):
                    run = self.run_both("exits", how, **variables)  # the fake reports counters that are still held

                    self.assert_silent(run)

    def test_a_forked_child_touches_no_counters(self):
        for how in ("exit", "_exit"):
            with self.subTest(how=how):
                run = self.run_both("forks", how, **SAMPLED)

                self.assert_silent(run)
                self.assert_balanced(run.trace())

    def test_both_modes_off_call_no_counter_function(self):
        run = self.run_both("plain", "20", RANGEFINDER_COUNTERS="off", FAKE_CUPTI_FAIL="ProfilerInitialize:999")

        self.assert_silent(run)
        self.assertEqual(run.trace().headers[-1]["counters"], "off")
