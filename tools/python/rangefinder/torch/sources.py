# SPDX-License-Identifier: Apache-2.0
"""Source lines of modules: one NVTX mark at the first call of each, in its range.

    domain rangefinder.source    /app/model.py:214    forward() of its class; empty: a class of PyTorch's own
                                 /app/train.py:30     the program's line that calls it, or what it is a part of
                                 decoder              names of the modules, the outermost first
                                 attn

The profiler keeps it for all paths that end with these names (profiler/nvtx/module_sources.h).
"""
import os
import sys

DOMAIN = "rangefinder.source"
_MAX_WRAPPERS = 100  # around a forward()


class Sources:
    """Any thread."""

    def __init__(self, torch, mark):
        self._mark = mark  # (domain, text)
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        at = getattr(torch, "__file__", None)
        # Frames of generated code call modules too: those of torch.fx.
        self._foreign = (here + os.sep, "<eval_with_key>", *([os.path.dirname(at) + os.sep] if at else ()))

    def note(self, call, module):
        """`module` is called as `call` for the first time; its ranges are open."""
        if not call.names:
            return
        lines = [self._line_of_class(module), self._line_of_call(sys._getframe(1)), *call.path]
        if (lines[0] or lines[1]) and not any("\n" in line for line in lines):
            self._mark(DOMAIN, "\n".join(lines).encode("utf-8", "replace").decode("utf-8"))  # a file's name may be no text

    def _line_of_class(self, module):
        try:
            forward = type(getattr(module, "_orig_mod", module)).forward
            for _ in range(_MAX_WRAPPERS):
                if not hasattr(forward, "__wrapped__"):
                    break
                forward = forward.__wrapped__
            code = forward.__code__
        except Exception:
            return ""  # written in C, or a class with attributes of its own making
        return "" if self._is_foreign(code) else _place(code.co_filename, code.co_firstlineno)

    def _line_of_call(self, frame):
        while frame is not None and self._is_foreign(frame.f_code):
            frame = frame.f_back
        return "" if frame is None else _place(frame.f_code.co_filename, frame.f_lineno)

    def _is_foreign(self, code):
        return code.co_filename.startswith(self._foreign)


def _place(file, line):
    if not file.startswith(("/", "<")):  # "<stdin>" is no file
        file = os.path.abspath(file)
    return f"{file}:{line}"
