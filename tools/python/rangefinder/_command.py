# SPDX-License-Identifier: Apache-2.0
"""The wheel's command `rangefinder`: becomes the program that the wheel contains."""
from __future__ import annotations

import os
import sys

import rangefinder

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from typing import NoReturn, Optional

CUPTI = os.path.join("nvidia", "cu13", "lib", "libcupti.so.13")


def cupti_folder() -> Optional[str]:
    """The folder of the installed nvidia-cuda-cupti; None: it is not in this environment."""
    for entry in sys.path:
        path = os.path.join(entry, CUPTI)
        if os.path.isfile(path):
            return os.path.dirname(path)
    return None


def main() -> NoReturn:
    """Passes on where CUPTI is: a program that is not Python has no libcudart or torch to find it by."""
    folder = cupti_folder()
    if folder is not None:
        os.environ.setdefault("RANGEFINDER_CUPTI_FOLDER", folder)
    program = os.path.join(rangefinder.tree(), "bin", "rangefinder")
    if not os.path.exists(program):
        sys.exit(f"rangefinder: this package came without the program {program}.\n"
                 "  Install the wheel, the tarball or the Debian package, or name the program of a build by its path.")
    os.execv(program, [program, *sys.argv[1:]])
