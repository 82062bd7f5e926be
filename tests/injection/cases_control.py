# SPDX-License-Identifier: Apache-2.0
"""Windows of a running program, opened and closed through its control socket."""

import time

from pathlib import Path

from harness import bounds_wall_time
from obedient import ObedientCase
from trace import Trace


class ControlCases(ObedientCase):
    def test_a_program_that_starts_idle_touches_cupti_only_when_a_window_opens(self):
        program = self.start_program(RANGEFINDER_START="off", FAKE_CUPTI_CALLS=str(self.place / "calls"))
        client = self.connect(program)
        program.do("launch 5")

        status = self.ok(client.ask("status"))
        maps = Path(f"/proc/{program.process.pid}/maps").read_text()

        self.assertEqual((status["state"], status["holds_cupti"]), ("idle", False))
        self.assertNotIn("libcupti", maps)
        self.assertEqual(list(program.place.iterdir()), [])
        self.end_program(program)

    def test_a_window_holds_what_was_launched_in_it_and_nothing_else(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        program.do("push model")
        program.do("launch 5")

        started = self.ok(client.ask("start", out=str(self.place / "one")))
        program.do("launch 7")
        stopped = client.ask("stop")
        program.do("launch 9")

        trace = self.window_trace(stopped)
        self.assertEqual(started["window"]["folder"], str(self.place / "one"))
        self.assertEqual(len(trace.of("launch")), 7)
        # The range opened before the window is the outermost level of its paths.
        self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {"/".join(["model", "work", "step"])})
        self.assertEqual(trace.end["reason"], "stop")
        self.assertEqual(trace.end["loss"], {"nvtx_unclosed": 1})
        # The last call of a thread stays on until it rests.
        self.wait_until(lambda: not self.ok(client.ask("status"))["holds_cupti"], "CUPTI is let go")
        self.end_program(program)

    def test_a_clock_that_another_tool_left_in_cupti_is_not_taken(self):
        hour = 3600 * 10**9
        program = self.start_program(RANGEFINDER_START="off", FAKE_CUPTI_CLOCK_SHIFT=str(hour))
        client = self.connect(program)
        self.ok(client.ask("start"))
        program.do("launch 5")
        trace = self.window_trace(client.ask("stop"))

        self.assertEqual(len(trace.of("kernel")), 5)
        for line in trace.of("kernel"):
            self.assertTrue(0 <= line["start"] <= line["end"] <= trace.end["at"], line)
        self.end_program(program)

    def test_windows_follow_each_other_in_folders_of_their_own(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        folders = []
        for launches in (3, 4, 5):
            self.ok(client.ask("start"))
            program.do(f"launch {launches}")
            stopped = client.ask("stop")
            trace = self.window_trace(stopped)
            folders.append(stopped["window"]["folder"])

            self.assertEqual(len(trace.of("kernel")), launches)
            self.assertEqual(trace.end["own_cost"]["launch_callbacks"], launches)
        first = f"{program.place}/rangefinder-{program.process.pid}"
        self.assertEqual(folders, [first, first + ".2", first + ".3"])
        self.end_program(program)

    def test_a_program_that_records_from_its_start_can_be_stopped_and_started_again(self):
        program = self.start_program()
        client = self.connect(program)
        program.do("launch 4")
        first = self.window_trace(client.ask("stop"))
        program.do("launch 100")
        self.ok(client.ask("start"))
        program.do("launch 6")

        self.end_program(program)  # the exit ends the second window

        self.assertEqual(len(first.of("kernel")), 4)
        second = Trace(f"{program.place}/rangefinder-{program.process.pid}.2")
        self.assert_balanced(second)
        self.assertEqual((len(second.of("kernel")), second.end["reason"]), (6, "exit"))

    def test_every_window_has_the_source_lines_of_modules_that_were_called_before_it(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        for line in ("push train", "module attn", "pop", "pop"):
            program.do(line)
        for outer in ("train", "val"):
            self.ok(client.ask("start"))
            for line in ("push " + outer, "push attn", "launch 1", "pop", "pop"):
                program.do(line)
            trace = self.window_trace(client.ask("stop"))

            self.assertEqual([{"t": "module_source", "path_text": outer + "/attn", "class_file": "/app/model.py",
                               "class_line": 214, "call_file": "/app/train.py", "call_line": 30}],
                             [{key: value for key, value in line.items() if key != "path"}
                              for line in trace.of("module_source")])
            self.assertEqual(trace.of("mark"), [])
        self.end_program(program)

    def test_a_window_that_ends_while_a_thread_waits_leaves_every_later_launch_its_own_id(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        program.do("storm waits")
        for cycle in range(10):
            self.ok(client.ask("start", out=str(self.place / f"cycle-{cycle}")))
            stopped = self.ok(client.ask("stop"))
            trace = Trace(stopped["window"]["folder"])
            ids = [line["corr"] for line in trace.of("launch")]
            self.assertEqual(len(ids), len(set(ids)), f"cycle {cycle}")
            self.assertNotIn("launch_slots_overwritten", trace.end["loss"])
        program.do("storm off")
        program.do("sync")
        self.wait_until(lambda: not self.ok(client.ask("status"))["holds_cupti"], "the subscriber's end")
        self.end_program(program)

    def assert_in_time(self, happened_ns, planned_ns):
        """Never early. Late by the time that the thread waits for a CPU; on an idle machine by 1 ms."""
        self.assertGreaterEqual(happened_ns, planned_ns - 1_000_000)
        self.assertLess(happened_ns - planned_ns, 500_000_000)

    @bounds_wall_time
    def test_a_window_of_seconds_ends_by_itself(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        program.do("storm on")

        answer = client.ask("window", seconds=0.2)

        trace = self.window_trace(answer)
        window = answer["window"]
        self.assert_in_time(int(window["end_unix_ns"]), int(window["begin_unix_ns"]) + 200_000_000)
        self.assertEqual(trace.end["reason"], "window")
        program.do("storm off")
        self.end_program(program)

    @bounds_wall_time
    def test_a_window_that_begins_at_a_time_begins_then(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        at = time.time_ns() + 300_000_000

        answer = self.ok(client.ask("window", seconds=0.05, at_unix_ns=str(at)))

        self.assert_in_time(int(answer["window"]["begin_unix_ns"]), at)
        self.end_program(program)

    @bounds_wall_time
    def test_a_window_of_launches_ends_soon_after_them(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        program.do("storm on")

        trace = self.window_trace(client.ask("window", launches=200))

        self.assertGreaterEqual(len(trace.of("launch")), 200)
        self.assertLess(len(trace.of("launch")), 4000)
        program.do("storm off")
        self.end_program(program)

    def test_a_window_of_ranges_holds_just_these(self):
        program = self.start_program(RANGEFINDER_START="off")
        client, watcher = self.connect(program), self.connect(program)
        number = client.send("window", range="step", occurrences=20, after=5)
        self.wait_until(lambda: self.ok(watcher.ask("status"))["planned"], "the plan")

        program.do("launch 50")
        answer = client.receive()

        self.assertEqual(answer["id"], number)
        trace = self.window_trace(answer)
        self.assertEqual(len(trace.of("launch")), 20)
        self.assertEqual(sorted(line["grid"][0] for line in trace.of("kernel")), list(range(6, 26)))
        steps = [line for line in trace.of("range") if line["path_text"] == "work/step"]
        self.assertEqual(len([line for line in steps if line["end"] is not None]), 20)
        self.end_program(program)

    def test_counters_can_be_chosen_for_a_window(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        for _ in range(2):
            self.ok(client.ask("start", counters="exact"))
            program.do("launch 6")
            trace = self.window_trace(client.ask("stop"))
            self.assertEqual(trace.headers[0]["counters"], "exact")
            self.assertEqual([("dram_read_bytes" in line) for line in trace.of("exact")], [True] * 6)
        self.ok(client.ask("start", counters="sampled"))
        program.do("launch 6")
        sampled = self.window_trace(client.ask("stop"))
        self.assertEqual(sampled.headers[0]["counters"], "sampled")
        self.assertEqual([line["reason"] for line in sampled.of("sampling")], ["start", "stop"])
        self.ok(client.ask("start"))
        program.do("launch 6")
        plain = self.window_trace(client.ask("stop"))
        self.assertEqual((plain.of("exact"), plain.of("sampling"), len(plain.of("launch"))), ([], [], 6))
        self.end_program(program)

    def test_a_trace_and_then_exact_bytes_are_windows_one_after_the_other(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        client.send("window", range="step", occurrences=4, counters=["off", "exact"])
        watcher = self.connect(program)
        launch = lambda: program.do("launch 8")  # noqa: E731
        self.wait_until(lambda: launch() and self.ok(watcher.ask("status")).get("window", {}).get("number") == 2,
                        "the second window")
        launch()

        exact = self.window_trace(client.receive())

        first = Trace(exact.folder.with_name(exact.folder.name[:-2]))
        self.assert_balanced(first)
        self.assertEqual((len(first.of("launch")), len(first.of("exact"))), (4, 0))
        self.assertEqual(len([line for line in exact.of("exact") if "dram_read_bytes" in line]), 4)
        self.end_program(program)

    def test_graph_nodes_made_before_a_window_have_their_path_where_it_was_learnt(self):
        for start, path in (("ready", "capture"), ("off", "replay")):
            with self.subTest(start=start):
                program = self.start_program(RANGEFINDER_START=start)
                client = self.connect(program)
                program.do("graph")

                self.ok(client.ask("start"))
                program.do("replay 2")
                trace = self.window_trace(client.ask("stop"))

                self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {path})
                self.assertEqual(len(trace.of("kernel")), 6)
                self.end_program(program)

    def test_snapshot_flush_and_subscriptions_tell_what_there_is(self):
        program = self.start_program()
        client = self.connect(program)
        program.do("launch 8")
        program.do("sync")

        summary = self.ok(client.ask("snapshot"))["summary"]
        flushed = self.ok(client.ask("flush"))["window"]
        watcher = self.connect(program)
        self.ok(watcher.ask("subscribe", every_ms=100))
        first = watcher.receive()
        program.do("launch 3")
        program.do("sync")
        changed = first
        while not any(module.get("kernels") == 3 for module in changed["modules"]):
            changed = watcher.receive()

        kernels = {module["path"]: module["kernels"] for module in summary["modules"]}
        self.assertEqual(kernels, {"work": 8, "work/step": 8})
        self.assertGreater(flushed["records"], 8)
        self.assertEqual((first["event"], {m["path"]: m["kernels"] for m in first["modules"]}), ("delta", kernels))
        self.end_program(program)

    def test_cupti_is_given_up_and_taken_back(self):
        program = self.start_program()
        client = self.connect(program)

        refused = client.ask("yield")
        self.window_trace(client.ask("stop"))
        given = self.ok(client.ask("yield"))
        start = client.ask("start")
        taken = self.ok(client.ask("resume"))
        self.ok(client.ask("start"))
        program.do("launch 2")
        trace = self.window_trace(client.ask("stop"))

        self.assertEqual((refused["ok"], start["ok"]), (False, False))
        self.assertEqual((given["holds_cupti"], given["yielded"]), (False, True))
        self.assertEqual((taken["holds_cupti"], taken["yielded"]), (True, False))
        self.assertEqual(len(trace.of("kernel")), 2)
        self.end_program(program)

    def test_a_start_that_cannot_be_done_says_why(self):
        program = self.start_program(RANGEFINDER_START="off", FAKE_CUPTI_OWNER="Other Tool")
        client = self.connect(program)
        (self.place / "file").write_text("")

        owned = client.ask("start")
        status = self.ok(client.ask("status"))

        self.assertIn("Other Tool", owned["error"])
        self.assertEqual(status["state"], "idle")
        self.end_program(program)

    def test_a_folder_that_cannot_be_made_leaves_the_program_idle(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        (self.place / "file").write_text("")

        answer = client.ask("start", out=str(self.place / "file/below"))
        self.wait_until(lambda: self.ok(client.ask("status"))["state"] == "idle", "the end of the window")
        self.ok(client.ask("start", out=str(self.place / "good")))
        program.do("launch 1")

        self.assertIn("Not a directory", answer["error"])
        self.assertEqual(len(self.window_trace(client.ask("stop")).of("kernel")), 1)
        self.end_program(program)
