# SPDX-License-Identifier: Apache-2.0
"""`export --to perfetto` and `--to kineto`: the rules that readers of Chrome traces require.

    export_timeline_test.py RANGEFINDER REPOSITORY REPLAY
"""
import collections
import json
import re

import cli_case
import export_case
from export_case import GPU_WORK, RECORDINGS, Export, kernel_ns, lines_of, of_kind, path_texts, recorded


def strict(text):
    """Parses JSON; rejects NaN and Infinity, which Python accepts."""
    return json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(ValueError(word)))


def events_of(file):
    content = strict(file.read_text(encoding="utf-8"))
    return content if isinstance(content, list) else content["traceEvents"]


def ns(micros):
    return round(micros * 1000)


class Rules:
    """Rules for the events of both formats."""

    def check_members(self, events):
        for event in events:
            self.assertTrue(event["name"] or event["cat"] in ("user_annotation", "gpu_user_annotation", "kernel",
                                                              "nvtx_start_end", "cpu_instant_event"), event)
            for key in ("pid", "tid"):
                self.assertIsInstance(event[key], int)
                self.assertTrue(0 <= event[key] < 2 ** 32, event)
            if event["ph"] == "M":
                continue
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIsInstance(event["cat"], str)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)

    def check_nesting(self, events):
        rows = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                start = ns(event["ts"])
                rows[event["pid"], event["tid"]].append((start, start + ns(event["dur"]), event["name"]))
        for row, slices in rows.items():
            slices.sort(key=lambda one: (one[0], -one[1]))
            stack = []
            for start, end, name in slices:
                while stack and stack[-1] <= start:
                    stack.pop()
                self.assertTrue(not stack or end <= stack[-1], f"{name} at {start} leaves what is around it, row {row}")
                stack.append(end)

    def check_flows(self, events):
        """Every flow starts once, in the slice of a launch, passes slices of GPU work, and ends once, in the last."""
        slices = {(event["pid"], event["tid"], event["ts"]): event for event in events
                  if event["ph"] == "X" and "correlation" in event["args"]}
        begins, ends, last = collections.Counter(), collections.Counter(), {}
        for event in events:
            if event["ph"] not in ("s", "t", "f"):
                continue
            self.assertIsInstance(event["id"], int)
            self.assertEqual((event["cat"], event["name"]), ("ac2g", "ac2g"))
            at = slices[event["pid"], event["tid"], event["ts"]]
            self.assertEqual(at["args"]["correlation"], event["id"] % 2 ** 32)
            if event["ph"] == "s":
                self.assertEqual(at["cat"], "cuda_driver")
                begins[event["id"]] += 1
            else:
                self.assertEqual(event["bp"], "e")
                self.assertIn(at["cat"], ("kernel", "gpu_memcpy", "gpu_memset"))
                ends[event["id"]] += event["ph"] == "f"
                last[event["id"]] = max(last.get(event["id"], 0), event["ts"])
        self.assertEqual(begins, ends)
        self.assertEqual(set(begins.values()) - {1}, set())
        for event in events:
            if event["ph"] == "f":
                self.assertEqual(event["ts"], last[event["id"]], event)

    def check_pairs(self, events):
        """Slices with two events end in the order of the file, the innermost first, and times never go back."""
        rows, last = collections.defaultdict(list), {}
        for event in events:
            if event["ph"] not in "BE":
                continue
            row = event["pid"], event["tid"]
            self.assertLessEqual(last.get(row, 0), event["ts"])
            last[row] = event["ts"]
            if event["ph"] == "B":
                rows[row].append(event["name"])
            else:
                self.assertEqual(rows[row].pop(), event["name"])
        self.assertFalse(any(rows.values()))

    def check_all(self, events):
        self.check_members(events)
        self.check_nesting(events)
        self.check_pairs(events)
        self.check_flows(events)


class Timelines(Export, Rules):
    def test_every_recording_keeps_the_rules_in_either_format(self):
        for name in RECORDINGS:
            for to in ("perfetto", "kineto"):
                with self.subTest(recording=name, to=to):
                    self.check_all(events_of(self.export(recorded(name), to, out=f"{name}.{to}.json")))

    def test_all_gpu_work_and_all_calls_are_exported_with_their_durations(self):
        for name in RECORDINGS:
            with self.subTest(recording=name):
                lines = lines_of(recorded(name))
                events = events_of(self.export(recorded(name), "perfetto", out=f"{name}.json"))
                count = collections.Counter(event.get("cat") for event in events if event["ph"] == "X")
                for kind, category in zip(GPU_WORK, ("kernel", "gpu_memcpy", "gpu_memset")):
                    self.assertEqual(count[category], len(of_kind(lines, kind)))
                calls = of_kind(lines, "launch", "sync", "alloc", "free", "event_record", "stream_wait", "capture")
                exact = [line for line in of_kind(lines, "exact") if line["kind"] != "range"]
                self.assertEqual(count["cuda_driver"], len(calls) + len(exact))
                self.assertEqual(count["user_annotation"],
                                 sum(1 for line in of_kind(lines, "range") if "name" not in line))
                total = sum(ns(event["dur"]) for event in events if event.get("cat") == "kernel")
                self.assertEqual(total, kernel_ns(lines))

    def test_a_kernel_has_its_duration_and_names_its_module_its_range_and_its_launch(self):
        lines = lines_of(recorded("hf_rtdetr_trace"))
        paths = path_texts(lines)
        wanted = {line["corr"]: line for line in of_kind(lines, "kernel")}
        events = events_of(self.export(recorded("hf_rtdetr_trace"), "kineto", out="one.json"))
        kernels = [event for event in events if event.get("cat") == "kernel"]
        self.assertEqual(len(kernels), len(wanted))
        for event in kernels:
            line = wanted[event["args"]["correlation"]]
            self.assertEqual(ns(event["dur"]), line["end"] - line["start"])
            self.assertEqual(event["args"].get("module", ""), paths[line.get("path", 0)])
            self.assertEqual(event["args"].get("External id", 0), line.get("range", 0))
            self.assertEqual(event["args"]["stream"], line["stream"])

    def test_exact_bytes_are_on_their_kernels(self):
        lines = lines_of(recorded("rtdetr_exact"))
        wanted = {line["corr"]: line["dram_read_bytes"] for line in of_kind(lines, "exact")
                  if line["kind"] == "kernel" and "dram_read_bytes" in line}
        events = events_of(self.export(recorded("rtdetr_exact"), "perfetto"))
        found = {event["args"]["correlation"]: event["args"]["dram_read_bytes"] for event in events
                 if event.get("cat") == "kernel" and "dram_read_bytes" in event["args"]}
        self.assertGreater(len(wanted), 1000)
        self.assertEqual(found, wanted)

    def test_metrics_are_on_kernels_by_name(self):
        events = events_of(self.export(recorded("rtdetr_rotated"), "perfetto"))
        names = {key for event in events if event.get("cat") == "kernel" for key in event["args"] if "__" in key}
        self.assertEqual(names - {metric for line in of_kind(lines_of(recorded("rtdetr_rotated")), "metric_set")
                                  for metric in line["metrics"]}, set())
        self.assertTrue(names)

    def test_samples_become_counters_whose_integral_is_the_samples_bytes(self):
        lines = lines_of(recorded("rtdetr_sampled"))
        bytes_read = 32 * sum(sum(values.values() if isinstance(values, dict) else values)
                              for line in of_kind(lines, "samples") for values in [line.get("dram_read", [])])
        counters = [event for event in events_of(self.export(recorded("rtdetr_sampled"), "perfetto"))
                    if event["ph"] == "C" and event["name"] == "DRAM"]
        integral = sum(one["args"]["read (bytes/s)"] * (two["ts"] - one["ts"]) / 1e6
                       for one, two in zip(counters, counters[1:]))
        self.assertGreater(bytes_read, 1e9)
        self.assertLess(abs(integral - bytes_read) / bytes_read, 1e-3)

    def test_the_launch_of_a_graph_points_to_each_of_its_nodes(self):
        lines = lines_of(recorded("graph_replay"))
        nodes = collections.Counter(line["corr"] for line in of_kind(lines, *GPU_WORK) if "graph" in line)
        events = events_of(self.export(recorded("graph_replay"), "perfetto"))
        steps = collections.Counter(event["id"] for event in events if event["ph"] in "tf" and event["id"] in nodes)
        self.assertEqual(steps, nodes)

    def test_kernels_that_overlap_on_a_stream_get_a_second_lane(self):
        events = events_of(self.export(recorded("rtdetr_sampled"), "perfetto"))
        rows = {event["tid"] for event in events if event.get("cat") == "kernel"}
        names = [event["args"]["name"] for event in events
                 if event["name"] == "thread_name" and event["tid"] in rows and event["pid"] >= 10_000_000]
        self.assertEqual(names[:2], ["stream 13", "stream 13 (2)"])

    def test_start_end_ranges_and_marks_are_exported(self):
        lines = lines_of(recorded("nvtx_shapes"))
        events = events_of(self.export(recorded("nvtx_shapes"), "perfetto"))
        begun = sorted(event["id"] for event in events if event["ph"] == "b")
        self.assertEqual(begun, sorted(event["id"] for event in events if event["ph"] == "e"))
        self.assertEqual(begun, sorted(line["id"] for line in of_kind(lines, "range") if "name" in line))
        marks = [event for event in events if event["ph"] == "i"]
        self.assertEqual(len(marks), len(of_kind(lines, "mark")))
        self.assertEqual({event["s"] for event in marks}, {"t"})
        unclosed = [event for event in events if event.get("args", {}).get("unclosed")]
        self.assertEqual(len(unclosed), sum(1 for line in of_kind(lines, "range") if line["end"] is None))

    def test_hostile_names_come_through_both_formats(self):
        trace = self.hostile_trace()
        for to in ("perfetto", "kineto"):
            events = events_of(self.export(trace, to, out=f"{to}.json"))
            self.check_all(events)
            self.assertEqual([event["name"] for event in events if event.get("cat") == "kernel"], export_case.HOSTILE)


class Perfetto(Export, Rules):
    def test_a_hold_is_a_slice_of_its_thread_with_its_cause(self):
        events = events_of(self.export(cli_case.REPOSITORY / "schema" / "examples", "perfetto"))
        holds = [event for event in events if event["name"] == "held by the profiler"]
        self.assertEqual([(event["tid"], ns(event["dur"]), event["args"]["cause"]) for event in holds],
                         [(4712, 36000, "counter_batch")])

    def test_conditions_are_counters_of_their_gpu_and_of_the_program(self):
        events = events_of(self.export(recorded("gemm_power"), "perfetto"))
        counters = [event for event in events if event.get("cat") == "conditions"]
        clocks = [event["args"]["value"] for event in counters if event["name"] == "SM clock, MHz"]
        lines = [line for line in of_kind(lines_of(recorded("gemm_power")), "condition") if "sm_mhz" in line]
        self.assertEqual(clocks, [line["sm_mhz"] for line in lines])
        capped = [event for event in counters if event["name"] == "clocks lowered for power, ms, a second"]
        # NVML's counter moves in steps of its own, so a single rate may be twice the time that passed.
        self.assertTrue(capped and all(0 <= event["args"]["value"] <= 2100 for event in capped))
        self.assertEqual(len({event["pid"] for event in counters}), 2)
        self.assertFalse([event for event in counters if "lowered by" in event["name"]], "reasons are bits")

    def test_host_stacks_are_nested_slices_on_a_row_of_their_thread(self):
        for to in ("perfetto", "kineto"):
            events = events_of(self.export(cli_case.REPOSITORY / "schema" / "examples", to, out=f"{to}.json"))
            self.check_members(events)
            self.check_nesting(events)
            self.check_pairs(events)
            stacks = [event for event in events if event.get("cat") == "host_stack"]
            (row,) = {(event["pid"], event["tid"]) for event in stacks}
            names = [event["args"]["name"] for event in events
                     if event["name"] == "thread_name" and (event["pid"], event["tid"]) == row]
            self.assertEqual(names, ["main stacks"])
            first = stacks[0]["ts"]
            self.assertEqual([(event["ph"], event["name"], ns(event["ts"] - first)) for event in stacks],
                             [("B", "train", 0), ("B", "Loader.decode_image", 0), ("E", "Loader.decode_image", 20000),
                              ("E", "train", 30000)])
            self.assertEqual([event["args"]["source"] for event in stacks if event["ph"] == "B"],
                             ["/opt/app/train.py:30", "/opt/app/data.py:41"])

    def test_it_is_an_array_that_starts_as_perfetto_expects(self):
        self.assertTrue(self.export(recorded("copy_storm"), "perfetto").read_text().startswith('[{"'))

    def test_two_ranks_share_a_file_without_sharing_a_process_or_a_flow(self):
        rank = {"base_unix_ns": "1700000000000001000", "rank": "1", "host": "node8"}
        one, two = self.hostile_trace("one", rank="0"), self.hostile_trace("two", **rank)
        events = events_of(self.exported_together("perfetto", "both.json", one, two))
        self.check_all(events)
        kernels = [event for event in events if event.get("cat") == "kernel"]
        self.assertEqual(len({event["pid"] for event in kernels}), 2)
        self.assertEqual(len({event["pid"] for event in events if event.get("cat") == "cuda_driver"}), 2)
        self.assertEqual(ns(kernels[len(kernels) // 2]["ts"]) - ns(kernels[0]["ts"]), 1000)
        ids = [event["id"] for event in events if event["ph"] == "s"]
        self.assertEqual(len(ids), len(set(ids)))


class Kineto(Export, Rules):
    def content(self, trace, *more):
        return strict(self.export(trace, "kineto", *more, out="one.json").read_text(encoding="utf-8"))

    def test_members_come_in_the_order_of_libkineto(self):
        content = self.content(recorded("hf_rtdetr_trace"))
        keys = list(content)
        self.assertEqual(keys[:2], ["schemaVersion", "deviceProperties"])
        self.assertEqual(keys[-4:], ["displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"])
        self.assertEqual(content["deviceProperties"][0]["numSms"], 132)

    def test_the_base_and_the_times_give_the_moment_of_the_trace(self):
        lines = lines_of(recorded("hf_rtdetr_trace"))
        content = self.content(recorded("hf_rtdetr_trace"))
        first = next(event for event in content["traceEvents"] if event.get("cat") == "kernel")
        self.assertEqual(content["baseTimeNanoseconds"] + ns(first["ts"]),
                         int(lines[0]["base_unix_ns"]) + of_kind(lines, "kernel")[0]["start"])

    def test_the_rank_is_found_by_the_pattern_of_holistic_trace_analysis(self):
        text = self.export(self.hostile_trace(rank="3"), "kineto", out="one.json").read_text(encoding="utf-8")
        self.assertEqual(re.search(r'"rank":\s+(\d+)', text).group(1), "3")

    def test_gpu_events_have_a_stream_and_host_events_have_none(self):
        for name in RECORDINGS:
            content = self.content(recorded(name), "--force")
            for event in content["traceEvents"]:
                if event["ph"] == "X":
                    on_gpu = event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
                    self.assertEqual("stream" in event["args"], on_gpu, event)
                    self.assertEqual(event["pid"] < 64, on_gpu, event)

    def test_copies_are_named_as_libkineto_names_them(self):
        content = self.content(recorded("copy_storm"))
        names = {event["name"] for event in content["traceEvents"] if event.get("cat") == "gpu_memcpy"}
        self.assertIn("Memcpy HtoD (Pinned -> Device)", names)
        for name in names:
            self.assertRegex(name, r"^Memcpy \w{4} \([A-Z][\w ]+ -> [A-Z][\w ]+\)$")

    def test_correlation_ids_of_launches_are_unique(self):
        content = self.content(recorded("rtdetr_exact"))
        ids = [event["args"]["correlation"] for event in content["traceEvents"]
               if event.get("cat") == "cuda_driver" and "correlation" in event["args"]]
        self.assertEqual(len(ids), len(set(ids)))

    def test_annotations_of_the_gpu_enclose_the_kernels_of_their_range(self):
        content = self.content(recorded("hf_rtdetr_trace"))
        spans = collections.defaultdict(list)
        for event in content["traceEvents"]:
            if event.get("cat") == "gpu_user_annotation":
                spans[event["args"]["External id"]].append((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
        for event in content["traceEvents"]:
            if event.get("cat") in ("kernel", "gpu_memcpy") and "External id" in event["args"]:
                start, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
                self.assertTrue(any(a <= start and end <= b for a, b in spans[event["args"]["External id"]]), event)

    def test_a_chosen_range_becomes_the_profilers_step(self):
        content = self.content(recorded("rtdetr_exact"), "--step-range", "iteration")
        steps = [event["name"] for event in content["traceEvents"] if event["name"].startswith("ProfilerStep#")]
        self.assertEqual(steps, [f"ProfilerStep#{i}" for i in range(len(steps))])
        lines = lines_of(recorded("rtdetr_exact"))
        paths = path_texts(lines)
        self.assertEqual(len(steps), sum(1 for line in of_kind(lines, "range") if paths[line["path"]] == "iteration"))

    def test_a_small_process_id_does_not_collide_with_a_gpu(self):
        content = self.content(self.hostile_trace(pid=1))
        kernels = {event["pid"] for event in content["traceEvents"] if event.get("cat") == "kernel"}
        calls = {event["pid"] for event in content["traceEvents"] if event.get("cat") == "cuda_driver"}
        self.assertEqual(kernels & calls, set())

    def test_each_rank_gets_a_file_with_pytorchs_naming(self):
        out = self.exported_together("kineto", "ranks", *self.two_traces())
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         [f"node7_{pid}.1700000000000000000.pt.trace.json" for pid in (4711, 4712)])


if __name__ == "__main__":
    export_case.main(__doc__)
