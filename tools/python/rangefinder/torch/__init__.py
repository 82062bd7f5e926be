# SPDX-License-Identifier: Apache-2.0
"""Ranges of PyTorch programs: modules, backward passes, optimizers, data loading, copies, iterations.

`rangefinder run --torch-modules -- python train.py` installs them without a change of the program.
"""
from __future__ import annotations

from .hooks import install, uninstall
from .schedule import schedule

__all__ = ["install", "schedule", "uninstall"]
