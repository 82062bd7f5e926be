# SPDX-License-Identifier: Apache-2.0
"""Rangefinder: GPU time, DRAM and L2 bytes of every part of a CUDA program. A part is an NVTX range.

The slowest layer of a PyTorch program and its source line, without a change of the program:

    rangefinder run --torch-modules --out trace -- python train.py
    rangefinder report trace                            what limits the program
    rangefinder report trace --section layers --flat    modules with both passes, the slowest first, with source lines

`python -m rangefinder` is the same command. The inner modules of a program without a backward pass:
`rangefinder report trace --section modules --flat --sort self`. In a program:

    rangefinder.range("attention")      a part of the program: `with`, or a decorator
    rangefinder.torch.install()         each module, backward pass, optimizer step of a PyTorch program is a part
    rangefinder.torch.schedule()        records iterations, with the arguments of torch.profiler.schedule
    rangefinder.enable()                loads Rangefinder into this process, before CUDA is initialised
    rangefinder.window()                records a block
    rangefinder.control.yielded()       another tool, as torch.profiler, may use CUPTI in the block

The functions say more: help(rangefinder.window), help(rangefinder.torch).
"""
from __future__ import annotations

import importlib
import os

from . import _ranges, control
from ._recording import enable, window

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from typing import Any

    from . import torch as torch
    from ._ranges import Range as range, used

    _used = used
else:
    try:
        from ._range import Range as range, used as _used

        range.__doc__ = _ranges.Range.__doc__
    except ImportError:  # built without Python's headers
        from ._ranges import Range as range, used as _used

__version__ = "@VERSION@"
__all__ = ["control", "enable", "injection_library", "range", "torch", "window"]

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def tree() -> str:
    """The folder with bin/, lib/ and share/: of the wheel, of a tarball or build, or of the Debian package."""
    wheel = os.path.join(_FOLDER, "_tree")
    if os.path.isdir(wheel):
        return wheel
    for below in ("share/rangefinder/python", "lib/python3/dist-packages"):
        if os.path.dirname(_FOLDER).endswith("/" + below):
            return os.path.dirname(_FOLDER)[:-len(below) - 1] or "/"
    return "/usr"


def injection_library() -> str:
    """The path of librangefinder.so, which the CUDA driver loads.

    Errors: FileNotFoundError if the installation is incomplete.

    >>> import os, rangefinder
    >>> os.path.basename(rangefinder.injection_library())
    'librangefinder.so'
    """
    for folder in ("lib/rangefinder", "lib/x86_64-linux-gnu/rangefinder", "lib"):
        path = os.path.join(tree(), folder, "librangefinder.so")
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"librangefinder.so is not below {tree()}: reinstall rangefinder")


def __getattr__(name: str) -> Any:
    if name == "torch":  # only if used: its modules are not needed for ranges
        return importlib.import_module("rangefinder.torch")
    raise AttributeError(f"module 'rangefinder' has no attribute {name!r}")
