# SPDX-License-Identifier: Apache-2.0
"""tools/python hands CUPTI to torch.profiler: with the fake torch, and a control socket of this test."""
import contextlib
import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import fake_torch as torch
from fake_torch.cases import FakeTest
from control_module_test import Listener
from rangefinder.torch import profiler
from rangefinder.torch import hooks

profile, CUDAGraph = torch.profile, torch.CUDAGraph


class Profiler(FakeTest):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name) / "rangefinder"
        self.folder.mkdir()
        runtime = mock.patch.dict(os.environ, XDG_RUNTIME_DIR=holder.name)
        runtime.start()
        self.addCleanup(runtime.stop)
        torch.profiles.clear()
        super().setUp()

    def listen(self, **answers):
        listener = Listener(self.folder / f"{os.getpid()}.sock", {"status": {"ok": True, "state": "recording"}} | answers)
        self.addCleanup(listener.socket.close)
        return listener

    def test_the_profiler_has_cupti_from_its_preparation_to_its_end(self):
        listener = self.listen()

        with profile():
            self.assertEqual(listener.asked, ["status", "yield"])
            self.assertEqual(listener.requests[-1]["cause"], "torch.profiler")
            self.assertEqual(torch.profiles, ["prepared"])

        self.assertEqual(torch.profiles, ["prepared", "ended"])
        self.assertEqual(listener.asked[2:], ["resume"])

    def test_each_run_of_the_profiler_hands_over_once(self):
        listener = self.listen()

        for _ in range(2):
            with profile() as profiler:
                profiler._prepare_trace()  # again within

        self.assertEqual(listener.asked, ["status", "yield", "resume"] * 2)

    def test_an_error_of_the_program_still_takes_cupti_back(self):
        listener = self.listen()

        with self.assertRaises(ZeroDivisionError), profile():
            raise ZeroDivisionError

        self.assertEqual(listener.asked[2:], ["resume"])

    def test_a_profile_of_the_cpu_alone_changes_nothing(self):
        listener = self.listen()

        with profile(use_device=None):
            pass

        self.assertEqual(listener.asked, [])

    def test_without_rangefinder_the_profiler_runs(self):
        with profile():
            pass

        self.assertEqual(torch.profiles, ["prepared", "ended"])

    def test_a_refusal_is_a_warning_and_the_ranges_stay(self):
        self.listen(**{"yield": {"ok": False, "error": "needs CUPTI"}}, stop={"ok": False, "error": "the disk is full"})

        with self.assertWarnsRegex(RuntimeWarning, "the disk is full"), profile():
            pass

        self.assertEqual(torch.profiles, ["prepared", "ended"])
        self.assertTrue(self.hooks.active)

    def test_with_cuda_graphs_cupti_stays_ours_and_one_line_says_so(self):
        listener = self.listen()
        CUDAGraph().capture_begin(capture_error_mode="relaxed")
        error = io.StringIO()

        with contextlib.redirect_stderr(error):
            for _ in range(2):
                with profile():
                    pass

        self.assertNotIn("yield", listener.asked)
        self.assertEqual(1, error.getvalue().count("\n"))
        self.assertIn("CUDA graphs", error.getvalue())
        self.assertEqual(torch.profiles, ["captures in relaxed"] + ["prepared", "ended"] * 2)


class Teardown(unittest.TestCase):
    """The variable with which PyTorch gives CUPTI back."""

    def handover(self):
        return hooks.Hooks(torch, torch._C._nvtx, profiler.request_teardown()).handover

    def test_it_is_set_if_unset_and_unset_at_the_first_graph(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("TEARDOWN_CUPTI", None)
            handover = self.handover()
            self.assertEqual("1", os.environ["TEARDOWN_CUPTI"])

            handover._graph_begins()

            self.assertNotIn("TEARDOWN_CUPTI", os.environ)

    def test_a_value_of_the_user_stays(self):
        for value in ("0", "1"):
            with mock.patch.dict(os.environ, TEARDOWN_CUPTI=value):
                self.handover()._graph_begins()

                self.assertEqual(value, os.environ["TEARDOWN_CUPTI"])


if __name__ == "__main__":
    unittest.main()
