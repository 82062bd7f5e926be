# SPDX-License-Identifier: Apache-2.0
"""Source lines of modules: one NVTX mark at the first call of each, in its range.

    domain rangefinder.source    /app/model.py:214    forward() of its class; empty: a class of PyTorch's own
                                 /app/train.py:30     the program's line that calls it, or what it is a part of
                                 decoder              names of the modules, the outermost first
                                 attn

The profiler keeps it for all paths that end with these names (profiler/nvtx/module_sources.h). In compiled code no module
is called: there the lines are those of TorchDynamo's stack traces. Each generated kernel has marks too, one a line of the
program that it computes:

    domain rangefinder.source    kernel
                                 triton_poi_fused_mul_silu_7
                                 silu, mul            operators
                                 /app/model.py:220    their line; empty: not known
"""
import dis
import functools
import os
import re
import sys

from . import modules

DOMAIN = "rangefinder.source"
_MAX_WRAPPERS = 100  # around a forward()
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


class Sources:
    """Any thread."""

    def __init__(self, torch, mark):
        self._mark = mark  # (domain, text)
        self._last_lines = {}  # code of a forward() -> its last line
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        at = getattr(torch, "__file__", None)
        # Frames of generated code call modules too: those of torch.fx.
        self._foreign = (here + os.sep, "<eval_with_key>", *([os.path.dirname(at) + os.sep] if at else ()))

    def note(self, call, module):
        """`module` is called as `call` for the first time; its ranges are open."""
        if call.names:
            code = self._code_of_class(type(modules.inner_module(module)))
            self.mark((_line_of_code(code), self._line_of_call(sys._getframe(1)), *call.path))

    def mark(self, lines):
        """Marks the innermost range. lines: as above."""
        if (lines[0] or lines[1]) and not any("\n" in line for line in lines):
            self._mark(DOMAIN, "\n".join(lines).encode("utf-8", "replace").decode("utf-8"))  # a file's name may be no text

    def frames(self, trace):
        """(file, line) of a stack trace of TorchDynamo, the outermost first, of the program's own functions."""
        return _frames(trace, self._foreign)

    def of_traced(self, kind, frames):
        """The two lines of a module of class `kind` that TorchDynamo called. frames: with those of what it calls."""
        code = self._code_of_class(kind)
        if code is not None:
            last = self._last_lines.get(code)
            if last is None:
                last = self._last_lines[code] = max((line for _, line in dis.findlinestarts(code) if line), default=0)
            own = [i for i, (file, line) in enumerate(frames)
                   if file == code.co_filename and code.co_firstlineno <= line <= last]
            frames = frames[:own[-1]] if own else frames
        return _line_of_code(code), place(*frames[-1]) if frames else ""

    def _code_of_class(self, kind):
        """Of the program's forward(). None: a class of PyTorch's own, or forward() is no function of Python."""
        try:
            forward = kind.forward
            for _ in range(_MAX_WRAPPERS):
                if not hasattr(forward, "__wrapped__"):
                    break
                forward = forward.__wrapped__
            code = forward.__code__
            return None if code.co_filename.startswith(self._foreign) else code
        except Exception:
            return None  # written in C, or a class with attributes of its own making

    def _line_of_call(self, frame):
        while frame is not None and frame.f_code.co_filename.startswith(self._foreign):
            frame = frame.f_back
        return "" if frame is None else place(frame.f_code.co_filename, frame.f_lineno)


@functools.lru_cache(maxsize=1024)  # many nodes have one trace, and each is read for several purposes
def _frames(trace, foreign):
    return tuple((file, int(line)) for file, line, name in _FRAME.findall(trace)
                 if name != "__call__" and not file.startswith(foreign))


def _line_of_code(code):
    return "" if code is None else place(code.co_filename, code.co_firstlineno)


def place(file, line):
    """/app/model.py:214"""
    if not file.startswith(("/", "<")):  # "<stdin>" is no file
        file = os.path.abspath(file)
    return f"{file}:{line}"
