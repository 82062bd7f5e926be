# SPDX-License-Identifier: Apache-2.0
"""tools/python joins PyTorch's allocations with modules: with the fake torch, and a control socket of this test."""
import json
import os
import pathlib
import stat
import tempfile
import unittest
from unittest import mock

import fake_torch as torch
from fake_torch.cases import FakeTest, Layer, make_model
from control_module_test import Listener
from rangefinder.torch import memory


class Recorded(FakeTest):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.trace = pathlib.Path(holder.name)
        (self.trace / "rangefinder").mkdir()
        torch.allocator.__init__()
        self.set(os.environ, XDG_RUNTIME_DIR=holder.name, RANGEFINDER_TORCH_MODULES="memory")
        super().setUp()
        self.hooks.memory._clock = torch.allocator.tick

    def set(self, variables, **values):
        patch = mock.patch.dict(variables, values)
        patch.start()
        self.addCleanup(patch.stop)

    def listen(self, window):
        status = {"ok": True, "state": "recording", "window": window}
        listener = Listener(self.trace / "rangefinder" / f"{os.getpid()}.sock", {"status": status})
        self.addCleanup(listener.socket.close)

    def finish(self):
        """{path: row} of the file."""
        self.listen({"folder": str(self.trace)})
        self.hooks._end()
        with open(self.trace / memory.FILE, encoding="utf-8") as file:
            self.report = json.load(file)
        return {row["path"]: row for row in self.report["devices"][0]["modules"]}

    def test_a_forward_pass_has_its_allocations_by_module(self):
        model = make_model()
        torch.allocator.allocate(5000)  # before recording

        model(torch.Tensor())

        rows = self.finish()
        self.assertEqual({"", "step", "step/stem", "step/block", "step/block/layers", "step/block/layers/0",
                          "step/block/layers/0/act", "step/block/layers/1", "step/block/layers/1/Act", "step/head"},
                         set(rows))
        self.assertEqual({"path": "step/block", "calls": 1, "allocations": 5, "allocated_bytes": 5 * 1024,
                          "growth_bytes": 5 * 1024, "later_growth_bytes": 0, "peak_bytes": 5000 + 6 * 1024,
                          "live_at_peak_bytes": 5 * 1024, "kept_bytes": 5 * 1024},
                         rows["step/block"])
        self.assertEqual((5000, 5000 + 7 * 1024), tuple(self.report["devices"][0][f"allocated_at_{when}_bytes"]
                                                        for when in ("start", "end")))

    def test_memory_that_is_freed_in_a_module_is_no_growth_and_still_its_peak(self):
        class Frees(torch.nn.Module):
            def forward(self, x):
                y = torch.op("a", x)
                torch.allocator.free(torch.allocator.entries[-1]["addr"])
                return torch.op("b", y)

        Frees()(torch.Tensor())

        row = self.finish()["Frees"]
        self.assertEqual((2, 2048, 1024, 1024, 1024), tuple(row[key] for key in (
            "allocations", "allocated_bytes", "growth_bytes", "peak_bytes", "kept_bytes")))

    def test_the_history_has_no_tracebacks_and_a_bound(self):
        make_model()(torch.Tensor())

        self.assertEqual([("all", None, memory.MAX_EVENTS)], torch.allocator.recorded)
        self.finish()
        self.assertIsNone(torch.allocator.recorded[-1][0])

    def test_a_program_that_records_the_history_keeps_it(self):
        for model_first in (False, True):
            torch.allocator.__init__()
            if model_first:
                make_model()(torch.Tensor())
            torch.cuda.memory._record_memory_history(max_entries=7)
            make_model()(torch.Tensor())
            self.hooks._end()

            self.assertEqual(("all", "all", 7), torch.allocator.recorded[-1])
            self.assertEqual([], list(self.trace.glob("*.json")))

    def test_without_an_open_trace_there_is_one_warning(self):
        make_model()(torch.Tensor())
        self.listen(None)

        with self.assertWarnsRegex(RuntimeWarning, "no trace is open"):
            self.hooks._end()

    def test_the_file_is_readable_by_its_user_alone(self):
        make_model()(torch.Tensor())
        self.finish()

        mode = os.stat(self.trace / memory.FILE).st_mode
        self.assertEqual(0o600, stat.S_IMODE(mode))

    def test_ranges_of_the_program_are_levels(self):
        torch.cuda.nvtx.range_push("iterations0")
        Layer()(torch.Tensor())
        torch.cuda.nvtx.range_pop()

        self.assertIn("iterations0/Layer", self.finish())


class Joined(unittest.TestCase):
    def test_a_thread_of_autograd_inherits_the_path_of_the_thread_that_waits_for_it(self):
        changes = [(1000, 1, ("step",)), (2000, 1, ("step", "backward")), (3000, 2, ("backward",)),
                   (4000, 2, ("backward", "head")), (6000, 2, ()), (8000, 1, ("step",))]
        events = [{"action": "alloc", "addr": 1, "size": 10, "time_us": 5},
                  {"action": "alloc", "addr": 2, "size": 1, "time_us": 7}]

        rows = {row["path"]: row["allocated_bytes"]
                for row in memory.by_module(changes, events, 11)["modules"]}

        self.assertEqual({"": 11, "step": 11, "step/backward": 11, "step/backward/head": 10}, rows)


    def test_a_module_has_what_it_had_at_the_peak_and_what_later_calls_keep(self):
        changes, events, now = [], [], 0

        def at(action, address, size):
            nonlocal now
            now += 1
            events.append({"action": action, "addr": address, "size": size, "time_us": now})

        for call in range(5):
            now += 1
            changes.append((now * 1000, 1, ("grows",)))
            at("alloc", 10 + call, 100)  # kept
            at("alloc", 1, 1000)
            at("free_requested", 1, 1000)
            now += 1
            changes.append((now * 1000, 1, ()))
        at("alloc", 2, 50)

        rows = {row["path"]: row for row in memory.by_module(changes, events, 550)["modules"]}

        self.assertEqual((1500, 300, 500), tuple(rows["grows"][key] for key in
                                                 ("live_at_peak_bytes", "later_growth_bytes", "kept_bytes")))
        self.assertEqual((1500, 550), tuple(rows[""][key] for key in ("live_at_peak_bytes", "kept_bytes")))


class Off(FakeTest):
    def test_by_default_nothing_is_recorded(self):
        torch.allocator.__init__()

        make_model()(torch.Tensor())

        self.assertEqual([], torch.allocator.recorded)


if __name__ == "__main__":
    unittest.main()
