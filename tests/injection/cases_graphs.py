# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: one record per launch, node records without times, nodes whose creation was not recorded."""

from harness import InjectionCase


class GraphCases(InjectionCase):
    def test_a_graph_as_a_whole_is_one_line_a_launch_at_the_path_of_the_launch(self):
        run = self.run_both("graphs", "20", "0", RANGEFINDER_GRAPHS="whole")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual([line["path_text"] for line in trace.of("graph")], ["replay"] * 20)
        self.assertEqual(trace.of("kernel"), [])
        self.assertEqual(trace.end["launches"]["graph"], {"launched": 20, "recorded": 20, "exact": 0, "lost": 0})
        self.assertEqual(trace.end["records"]["graph"], 20)
        replay = next(module for module in trace.summary["modules"] if module["path"] == "replay")
        self.assertEqual((replay["graphs"], replay["kernels"]), (20, 0))
        self.assertEqual(replay["gpu_ns"], sum(line["end"] - line["start"] for line in trace.of("graph")))

    def test_nodes_without_times_are_counted_and_records_are_switched_off_and_on_again(self):
        run = self.run_both("graphs", "300", "1.5", fake={"FAKE_CUPTI_NODES": "100"}, RANGEFINDER_FLUSH_MS="50")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        loss = trace.end["loss"]
        self.assertEqual(loss["records_restarted"], 1)  # the next restart is not due yet
        kernels = trace.of("kernel")
        self.assertEqual(loss["gpu_work_untimed"], sum("start" not in line for line in kernels))
        self.assertGreater(sum("start" in line for line in kernels), 100)
        self.assertGreaterEqual(loss["gpu_work_untimed"], 256)

    def test_a_graph_of_which_all_is_known_has_no_loss(self):
        run = self.run_both("graphs", "5", "0")

        self.assert_silent(run)
        self.assert_balanced(run.trace())
        self.assertEqual(run.trace().end["loss"], {})
        self.assertEqual([line["path_text"] for line in run.trace().of("kernel")], ["capture"] * 15)

    def test_nodes_made_before_anybody_looked_are_counted_and_belong_to_the_launch(self):
        # The window opens with the range `replay`, after the capture of the graph.
        run = self.run_both("graphs", "5", "0", RANGEFINDER_START="off", RANGEFINDER_CAPTURE="nvtx:replay")

        trace = run.trace()
        self.assert_balanced(trace)
        kernels = trace.of("kernel")
        self.assertEqual(len(kernels), 15)
        self.assertEqual(trace.end["loss"].get("graph_nodes_unseen"), 15)
        self.assertEqual({line["path_text"] for line in kernels}, {"replay"})
