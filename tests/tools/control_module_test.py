# SPDX-License-Identifier: Apache-2.0
"""Tests rangefinder.window and rangefinder.control, clients of the control socket, with a socket of this test."""
import json
import os
import pathlib
import socket
import sys
import tempfile
import threading
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/python"))
import rangefinder
from rangefinder import control


class Listener:
    """Gives prepared answers and stores the requests."""

    def __init__(self, path, answers):
        self.asked, self.requests, self.answers = [], [], answers
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        self.socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rw") as lines:
                for line in lines:
                    request = json.loads(line)
                    self.asked.append(request["command"])
                    self.requests.append(request)
                    answer = self.answers.get(request["command"], {"ok": True})
                    if isinstance(answer, list):  # in order; the last one repeats
                        answer = answer.pop(0) if len(answer) > 1 else answer[0]
                    lines.write(json.dumps({"v": 1} | answer) + "\n")
                    lines.flush()


class ControlCase(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "rangefinder"
        self.folder.mkdir()
        self.enter(mock.patch.dict(os.environ, XDG_RUNTIME_DIR=holder.name))

    def enter(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def listen(self, **answers):
        listener = Listener(self.folder / f"{os.getpid()}.sock", answers)
        self.addCleanup(listener.socket.close)
        return listener


class ControlModule(ControlCase):
    def test_without_rangefinder_nothing_happens(self):
        with control.window(), control.yielded():
            pass

        self.assertIsNone(control.ask("status"))

    def test_a_window_tells_its_folder(self):
        listener = self.listen(stop={"ok": True, "window": {"folder": "/data/w"}})

        with control.window(out="/data/w", counters="exact") as done:
            self.assertEqual(listener.asked, ["start"])

        self.assertEqual(listener.asked, ["start", "stop"])
        self.assertEqual(done["folder"], "/data/w")

    def test_giving_way_keeps_the_window_that_is_open(self):
        listener = self.listen(status={"ok": True, "state": "recording"})

        with self.assertRaises(ZeroDivisionError), control.yielded("another tool"):
            self.assertEqual(listener.asked, ["status", "yield"])
            self.assertEqual(listener.requests[1], {"v": 1, "command": "yield", "keep_window": True,
                                                    "cause": "another tool"})
            raise ZeroDivisionError

        self.assertEqual(listener.asked[2:], ["resume"])

    def test_giving_way_closes_a_window_that_needs_cupti_and_opens_one_afterwards(self):
        refusal = {"ok": False, "error": "monitor mode needs CUPTI: send stop first"}
        listener = self.listen(status={"ok": True, "state": "recording"}, **{"yield": [refusal, {"ok": True}]})

        with control.yielded():
            self.assertEqual(listener.asked, ["status", "yield", "status", "stop", "yield"])

        self.assertEqual(listener.asked[5:], ["resume", "start"])

    def test_giving_way_while_idle_opens_no_window(self):
        listener = self.listen(status={"ok": True, "state": "idle"})

        with control.yielded():
            pass

        self.assertEqual(listener.asked, ["status", "yield", "resume"])

    def test_a_tool_that_keeps_cupti_costs_the_trace_and_not_the_program(self):
        listener = self.listen(status={"ok": True, "state": "recording"},
                               resume={"ok": False, "error": "another tool uses CUPTI in this process"})

        with self.assertWarnsRegex(RuntimeWarning, "another tool uses CUPTI.*no longer recorded"):
            with control.yielded():
                pass

        self.assertEqual(listener.asked, ["status", "yield", "resume"])

    def test_a_tool_that_gives_cupti_back_later_is_waited_for(self):
        refusal = {"ok": False, "error": "another tool uses CUPTI in this process"}
        listener = self.listen(status={"ok": True, "state": "recording"}, resume=[refusal, refusal, {"ok": True}])
        self.enter(mock.patch.dict(os.environ, TEARDOWN_CUPTI="1"))

        with control.yielded():
            pass

        self.assertEqual(listener.asked[2:], ["resume"] * 3)

    def test_a_refusal_is_an_error(self):
        self.listen(start={"ok": False, "error": "a window is open already"})

        with self.assertRaisesRegex(RuntimeError, "open already"):
            control.ask("start")


def window_status(state, number, complete=False):
    return {"ok": True, "state": state, "window": {"number": number, "folder": f"/data/w{number}", "complete": complete}}


class Window(ControlCase):
    def test_without_rangefinder_the_block_runs_and_there_is_no_path(self):
        with rangefinder.window(iterations=2) as w:
            ran = True

        self.assertTrue(ran)
        self.assertIsNone(w.path)

    def test_a_block_is_recorded_and_its_trace_is_complete_after_it(self):
        listener = self.listen(status=window_status("recording", 4), stop=window_status("idle", 5, True))
        listener.answers["status"] = [window_status("idle", 4, True), window_status("recording", 5)]

        with rangefinder.window(counters="exact", out="/data/w5") as w:
            self.assertIsNone(w.path)

        self.assertEqual(listener.asked, ["status", "start", "status", "stop"])
        self.assertEqual(listener.requests[1], {"v": 1, "command": "start", "counters": "exact", "out": "/data/w5"})
        self.assertEqual(w.path, "/data/w5")

    def test_iterations_that_ended_within_the_block_need_no_stop(self):
        listener = self.listen(status=[window_status("idle", 4, True), window_status("idle", 5, True)])

        with rangefinder.window(iterations=5) as w:
            pass

        self.assertEqual(listener.asked, ["status", "window", "status"])
        self.assertEqual(listener.requests[1], {"v": 1, "command": "window", "occurrences": 5, "wait": False})
        self.assertEqual(w.path, "/data/w5")

    def test_a_trace_that_is_still_written_is_waited_for(self):
        closing = {"ok": False, "error": "no window is open"}
        self.listen(status=[window_status("idle", 0, True), window_status("closing", 1), window_status("idle", 1, True)],
                    stop=closing)

        with rangefinder.window(iterations=1) as w:
            pass

        self.assertEqual(w.path, "/data/w1")

    def test_no_range_in_the_block_is_a_warning(self):
        listener = self.listen(status={"ok": True, "state": "idle"}, stop={"ok": False, "error": "no window is open"})

        with self.assertWarnsRegex(RuntimeWarning, "no range began"):
            with rangefinder.window(iterations=1) as w:
                pass

        self.assertEqual(listener.asked[-1], "stop")  # the planned window is cancelled
        self.assertIsNone(w.path)

    def test_a_refused_window_is_an_error_and_so_is_one_that_could_not_be_written(self):
        self.listen(status={"ok": True, "state": "recording"}, start={"ok": False, "error": "a window is open already"})

        with self.assertRaisesRegex(RuntimeError, "open already"), rangefinder.window():
            pass

    def test_an_error_of_the_trace_is_an_error(self):
        failed = {"ok": True, "state": "idle", "window": {"number": 1, "error": "disk full", "folder": "/data/w"}}
        self.listen(status=[{"ok": True, "state": "idle"}, failed])

        with self.assertRaisesRegex(RuntimeError, "disk full"), rangefinder.window():
            pass

    def test_the_error_of_the_block_is_the_one_that_is_raised(self):
        self.listen(status={"ok": True, "state": "recording"}, stop={"ok": False, "error": "gone"})

        with self.assertRaises(ZeroDivisionError), rangefinder.window():
            raise ZeroDivisionError

    def test_at_least_one_iteration(self):
        with self.assertRaises(ValueError):
            rangefinder.window(iterations=0)


if __name__ == "__main__":
    unittest.main()
