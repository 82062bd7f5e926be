# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: one record per launch, node records without times, nodes whose creation was not recorded."""

import json
import os
import subprocess
from collections import Counter

from harness import Build, InjectionCase


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

    def test_graphs_that_kernels_launch_are_lines_at_the_path_of_the_host_s_launch(self):
        run = self.run_both("graphs", "20", "0", RANGEFINDER_GRAPHS="whole", FAKE_CUPTI_DEVICE_GRAPHS="3")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assert_valid(trace.folder)
        self.assertEqual(trace.end["loss"], {})
        self.assertEqual(trace.end["launches"]["graph"], {"launched": 20, "recorded": 20, "exact": 0, "lost": 0})
        by_host = [line for line in trace.of("graph") if "launcher" not in line]
        by_device = [line for line in trace.of("graph") if "launcher" in line]
        self.assertEqual((len(by_host), len(by_device)), (20, 60))
        self.assertEqual({(line["path_text"], line["device_launch"]) for line in by_device}, {("replay", "tail")})
        self.assertEqual(Counter(line["corr"] for line in by_device), {line["corr"]: 3 for line in by_host})
        replay = next(module for module in trace.summary["modules"] if module["path"] == "replay")
        self.assertEqual(replay["graphs"], 80)

    def test_functions_that_streams_wait_for_are_recorded_where_cupti_has_them(self):
        run = self.run_both("graph_changes", "host", FAKE_CUPTI_VERSION="130100")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assert_valid(trace.folder)
        self.assertEqual(trace.end["loss"], {})
        found = [line.get("path_text", "") for line in trace.of("host_function")]
        self.assertEqual(Counter(found), {"": 3, "first": 5})  # of calls; of a node
        self.assertEqual(len(trace.of("kernel")), 3 + 2 * 5)
        self.assertTrue(all(line["end"] > line["start"] and line["thread"] for line in trace.of("host_function")))

    def test_an_older_cupti_has_no_records_of_functions_that_streams_wait_for(self):
        trace = self.changes("host")
        self.assertEqual((len(trace.of("host_function")), len(trace.of("kernel"))), (0, 13))

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

    def changes(self, how, *arguments, **settings):
        run = self.run_both("graph_changes", how, *arguments, **settings)
        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(trace.end["loss"], {})
        self.assert_valid(trace.folder)
        return trace

    def paths(self, trace):
        return dict(Counter(line["path_text"] for line in trace.of("kernel")))

    def test_each_launch_has_the_paths_of_the_update_before_it(self):
        trace = self.changes("recapture", "200")
        self.assertEqual(self.paths(trace), {"even": 400, "odd": 400})

    def test_children_have_their_paths_in_each_place_and_after_an_update(self):
        trace = self.changes("children")
        self.assertEqual(self.paths(trace), {"first": 8, "second": 8})
        self.assertEqual({line["node"] for line in trace.of("kernel")}, set(range(2, 10)))

    def test_a_node_with_another_function_has_the_name_of_what_ran(self):
        trace = self.changes("functions")
        names = Counter(line["name_text"] for line in trace.of("kernel"))
        self.assertEqual(names, {"kernel_a": 5, "kernel_b": 7})

    def test_a_failed_update_changes_nothing(self):
        trace = self.changes("failed")
        self.assertEqual(self.paths(trace), {"first": 4})

    def test_an_eager_launch_beside_a_capture_counts_once(self):
        trace = self.changes("eager")
        self.assertEqual(self.paths(trace), {"eager": 1, "replay": 5})
        self.assertEqual(trace.end["launches"]["kernel"], {"launched": 1, "recorded": 1, "exact": 0, "lost": 0})

    def test_threads_capture_and_replay_at_once(self):
        trace = self.changes("threads")
        self.assertEqual(self.paths(trace), {"one": 200, "two": 200})
        self.assertEqual(trace.end["launches"]["graph"], {"launched": 100, "recorded": 100, "exact": 0, "lost": 0})

    def test_the_call_that_broke_a_capture_is_in_the_trace_and_in_the_check(self):
        run = self.run_both("graph_changes", "broken")
        self.assertIn("900 901", run.stdout)
        trace = run.trace()
        self.assert_valid(trace.folder)
        (broke,) = [line for line in trace.of("capture") if line["step"] == "broken_by"]
        self.assertEqual((broke["path_text"], broke["api"], broke["result"]), ("logger", "cuCtxSynchronize", 900))
        self.assertNotEqual(broke["thread"], trace.of("kernel")[0]["thread"] if trace.of("kernel") else 0)
        if Build.rangefinder is None:
            return
        check = subprocess.run([str(Build.rangefinder), "report", "--section", "graphs", "--check", "--json",
                                str(trace.folder)], capture_output=True, text=True, check=False, timeout=60)
        (row,) = [row for row in json.loads(check.stdout)["traces"][0]["capture_check"] if row["verdict"] == "fail"]
        self.assertEqual((row["module"], row["api"]), ("logger", "cuCtxSynchronize"))
        self.assertIn("broke the capture in model", row["why"])
        self.assertEqual(check.returncode, 1)

    def test_memory_does_not_grow_with_updates(self):
        tokens = int(os.environ.get("RANGEFINDER_TEST_TOKENS", "10000"))
        run = self.run_injected("graph_changes", "recapture", str(tokens), "memory", RANGEFINDER_MAX_SIZE_MB="64",
                                RANGEFINDER_KEEP="last")
        self.assertEqual(run.status, 0, run.stderr)
        early, late = map(int, run.stdout.split("\n")[0].split())
        # What is in flight varies.
        self.assertLess(late - early, 1.5e6, f"heap of {early} bytes after 1,000 tokens, {late} after {tokens}")
