# SPDX-License-Identifier: Apache-2.0
"""Tests in real programs that the library keeps its promises to the application. Uses a fake driver and a fake CUPTI.

    injection_test.py BUILD_DIR [--library FILE] [--rangefinder FILE] [--real] [--part PART] [unittest's arguments]

--part lives, --part faults: classes that may run in parallel with other tests. --part alone: the rest, which require
that nothing is lost while threads launch at full speed.

With --real the same programs run on this machine's GPU, driver and CUPTI. Tests that need the fakes are skipped.
For ExitCases, LifeCases, ProcessLifeCases, ForkCases, FaultCases, KillCases and HandOverCases.
"""

import argparse
import sys
import unittest
from pathlib import Path

from cases_attach import *  # noqa: F401,F403
from cases_capture import *  # noqa: F401,F403
from cases_communication import *  # noqa: F401,F403
from cases_control import *  # noqa: F401,F403
from cases_counters import *  # noqa: F401,F403
from cases_cycles import *  # noqa: F401,F403
from cases_exact import *  # noqa: F401,F403
from cases_exit import *  # noqa: F401,F403
from cases_faults import *  # noqa: F401,F403
from cases_fork import *  # noqa: F401,F403
from cases_graphs import *  # noqa: F401,F403
from cases_hand_over import *  # noqa: F401,F403
from cases_kill import *  # noqa: F401,F403
from cases_lives import *  # noqa: F401,F403
from cases_messages import *  # noqa: F401,F403
from cases_monitor import *  # noqa: F401,F403
from cases_processes import *  # noqa: F401,F403
from cases_sampling import *  # noqa: F401,F403
from cases_sanitizers import *  # noqa: F401,F403
from cases_search import *  # noqa: F401,F403
from cases_security import *  # noqa: F401,F403
from cases_socket import *  # noqa: F401,F403
from cases_stacks import *  # noqa: F401,F403
from cases_trace import *  # noqa: F401,F403
from cases_windows import *  # noqa: F401,F403
from harness import RETRIED, Build

# On a busy machine these take longer, with the same result. LIVES mostly waits and uses little CPU time.
LIVES = {"LifeCases", "ProcessLifeCases", "SanitizerCases", "StackCases", "WindowCases"}
FAULTS = {"ExitCases", "FaultCases", "ForkCases", "KillCases", "MessageCases", "SearchCases", "SecurityCases"}
PARTS = {"lives": lambda name: name in LIVES, "faults": lambda name: name in FAULTS,
         "alone": lambda name: name not in LIVES | FAULTS}


def cases_of(part):
    """The test classes of a part, by name. Raises KeyError if a part names an unknown class."""
    known = {name for name, case in globals().items() if isinstance(case, type) and issubclass(case, unittest.TestCase)}
    if missing := (LIVES | FAULTS) - known:
        raise KeyError(f"no such test cases: {missing}")
    return sorted(name for name in known if PARTS[part](name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--library", dest="injection_library", type=Path)
    parser.add_argument("--rangefinder", type=Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--part", choices=PARTS)
    options, rest = parser.parse_known_args()
    Build.real = options.real
    Build.folder = options.build.resolve()
    Build.injection_library = (options.injection_library or Build.folder / "lib/librangefinder.so").resolve()
    command = options.rangefinder or Build.folder / "bin/rangefinder"
    Build.rangefinder = command.resolve() if command.exists() else None
    fakes = [] if options.real else [Build.cupti(), Build.driver() / "libcuda.so.1"]
    for needed in (Build.injection_library, Build.program("plain"), *fakes):
        if not needed.exists():
            parser.error(f"{needed} is not there: build first")
    program = unittest.main(argv=[sys.argv[0], *rest, *(cases_of(options.part) if options.part else [])], exit=False)
    if RETRIED:
        print(f"{len(RETRIED)} retried because of wall time")
    sys.exit(not program.result.wasSuccessful())


if __name__ == "__main__":
    main()
