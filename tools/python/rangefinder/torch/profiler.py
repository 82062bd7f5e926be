# SPDX-License-Identifier: Apache-2.0
"""Hands CUPTI to torch.profiler while it runs, since CUPTI serves one tool in a process.

    our window │ profile._prepare_trace … profile.__exit__ │ the same window
               yield, a gap in our trace       resume (up to 5 s)

Both torch.profiler and torch.autograd.profiler go through these two functions. PyTorch gives CUPTI back only
with TEARDOWN_CUPTI=1, which is set here if the variable is unset. That crashes programs with CUDA graphs, says
PyTorch. So where graphs exist CUPTI stays ours, with one line on stderr, and the variable is unset again.
An error here never reaches the program.
"""
import importlib
import os
import sys
import warnings

from .. import control

_TEARDOWN = "TEARDOWN_CUPTI"


def request_teardown():
    """Before PyTorch is imported. True: the variable is ours."""
    if _TEARDOWN in os.environ:
        return False
    os.environ[_TEARDOWN] = "1"
    return True


class ProfilerHandover:
    """Main thread, or whichever starts the profiler: PyTorch allows one at a time in a process."""

    def __init__(self, torch, teardown_is_ours):
        self._torch = torch
        self._teardown_is_ours = teardown_is_ours
        self._has_graphs = False
        self._reported = False
        self._yielded = None  # context manager, while torch.profiler has CUPTI

    def install(self, replace):
        profiler = importlib.import_module(f"{self._torch.__name__}.autograd.profiler")
        graphs = importlib.import_module(f"{self._torch.__name__}.cuda.graphs")

        def make_prepare(original):
            def prepare(profile):
                self._hand_over(profile)
                return original(profile)
            return prepare

        def make_exit(original):
            def leave(profile, *exception):
                try:
                    return original(profile, *exception)
                finally:
                    self._take_back()
            return leave

        def make_capture(original):
            def capture_begin(*args, **kwargs):
                self._graph_begins()
                return original(*args, **kwargs)
            return capture_begin

        replace(profiler.profile, "_prepare_trace", make_prepare)
        replace(profiler.profile, "__exit__", make_exit)
        replace(graphs.CUDAGraph, "capture_begin", make_capture)

    def _graph_begins(self):
        self._has_graphs = True
        if self._teardown_is_ours and os.environ.get(_TEARDOWN) == "1":
            del os.environ[_TEARDOWN]

    def _hand_over(self, profile):
        if self._yielded is not None or getattr(profile, "use_device", None) != "cuda":
            return
        try:
            if self._has_graphs:
                self._report_graphs()
                return
            yielded = control.yielded("torch.profiler")
            yielded.__enter__()
            self._yielded = yielded
        except Exception as error:
            _warn(error)

    def _report_graphs(self):
        if self._reported or control.ask("status") is None:
            return
        self._reported = True
        print("rangefinder: torch.profiler records no kernels here: the program has CUDA graphs, and with them CUPTI "
              "cannot change hands. Run torch.profiler without rangefinder", file=sys.stderr)

    def _take_back(self):
        yielded, self._yielded = self._yielded, None
        try:
            if yielded is not None:
                yielded.__exit__(None, None, None)
        except Exception as error:
            _warn(error)


def _warn(error):
    warnings.warn(f"rangefinder: CUPTI and torch.profiler: {error!r}", RuntimeWarning)
