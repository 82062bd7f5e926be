# SPDX-License-Identifier: Apache-2.0
"""The old name of rangefinder.control. It is removed in the release after 0.3."""
import warnings

from rangefinder.control import ask, window, yielded  # noqa: F401

warnings.warn("rangefinder_control is now rangefinder.control", DeprecationWarning, stacklevel=2)
