# SPDX-License-Identifier: Apache-2.0
"""Ranges of PyTorch programs: modules, backward passes, optimizers, data loading, copies, iterations.

    import rangefinder.torch

    rangefinder.torch.install()          # `rangefinder run --torch-modules` does this by itself
"""
from .hooks import install, uninstall

__all__ = ["install", "uninstall"]
