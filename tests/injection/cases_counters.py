# SPDX-License-Identifier: Apache-2.0
"""Exact mode from end to end. The fake's n-th counter range has unique values."""

from harness import InjectionCase


def values_of(line):
    return tuple(line[key] for key in ("gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"))


def values_of_range(n):
    return (1000 + n, 2000 + n, 3000 + n, 4000 + n)


class CounterCases(InjectionCase):
    def test_every_launch_has_the_values_of_its_own_range(self):
        for batch in ("512", "8", "1"):
            with self.subTest(batch=batch):
                run = self.run_both("plain", "100", RANGEFINDER_COUNTERS="exact", RANGEFINDER_EXACT_BATCH=batch)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                launches = sorted(trace.of("exact"), key=lambda line: line["corr"])
                self.assertEqual([values_of(line) for line in launches], [values_of_range(n) for n in range(100)])
                self.assertEqual([line["grid"] for line in launches], [[n + 1, 1, 1] for n in range(100)])
                self.assertEqual({line["path_text"] for line in launches}, {"work/step"})
                self.assertEqual({line["name_text"] for line in launches}, {"scale(float*, int)"})
                # A kernel's time is in its own line. CUPTI's kernels between the ranges are excluded.
                self.assertEqual([line["grid"] for line in sorted(trace.of("kernel"), key=lambda line: line["corr"])],
                                 [[n + 1, 1, 1] for n in range(100)])
                self.assertEqual({line["name_text"] for line in trace.of("kernel")}, {"scale(float*, int)"})
                self.assertEqual(trace.end["launches"]["kernel"],
                                 {"launched": 100, "recorded": 0, "exact": 100, "lost": 0})

    def test_the_summary_adds_them_up(self):
        run = self.run_both("plain", "10", RANGEFINDER_COUNTERS="exact")

        step = next(module for module in run.trace().summary["modules"] if module["path"] == "work/step")
        self.assertEqual((step["kernels"], step["time_source"], step["bytes_source"]), (10, "activity", "exact"))
        self.assertEqual((step["gpu_ns"], step["dram_read_bytes"], step["dram_write_bytes"], step["l2_bytes"]),
                         (10 * 2000, 20045, 30045, 40045))

    def test_threads_take_turns_and_no_range_holds_two_launches(self):
        run = self.run_both("launches", "4", "100", RANGEFINDER_COUNTERS="exact", RANGEFINDER_EXACT_BATCH="16")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        kernels = [line for line in trace.of("exact") if line["kind"] == "kernel" and "result" not in line]
        self.assertEqual(len(kernels), 400)
        self.assertEqual(len({values_of(line) for line in kernels}), 400)
        self.assertEqual({line["path_text"] for line in kernels}, {"worker/even", "worker/odd"})
        graphs = [line for line in trace.of("exact") if line["kind"] == "graph"]
        self.assertEqual([line["path_text"] for line in graphs], ["graph", "graph"])

    def test_refused_counters_give_the_cure_and_everything_else(self):
        refusals = {
            "ProfilerGetCounterAvailability:35": "NVreg_RestrictProfilingToAdminUsers=0",
            "RangeProfilerStart:26": "dcgmi profile --pause",
            "RangeProfilerSetConfig:26": "dcgmi profile --pause",
            "ProfilerInitialize:40": "cuptiProfilerInitialize failed",
            "RangeProfilerEnable:999": "cuptiRangeProfilerEnable failed",
            "ProfilerHostConfigAddMetrics:27": "CUPTI refuses gr__cycles_active.sum",
            "ProfilerHostInitialize:19": "CUPTI cannot describe the chip GH100",
            "DeviceGetChipName:36": "cuptiDeviceGetChipName failed",
            "RangeProfilerGetCounterDataSize:1": "cuptiRangeProfilerGetCounterDataSize failed",
            "RangeProfilerCounterDataImageInitialize:8": "there was not enough memory for the counters",
            "RangeProfilerStart:999": "cuptiRangeProfilerStart failed",
            "RangeProfilerPushRange:999": "cuptiRangeProfilerPushRange failed",
        }
        for failure, cure in refusals.items():
            with self.subTest(failure=failure):
                run = self.run_both("plain", "20", RANGEFINDER_COUNTERS="exact", FAKE_CUPTI_FAIL=failure)

                self.assert_one_line(run, "no bytes: ", cure, "Everything else is recorded.")
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual(len(trace.of("kernel")), 20)
                self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {"work/step"})
                self.assertEqual(trace.of("exact"), [])
                self.assertEqual(trace.headers[-1]["counters"], "refused")
                self.assertIn(cure, trace.headers[-1]["counters_reason"])

    def test_counters_that_need_several_passes_are_refused(self):
        run = self.run_both("plain", "20", RANGEFINDER_COUNTERS="exact", FAKE_CUPTI_PASSES="3")

        self.assert_one_line(run, "no bytes: GH100 cannot time a launch by its counters",
                             "sys__cycles_elapsed.avg.per_second take 3 passes")
        self.assertEqual(len(run.trace().of("kernel")), 20)

    def test_counters_that_fail_in_the_middle_leave_the_rest_to_tracing(self):
        # Every function of exact mode that may fail late, in the order in which a batch of eight calls them.
        for failure in ("RangeProfilerPushRange:999@9", "RangeProfilerPopRange:999@9", "RangeProfilerStop:999@2",
                        "RangeProfilerDecodeData:999@2", "RangeProfilerStart:999@2", "RangeProfilerStart:26@2",
                        "RangeProfilerCounterDataImageInitialize:8@2"):
            with self.subTest(failure=failure):
                run = self.run_both("plain", "40", RANGEFINDER_COUNTERS="exact", RANGEFINDER_EXACT_BATCH="8",
                                    FAKE_CUPTI_FAIL=failure, FAKE_CUPTI_SHARED="1")  # so that a range cannot be closed

                trace = run.trace()
                self.assert_balanced(trace)
                measured = [line for line in trace.of("exact") if "unmeasured" not in line]
                unmeasured = len(trace.of("exact")) - len(measured)
                self.assert_one_line(run, "no bytes: ")
                self.assertEqual(len(measured), 8)
                self.assertEqual(len(trace.of("exact")) + len(trace.of("launch")), 40)
                self.assertEqual(len(trace.of("kernel")), 40)
                self.assertLessEqual(unmeasured, 8)  # the lost batch
                self.assertEqual(trace.end["loss"].get("exact_unmeasured", 0), unmeasured)
                self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {"work/step"})

    def test_a_capture_before_a_launch_does_not_spoil_its_values(self):
        run = self.run_both("launches", "1", "3", RANGEFINDER_COUNTERS="exact")

        trace = run.trace()
        self.assert_balanced(trace)
        graphs = [line for line in trace.of("exact") if line["kind"] == "graph"]
        self.assertEqual([line.get("unmeasured") for line in graphs], [None, None])
        self.assertNotIn("exact_unmeasured", trace.end["loss"])
