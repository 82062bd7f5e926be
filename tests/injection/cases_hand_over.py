# SPDX-License-Identifier: Apache-2.0
"""A window goes on while another tool has CUPTI: `yield` with keep_window, and `resume`."""

from harness import Build
from obedient import ObedientCase
from trace import Trace


class HandOverCases(ObedientCase):
    def gap(self, program, client, launches=100, cause="torch.profiler"):
        """Launches while CUPTI is away."""
        given = self.ok(client.ask("yield", keep_window=True, cause=cause))
        self.assertEqual((given["yielded"], given["holds_cupti"], given["state"]), (True, False, "recording"))
        program.do("push away")
        program.do(f"launch {launches}")
        program.do("pop")

    def take_back(self, client):
        taken = self.ok(client.ask("resume"))
        self.assertEqual((taken["yielded"], taken["holds_cupti"], taken["state"]), (False, True, "recording"))

    def around_a_gap(self, **options):
        """4 launches, those of gap(), and 6: the program, the answer to stop, and the trace."""
        program = self.start_program(**options)
        client = self.connect(program)
        program.do("launch 4")
        self.gap(program, client)
        self.take_back(client)
        program.do("launch 6")
        stopped = client.ask("stop")
        trace = self.window_trace(stopped)
        self.assert_gap_between(trace, 4, 6)
        return program, stopped, trace

    def assert_gap_between(self, trace, before, after, cause="torch.profiler"):
        """The kernels before and after, the gap line between them, and nothing lost."""
        [gap] = trace.of("gap")
        self.assertEqual(set(gap), {"t", "start", "end", "cause"})
        self.assertEqual(gap["cause"], cause)
        for kind in ("kernel", "launch", "exact"):
            for line in trace.of(kind):
                self.assertEqual(line["start"] < gap["start"], trace.lines.index(line) < trace.lines.index(gap), line)
                self.assertFalse(gap["start"] <= line["start"] < gap["end"], line)
        first = [line for line in trace.of("kernel") if line["start"] < gap["start"]]
        self.assertEqual((len(first), len(trace.of("kernel")) - len(first)), (before, after))
        self.assertEqual(trace.end["records"]["gap"], 1)
        self.assertEqual(trace.end["loss"], {})

    def test_one_trace_has_the_work_before_and_after_the_gap(self):
        program, stopped, trace = self.around_a_gap()

        self.assertEqual(stopped["window"]["folder"], f"{program.place}/rangefinder-{program.process.pid}")
        # NVTX ranges are recorded all the time.
        [gap] = trace.of("gap")
        ranges = [line for line in trace.of("range") if gap["start"] <= line["start"] and line["end"] <= gap["end"]]
        paths = {tuple(line["path_text"].split("/")) for line in ranges}
        self.assertEqual(paths, {("away",), ("away", "work"), ("away", "work", "step")})
        self.end_program(program)

    def test_work_of_other_threads_goes_on_and_nothing_counts_as_lost(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        program.do("storm on")
        for cycle in range(5):
            self.ok(client.ask("start", out=str(self.place / f"cycle-{cycle}")))
            answer = client.ask("yield", keep_window=True)
            if answer["ok"]:  # the thread was not running for 0.1 s
                self.take_back(client)
            else:
                self.assertIn("without a pause", answer["error"])
            program.do("launch 3")
            trace = self.window_trace(client.ask("stop"))
            [gap] = trace.of("gap")
            self.assertTrue(any(line["start"] > gap["end"] for line in trace.of("kernel")))
            self.assertEqual(set(trace.end["loss"]) - {"nvtx_unclosed"}, set())
        program.do("storm off")
        self.end_program(program)

    def test_several_gaps_have_a_line_each(self):
        program = self.start_program()
        client = self.connect(program)
        for cause in ("first", "second"):
            program.do("launch 2")
            self.gap(program, client, cause=cause)
            self.take_back(client)
        trace = self.window_trace(client.ask("stop"))

        self.assertEqual([line["cause"] for line in trace.of("gap")], ["first", "second"])
        self.assertEqual((len(trace.of("kernel")), trace.end["loss"]), (4, {}))
        self.end_program(program)

    def test_exact_counters_go_on_after_the_gap(self):
        program, _, trace = self.around_a_gap(RANGEFINDER_COUNTERS="exact")

        self.assertEqual(sum("dram_read_bytes" in line for line in trace.of("exact")), 10)
        self.end_program(program)

    def test_samples_go_on_after_the_gap(self):
        program, _, trace = self.around_a_gap(RANGEFINDER_COUNTERS="sampled")

        self.assertEqual([line["reason"] for line in trace.of("sampling")], ["start", "stop"] * 2)
        self.end_program(program)

    def test_a_window_that_ends_while_cupti_is_away_has_the_gap_up_to_its_end(self):
        program = self.start_program()
        client = self.connect(program)
        program.do("launch 4")
        self.gap(program, client, cause="yield")
        trace = self.window_trace(client.ask("stop"))
        self.ok(client.ask("resume"))
        self.ok(client.ask("start"))
        program.do("launch 2")
        second = self.window_trace(client.ask("stop"))

        self.assert_gap_between(trace, 4, 0, cause="yield")
        self.assertEqual((len(second.of("kernel")), second.of("gap")), (2, []))
        self.end_program(program)

    def test_an_exit_while_cupti_is_away_leaves_a_whole_trace(self):
        program = self.start_program()
        client = self.connect(program)
        program.do("launch 4")
        self.gap(program, client)

        self.end_program(program)

        trace = Trace(f"{program.place}/rangefinder-{program.process.pid}")
        self.assert_balanced(trace)
        self.assert_gap_between(trace, 4, 0)
        self.assertEqual(trace.end["reason"], "exit")

    def test_another_tool_that_keeps_cupti_leaves_the_window_open(self):
        if Build.real:
            self.skipTest("the other tool is a fake")
        program = self.start_program()
        client = self.connect(program)
        program.do("launch 4")
        self.gap(program, client)
        program.do("owner Kineto")
        refused = client.ask("resume")
        status = self.ok(client.ask("status"))
        program.do("disown")
        self.take_back(client)
        program.do("launch 6")
        trace = self.window_trace(client.ask("stop"))

        self.assertIn("Kineto", refused["error"])
        self.assertEqual((status["state"], status["yielded"]), ("recording", True))
        self.assert_gap_between(trace, 4, 6)
        self.end_program(program)

    def test_a_window_that_needs_cupti_refuses(self):
        for variables, why in (({"RANGEFINDER_MONITOR": "10ms/1s"}, "monitor mode"),
                               ({"FAKE_CUPTI_OWNER": "Other Tool"}, "does not use CUPTI")):
            program = self.start_program(**variables)
            client = self.connect(program)

            refused = client.ask("yield", keep_window=True)

            self.assertIn(why, refused["error"])
            self.assertIn("send stop first", refused["error"])
            program.kill()
