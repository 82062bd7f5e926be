# SPDX-License-Identifier: Apache-2.0
"""Ranges of PyTorch programs: modules, backward passes, optimizers, data loading, copies, iterations.

`rangefinder run --torch-modules -- python train.py` installs them without a change of the program. A module's range is
named as in named_modules(): `step/model/encoder/layers/0` is its forward pass, `step/backward/model/encoder/layers/0`
its backward pass. Reports show its source line: of its class's forward(), or of its call if the class is PyTorch's own.
"""
from __future__ import annotations

from .hooks import install, uninstall
from .schedule import schedule

__all__ = ["install", "schedule", "uninstall"]
