# SPDX-License-Identifier: Apache-2.0
"""Windows requested while a program still initialises its GPU.

Of 85 such starts of RT-DETR on H200s, 15 had windows without a kernel record: all windows but the process's first
(docs/internals/decisions.md, "A window waits for the driver"). RANGEFINDER_STARTS: number of starts.
"""
import os
import shutil
import subprocess
import tempfile
import time

from checks.windows import Control, end_line, injected_environment

STARTS = int(os.environ.get("RANGEFINDER_STARTS", "20"))
WINDOWS_S = (2.5, 0.2, 0.2)  # the first window lasts until RT-DETR launches
BETWEEN_S = 0.6
# Calls in progress at a window's edge: the window may hold only the call, or only its kernel.
MOST_AT_THE_EDGES = 5


def kernels_of_windows(runner, runtime):
    """(launched, recorded) of each window of one process."""
    program = subprocess.Popen(
        [f"{runner.bin}/rtdetr", "--model", "r50", "--iterations", "1000000", "--graph", "off"],
        env=injected_environment(runner.injection_library, runtime, RANGEFINDER_START="off"), stdout=subprocess.DEVNULL)
    try:
        control = Control(runtime, program)
        found = []
        for number, seconds in enumerate(WINDOWS_S):
            control.ask("start", out=f"{runtime}/window-{number}", counters="off")
            time.sleep(seconds)
            kernels = end_line(control.ask("stop")["window"]["folder"])["launches"]["kernel"]
            found.append((kernels["launched"], kernels["recorded"]))
            time.sleep(BETWEEN_S)
        control.close()
        return found
    finally:
        program.kill()
        program.wait()


def start_up(runner, table):
    incomplete, launched = [], 0
    for _ in range(STARTS):
        runtime = tempfile.mkdtemp(prefix="rangefinder-start-")
        try:
            windows = kernels_of_windows(runner, runtime)
        finally:
            shutil.rmtree(runtime, ignore_errors=True)
        launched += sum(window[0] for window in windows[1:])
        if any(window[1] < window[0] - MOST_AT_THE_EDGES for window in windows):
            incomplete.append(windows)
    for windows in incomplete:
        print(f"  launched and recorded by window: {windows}", flush=True)
    table.row("start_up: launches of the later windows", "some", launched, launched > 0)
    table.equal(f"start_up: of {STARTS} starts, those with a window that lacks kernels", 0, len(incomplete))
