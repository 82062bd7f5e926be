# SPDX-License-Identifier: Apache-2.0
"""Rangefinder: GPU time, DRAM and L2 bytes of every part of a CUDA program.

The command `rangefinder` traces and reports. For programs that are started without it:

    CUDA_INJECTION64_PATH=$(python3 -c 'import rangefinder; print(rangefinder.injection_library())') ./app

PyTorch without the command: `import rangefinder_torch; rangefinder_torch.install()`.
"""
import os

__version__ = "@VERSION@"

_WHEEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_tree")
_DEBIAN = "/usr"


def tree():
    """The folder with bin/, lib/ and share/."""
    return _WHEEL if os.path.isdir(_WHEEL) else _DEBIAN


def injection_library():
    """The path of librangefinder.so. Raises FileNotFoundError if the installation is incomplete."""
    for folder in ("lib/rangefinder", "lib/x86_64-linux-gnu/rangefinder"):
        path = os.path.join(tree(), folder, "librangefinder.so")
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"librangefinder.so is not below {tree()}: reinstall rangefinder")
