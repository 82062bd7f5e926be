# SPDX-License-Identifier: Apache-2.0
"""Windows that the program controls: cudaProfilerStart, ranges, times."""

from obedient import ObedientCase
from trace import Trace


class CaptureCases(ObedientCase):
    def traces_of(self, program):
        first = program.place / f"rangefinder-{program.process.pid}"
        folders = [first, *(first.with_name(f"{first.name}.{number}") for number in range(2, 9))]
        return [Trace(folder) for folder in folders if folder.exists()]

    def kernels_of(self, program):
        traces = self.traces_of(program)
        for trace in traces:
            self.assert_balanced(trace)
        return [len(trace.of("kernel")) for trace in traces]

    def test_what_is_between_profiler_start_and_stop_is_recorded_each_time(self):
        program = self.start_program(RANGEFINDER_CAPTURE="cudaProfilerApi")
        for launches in (3, 4):
            program.do("launch 9")
            program.do("profiler start")
            program.do(f"launch {launches}")
            program.do("profiler stop")

        self.end_program(program)
        self.assertEqual(self.kernels_of(program), [3, 4])
        self.assertEqual(self.traces_of(program)[0].end["reason"], "cuProfilerStop")

    def test_the_log_at_level_debug_has_decisions(self):
        program = self.start_program(RANGEFINDER_CAPTURE="cudaProfilerApi", RANGEFINDER_LOG="debug")
        for word in ("start", "stop"):
            program.do(f"profiler {word}")
            program.do("launch 1")

        status, log = program.end()
        self.assertEqual(status, 0, log)
        self.assertRegex(log, r"CUPTI \S+, \S.*: used, 13\.")
        self.assertRegex(log, r"counters \w+, (as requested|by default|chosen for this window)")
        self.assertIn("a window records into ", log)
        self.assertIn("window 1 closes: cuProfilerStop", log)

    def test_capture_end_stop_records_once(self):
        program = self.start_program(RANGEFINDER_CAPTURE="cudaProfilerApi", RANGEFINDER_CAPTURE_END="stop")
        for _ in range(3):
            program.do("profiler start")
            program.do("launch 3")
            program.do("profiler stop")

        self.end_program(program)
        self.assertEqual(self.kernels_of(program), [3])

    def test_a_range_is_recorded_from_its_push_to_its_pop(self):
        program = self.start_program(RANGEFINDER_CAPTURE="nvtx:decoder")
        program.do("push model")
        program.do("launch 5")
        program.do("push decoder")
        program.do("launch 7")
        program.do("pop")
        program.do("launch 9")

        self.end_program(program)
        trace, = self.traces_of(program)
        self.assert_balanced(trace)
        self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {"/".join(["model", "decoder", "work", "step"])})
        self.assertEqual(len(trace.of("kernel")), 7)
        decoder, = [line for line in trace.of("range") if line["path_text"] == "model/decoder"]
        self.assertEqual(decoder["start"], 0)
        self.assertIsNotNone(decoder["end"])

    def test_iterations_after_others_are_one_window(self):
        program = self.start_program(RANGEFINDER_CAPTURE="nvtx:work/step,after:10,for:20")
        program.do("launch 50")

        self.end_program(program)
        trace, = self.traces_of(program)
        self.assert_balanced(trace)
        self.assertEqual(sorted(line["grid"][0] for line in trace.of("kernel")), list(range(11, 31)))

    def test_without_a_name_outermost_ranges_are_counted(self):
        program = self.start_program(RANGEFINDER_CAPTURE="after:2,for:1")
        for launches in (3, 4, 5, 6):
            program.do(f"launch {launches}")

        self.end_program(program)
        self.assertEqual(self.kernels_of(program), [5])

    def test_repeated_ranges_are_windows_of_their_own(self):
        program = self.start_program(RANGEFINDER_CAPTURE="nvtx:work", RANGEFINDER_CAPTURE_END="repeat:2")
        client = self.connect(program)
        for launches in (3, 4, 5):
            program.do(f"launch {launches}")
            self.wait_until(lambda: self.ok(client.ask("status"))["state"] == "idle", "the end of the window")

        self.end_program(program)
        self.assertEqual(self.kernels_of(program), [3, 4])

    def test_a_delay_and_a_duration_open_one_window(self):
        program = self.start_program(RANGEFINDER_CAPTURE="after:100ms,for:200ms")
        client = self.connect(program)
        program.do("storm on")
        self.wait_until(lambda: self.ok(client.ask("status")).get("window", {}).get("complete"), "the window")
        program.do("storm off")

        self.end_program(program)
        trace, = self.traces_of(program)
        self.assert_balanced(trace)
        self.assertEqual(trace.end["reason"], "window")

    def test_a_capture_that_another_tool_prevents_says_so_once(self):
        program = self.start_program(RANGEFINDER_CAPTURE="nvtx:work", FAKE_CUPTI_OWNER="Other Tool")
        for _ in range(3):
            program.do("launch 3")
        status, said = program.end()

        self.assertEqual(status, 0)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("Other Tool", said)

    def test_a_capture_that_is_not_understood_records_everything_and_says_so(self):
        program = self.start_program(RANGEFINDER_CAPTURE="sometimes")
        program.do("launch 3")
        status, said = program.end()

        self.assertEqual(status, 0)
        self.assertIn("RANGEFINDER_CAPTURE=sometimes is not understood", said)
        self.assertEqual(self.kernels_of(program), [3])
