# SPDX-License-Identifier: Apache-2.0
"""Answers of `rangefinder serve` about running programs: programs_test.py RANGEFINDER REPOSITORY REPLAY BUILD

The programs are those of tests/injection: a fake driver, a fake CUPTI, our library, its control socket.
"""
import http.client
import json
import signal
import time

from serve_case import DEADLINE_SECONDS, Serving, main  # first: it extends sys.path
from obedient import ObedientCase


class Stream:
    """Server-Sent Events of one connection."""

    def __init__(self, served, target):
        self.connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=DEADLINE_SECONDS)
        self.connection.request("GET", target)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def next(self):
        """(name, data) of the next event; None: the stream has ended."""
        name, data = "message", None
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if line == "" and self.answer.isclosed():
                return None
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data = json.loads(line[6:])
            elif line == "" and data is not None:
                return name, data

    def until(self, wanted):
        while True:
            event = self.next()
            if event is None or wanted(*event):
                return event

    def close(self):
        self.connection.close()


class ProgramsTest(Serving, ObedientCase):
    def running(self, **variables):
        """A program that is ended, and checked, after the test."""
        program = self.start_program(**variables)
        self.addCleanup(self.end_program, program)
        return program

    def stream(self, served, pid, every_ms=100):
        stream = Stream(served, f"/api/live?pid={pid}&every_ms={every_ms}")
        self.addCleanup(stream.close)
        return stream

    def launches(self, served, label=""):
        return sum(value for key, value in served.metrics().items()
                   if key.startswith("rangefinder_kernel_launches_total") and label in key)

    def test_programs_are_listed_with_their_state(self):
        idle, busy = self.running(RANGEFINDER_START="off"), self.running(RANK="5")
        served = self.serve()

        rows = {row["pid"]: row for row in served.json("/api/processes")}

        self.assertEqual(rows.keys(), {idle.process.pid, busy.process.pid})
        self.assertEqual(rows[idle.process.pid]["state"], "idle")
        self.assertEqual((rows[busy.process.pid]["state"], rows[busy.process.pid]["rank"]), ("recording", "5"))
        self.assertEqual(rows[busy.process.pid]["window_number"], 1)

    def test_modules_and_kernels_of_a_program_are_up_to_now(self):
        program = self.running()
        served = self.serve()
        for n in (3, 5):
            before = {row["path"]: row for row in served.json("/api/modules", pid=program.process.pid)}
            program.do(f"launch {n}")
            rows = {row["path"]: row for row in served.json("/api/modules", pid=program.process.pid)}

            self.assertEqual(self.total(rows) - self.total(before), n)
        kernels = served.json("/api/kernels", pid=program.process.pid)
        self.assertEqual(sum(row["count"] for row in kernels), 8)
        timeline = served.json("/api/timeline", pid=program.process.pid)
        self.assertEqual(sum(row["kernels"] for row in timeline), 8)
        self.assertIsInstance(served.json("/api/findings", pid=program.process.pid), list)

    @staticmethod
    def total(rows):
        return sum(row["kernels"] for row in rows.values() if row["depth"] <= 1)

    def test_live_events_have_the_rates_of_the_modules(self):
        program = self.running()
        stream = self.stream(self.serve(), program.process.pid)
        program.do("storm on")

        def has_both(row):  # launch and kernel record may arrive in different intervals
            return row["path"] == "storm" and row["launches_per_s"] > 0 and row["gpu_ms_per_s"] > 0

        _, event = stream.until(lambda name, data: any(map(has_both, data.get("rows", ()))))

        self.assertGreater(event["seconds"], 0)
        self.assertEqual((event["state"], event["left_out"]), ("recording", 0))
        program.do("storm off")

    def test_a_live_stream_ends_with_the_program(self):
        program = self.start_program()
        stream = self.stream(self.serve(), program.process.pid)
        self.assertIsNotNone(stream.next())

        self.end_program(program)

        self.assertIsNotNone(stream.until(lambda name, data: name == "gone"))
        self.assertIsNone(stream.next())

    def test_live_streams_are_bounded_and_released(self):
        program = self.running()
        served = self.serve()
        target = f"/api/live?pid={program.process.pid}&every_ms=100"
        streams = [Stream(served, target) for _ in range(12)]
        for stream in streams:
            self.assertIsNotNone(stream.next())

        status, _, body = served.ask(target)

        self.assertEqual(status, 404)
        self.assertIn(b"too many", body)
        for stream in streams:
            stream.close()
        self.wait_until(lambda: self.opens(served, target), "room for another stream")

    @staticmethod
    def opens(served, target):
        try:
            Stream(served, target).close()
        except AssertionError:
            return False
        return True

    def test_serve_ends_while_streams_are_open(self):
        program = self.running()
        served = self.serve()
        stream = self.stream(served, program.process.pid)
        self.assertIsNotNone(stream.next())

        self.assertEqual(served.stop()[0], 0)

    def test_metrics_of_a_program_add_up_over_windows(self):
        program = self.start_program(RANGEFINDER_START="off")
        client = self.connect(program)
        served = self.serve()
        self.assertEqual(self.launches(served), 0)
        for n, total in ((4, 4), (6, 10)):
            self.ok(client.ask("start"))
            program.do(f"launch {n}")
            self.wait_until(lambda: self.launches(served) == total, f"{total} launches")
            self.ok(client.ask("stop"))
            self.wait_for_new_poll(served)
            self.assertEqual(self.launches(served), total)

        self.assertEqual(served.metrics()["rangefinder_windows_missed_total"], 0)
        self.end_program(program)
        self.wait_until(lambda: served.metrics()["rangefinder_programs_running"] == 0, "the program's end")
        self.assertEqual(self.launches(served), 10)

    def wait_for_new_poll(self, served):
        """serve polls programs every half second at most."""
        before = time.monotonic()
        self.wait_until(lambda: time.monotonic() - before > 0.6 and served.metrics() is not None, "another poll")

    def test_launches_between_the_last_poll_and_the_end_of_a_window_are_counted(self):
        program = self.running(RANGEFINDER_START="off")
        client = self.connect(program)
        served = self.serve()
        self.ok(client.ask("start"))
        program.do("launch 4")
        self.wait_until(lambda: self.launches(served) == 4, "4 launches")
        program.do("launch 3")
        self.ok(client.ask("stop"))
        self.ok(client.ask("start"))
        program.do("launch 2")

        self.wait_until(lambda: self.launches(served) == 9, "9 launches over two windows")
        self.ok(client.ask("stop"))

    def test_windows_between_two_polls_are_counted(self):
        program = self.running(RANGEFINDER_START="off")
        client = self.connect(program)
        served = self.serve()
        self.ok(client.ask("start"))
        self.assertEqual(self.launches(served), 0)
        for _ in range(3):
            self.ok(client.ask("stop"))
            self.ok(client.ask("start"))

        self.wait_until(lambda: served.metrics()["rangefinder_windows_missed_total"] == 2, "two windows missed")
        self.ok(client.ask("stop"))

    def test_a_stopped_program_is_unresponsive_and_hangs_no_scrape(self):
        stopped, running = self.running(), self.running()
        for program in (stopped, running):
            program.do("launch 3")
        served = self.serve()
        self.wait_until(lambda: self.launches(served) == 6, "6 launches")
        self.suspend(stopped, [])

        running.do("launch 2")
        self.wait_until(lambda: self.launches(served) == 8, "2 more launches of the other program")

        metrics = served.metrics()
        self.assertEqual([metrics["rangefinder_programs_" + state] for state in ("running", "unresponsive")], [1, 1])
        rows = {row["pid"]: row for row in served.json("/api/processes")}
        self.assertEqual(rows[stopped.process.pid], {"pid": stopped.process.pid, "state": "unresponsive"})
        self.assertEqual(rows[running.process.pid]["state"], "recording")
        status, _, body = served.ask(f"/api/modules?pid={stopped.process.pid}")
        self.assertEqual(status, 404)
        self.assertIn(b"is unresponsive", body)
        stopped.process.send_signal(signal.SIGCONT)
        stopped.do("launch 1")
        self.wait_until(lambda: self.launches(served) == 9, "the program that continues")
        self.assertEqual(served.metrics()["rangefinder_programs_unresponsive"], 0)

    def test_ranks_and_modules_are_labels(self):
        programs = [self.running(RANK=str(rank)) for rank in range(2)]
        for rank, program in enumerate(programs):
            program.do(f"launch {rank + 1}")
        served = self.serve()

        self.wait_until(lambda: [self.launches(served, f'rank="{rank}"') for rank in range(2)] == [1, 2], "both ranks")
        metrics = served.metrics()
        self.assertTrue([key for key in metrics if 'gpu="0"' in key and "uuid=" in key and "module=" in key])
        self.assertEqual(metrics["rangefinder_programs_running"], 2)
        self.assertFalse([key for key in metrics if "kernel=" in key])

    def test_metrics_of_a_program_are_those_of_its_trace(self):
        program = self.start_program(RANGEFINDER_OUT=str(self.place / "own"))
        program.do("launch 6")
        served = self.serve()
        self.wait_until(lambda: self.launches(served) == 6, "6 launches")
        self.end_program(program)
        self.wait_until(lambda: served.metrics()["rangefinder_programs_running"] == 0, "the program's end")
        live = self.own_sums(served.metrics())

        read = self.own_sums(self.serve(self.place / "own").metrics())

        self.assertTrue(read)
        self.assertEqual(live, read)

    @staticmethod
    def own_sums(metrics):
        names = ("rangefinder_kernel_launches_total", "rangefinder_kernel_seconds_total", "rangefinder_gpu_info",
                 "rangefinder_memcpy_bytes_total", "rangefinder_records_lost_total", "rangefinder_build_info")
        return {key: value for key, value in metrics.items() if key.startswith(names)}


if __name__ == "__main__":
    main(__doc__)
