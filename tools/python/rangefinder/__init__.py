# SPDX-License-Identifier: Apache-2.0
"""Rangefinder: GPU time, DRAM and L2 bytes of every part of a CUDA program.

The command `rangefinder run -- python train.py` records a program. `python -m rangefinder` is the same command.
`rangefinder.torch.install()` names the modules of a PyTorch program.
"""
import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import torch as torch

__version__ = "@VERSION@"
__all__ = ["injection_library", "torch"]

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
