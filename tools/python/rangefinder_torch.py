# SPDX-License-Identifier: Apache-2.0
"""The old name of rangefinder.torch. It is removed in the release after 0.3."""
import warnings

from rangefinder.torch import install, uninstall  # noqa: F401

warnings.warn("rangefinder_torch is now rangefinder.torch", DeprecationWarning, stacklevel=2)
