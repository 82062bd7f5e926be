# SPDX-License-Identifier: Apache-2.0
"""Contents of the trace of an ordinary run, and its ledger of losses."""

import re
from collections import Counter
from pathlib import Path

from harness import Build, InjectionCase

MANY = 40_000


class TraceCases(InjectionCase):
    def test_the_header_names_driver_and_runtime(self):
        named = Path("/proc/driver/nvidia/version")
        release = re.search(r"NVRM version:.* (\d+(\.\d+)+)\s", named.read_text())[1] if named.exists() else None
        for preload, runtime in ((None, None), (str(Build.fake("libcudart.so.13")), 13010)):
            with self.subTest(preload=preload):
                run = self.run_both("plain", "5", LD_PRELOAD=preload)

                self.assert_silent(run)
                self.assert_balanced(run.trace())
                for header in (run.trace().headers[0], run.trace().summary["process"]):
                    self.assertEqual((header["driver_version"], header.get("driver_release")), (13000, release))
                    self.assertEqual(header.get("runtime_version"), runtime)

    def test_kernels_carry_the_path_of_their_launch(self):
        for nvtx in (False, True):
            with self.subTest(nvtx=nvtx):
                run = self.run_both("launches", "4", "100", nvtx=nvtx)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                plain = [line for line in trace.of("kernel") if "graph" not in line]
                self.assertEqual(Counter(line["path_text"] for line in plain), {"worker/even": 200, "worker/odd": 200})
                # Grid x is the launch's number on its thread, plus 1: even launches have odd grids.
                for line in plain:
                    self.assertEqual(line["path_text"], "worker/even" if line["grid"][0] % 2 == 1 else "worker/odd")
                self.assertEqual({line["name_text"] for line in plain}, {"scale(float*, int)"})

    def test_a_thread_that_inherits_has_the_path_of_the_thread_that_waits_for_it(self):
        for options, paths in (({}, {"step/backward": 5, "step/backward/layer": 3}),
                               ({"RANGEFINDER_INHERIT": "off"}, {"": 5, "layer": 3})):
            with self.subTest(options=options):
                run = self.run_both("autograd", nvtx=True, **options)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                kernels = trace.of("kernel")
                self.assertEqual(Counter(line.get("path_text", "") for line in kernels), paths)
                inherited = {line["thread"] for line in trace.of("launch") if line.get("inherited")}
                self.assertEqual(len(inherited), 1 if options == {} else 0)
                rows = {row["path"]: row["kernels"] for row in trace.summary["modules"]}
                self.assertEqual({path: rows[path] for path in rows if "layer" in path},
                                 {path: 3 for path in paths if "layer" in path})

    def test_copies_graphs_and_memory_are_there_too(self):
        run = self.run_both("launches", "1", "3")

        trace = run.trace()
        self.assertEqual([(line["kind"], line["bytes"], line["path_text"]) for line in trace.of("memcpy")],
                         [("HtoD", 4096, "copies"), ("DtoH", 512, "copies")])
        self.assertEqual([(line["bytes"], line["path_text"]) for line in trace.of("memset")], [(1024, "copies")])
        self.assertEqual([line["bytes"] for line in trace.of("alloc")], [4096])
        nodes = [line for line in trace.of("kernel") if "graph" in line]
        # Nodes belong to the range of their capture, not to the range that launches the graph.
        self.assertEqual([(line["path_text"], line["captured"]) for line in nodes], [("capture", True)] * 6)
        self.assertEqual([line["grid"][0] for line in nodes], [1000, 1001, 1002] * 2)
        self.assertEqual([line["step"] for line in trace.of("capture")], ["begin", "end"])
        self.assertEqual(trace.end["launches"]["graph"], {"launched": 2, "recorded": 2, "exact": 0, "lost": 0})
        refused = [line for line in trace.of("launch") if "result" in line]
        self.assertEqual([line["result"] for line in refused], [1])

    def test_nvtx_that_is_used_wrongly_is_counted(self):
        run = self.run_both("nvtx_order", nvtx=True)

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual([line["path_text"] for line in trace.of("kernel")], ["before cuInit", "after", "left open"])
        self.assertEqual(trace.end["loss"],
                         {"nvtx_pop_without_push": 2, "nvtx_end_unknown": 1, "nvtx_unclosed": 1})
        self.assertEqual([line["path_text"] for line in trace.of("range") if line["end"] is None], ["left open"])

    def test_nvtx_used_before_cuinit_goes_by_unseen_without_its_variable(self):
        run = self.run_both("nvtx_order")

        self.assert_silent(run)
        self.assert_balanced(run.trace())
        self.assertEqual(len(run.trace().of("kernel")), 3)

    def test_a_process_without_cuda_leaves_no_folder(self):
        for arguments in ((), ("init",)):
            for nvtx in (False, True):
                with self.subTest(arguments=arguments, nvtx=nvtx):
                    run = self.run_both("no_cuda", *arguments, nvtx=nvtx)

                    self.assert_silent(run)
                    self.assertEqual(list(run.place.iterdir()), [])

    def test_records_that_never_come_are_counted_as_lost(self):
        run = self.run_both("plain", "100", FAKE_CUPTI_LOSE="5")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        kernels = len(trace.of("kernel"))
        self.assertLess(kernels, 100)
        self.assertEqual(trace.end["launches"]["kernel"]["lost"], 100 - kernels)
        self.assertEqual(trace.end["loss"]["launch_without_record"], 100 - kernels)

    def test_records_are_dropped_and_counted_when_all_buffers_are_in_flight(self):
        # No record is ever complete, so CUPTI never returns a buffer.
        run = self.run_both("plain", str(MANY), fake={"FAKE_CUDA_KERNEL_NS": "100000000000"},
                            RANGEFINDER_BUFFERS="4")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        loss = trace.end["loss"]
        self.assertGreater(loss["cupti_dropped_records"], 0)
        self.assertGreater(loss["activity_buffers_exhausted"], 0)
        self.assertEqual(trace.end["own_cost"]["activity_buffers_peak"], 4)
        self.assertEqual(len(trace.of("kernel")) + loss["cupti_dropped_records"], MANY)

    def test_buffers_come_back_zeroed_and_are_used_again(self):
        run = self.run_both("plain", "200000", RANGEFINDER_BUFFERS="4")

        self.assert_silent(run)
        trace = run.trace()
        self.assertEqual(trace.problems(), [])
        loss = trace.end["loss"]
        self.assertEqual(len(trace.of("kernel")) + loss.get("cupti_dropped_records", 0), 200_000)
        # One event per launch and per range (200,001).
        self.assertEqual(len(trace.of("launch", "range")) + loss.get("events_dropped", 0), 400_001)
