# SPDX-License-Identifier: Apache-2.0
"""Spends its time in known functions, one after another, with a kernel after each.

    stacks.py CASE…

STACKS_SECONDS: how long each case takes. Each case is a way in which a program makes the GPU wait: its function's name and file are what a stack must name.
"""
import gc
import json
import os
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gpu import Gpu  # noqa: E402

SECONDS = float(os.environ.get("STACKS_SECONDS", "0.4"))


def until(seconds=SECONDS):
    """False once the seconds are over: loops that compute until then."""
    return time.monotonic() + seconds


class Loader:
    def decode_image(self):
        end = until()
        total = 0
        while time.monotonic() < end:
            total += sum(range(200))
        return total


def slow_loader():
    Loader().decode_image()


def waits_for_lock():
    lock = threading.Lock()

    def hold_lock():
        with lock:
            time.sleep(SECONDS)

    holder = threading.Thread(target=hold_lock)
    holder.start()
    time.sleep(0.05)
    with lock:
        pass
    holder.join()


def tokenize():
    end = until()
    while time.monotonic() < end:
        " ".join(str(sum(range(100))) for _ in range(500)).split()  # long enough for two readings of the generator


def makes_garbage():
    rings = []
    for _ in range(300_000):
        ring = []
        ring.append(ring)
        rings.append(ring)
    end = until()
    while time.monotonic() < end:
        gc.collect()


def deep(levels, function):
    return deep(levels - 1, function) if levels else function()


def imports_late():
    end = until()
    while time.monotonic() < end:
        for name in ("decimal", "_pydecimal", "statistics", "fractions"):
            sys.modules.pop(name, None)
        import _pydecimal  # noqa: F401


def reads_items(gpu):
    end = until()
    while time.monotonic() < end:
        gpu.launch()
        for _ in range(8):  # a fake driver's returns at once, where a real one waits for its kernel
            gpu.synchronize()


def main():
    gpu = Gpu()
    cases = {"slow_loader": slow_loader, "waits_for_lock": waits_for_lock, "tokenize": tokenize,
             "makes_garbage": makes_garbage, "imports_late": imports_late, "reads_items": lambda: reads_items(gpu)}
    names = sys.argv[1:] or list(cases)
    cases["deep_garbage"] = lambda: deep(200, makes_garbage)
    for name in names:
        gpu.launch()
        cases[name]()
    gpu.launch()
    gpu.synchronize()
    print(json.dumps({"cases": names}))


if __name__ == "__main__":
    main()
