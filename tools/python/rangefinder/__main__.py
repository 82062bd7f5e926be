# SPDX-License-Identifier: Apache-2.0
"""python -m rangefinder: the same as the command."""
from rangefinder._command import main

main()
