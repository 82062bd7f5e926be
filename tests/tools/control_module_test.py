# SPDX-License-Identifier: Apache-2.0
"""Tests rangefinder_control, the Python client of the control socket, with a socket of this test."""
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


class ControlModule(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
