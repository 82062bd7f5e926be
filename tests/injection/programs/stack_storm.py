# SPDX-License-Identifier: Apache-2.0
"""Makes and drops frames, threads and interpreters as fast as it can, for SECONDS.

    stack_storm.py SECONDS

Every function that it runs is called by one other function alone (CALLERS), so that a stack that never was shows.
"""
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from gpu import Gpu  # noqa: E402

# function: its only caller
CALLERS = {"level_1": "storm", "level_2": "level_1", "level_3": "level_2", "leaf": "level_3", "made": "fresh_code",
           "numbers": "draw", "thread_outer": "run", "thread_inner": "thread_outer"}


def leaf(n):
    return n + 1


def level_3(n):
    return leaf(n) + leaf(n + 1)


def level_2(n):
    return level_3(n) + level_3(n + 1)


def level_1(n):
    return level_2(n) + level_2(n + 1)


def numbers(n):
    for i in range(n):
        yield i


def draw(n):
    return sum(numbers(n))


def fresh_code(n):
    """Runs a code object that is freed at once: the next one takes its memory."""
    space = {}
    exec(f"def made():\n    return {n}\n", space)
    return space["made"]()


def thread_inner(n):
    return [str(i) for i in range(n)]


def thread_outer(n):
    return thread_inner(n)


def sub_interpreter():
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            module = __import__(name)
            interpreter = module.create()
            module.run_string(interpreter, "x = sum(range(1000))")
            module.destroy(interpreter)
            return
        except (ImportError, AttributeError, RuntimeError):
            continue


def storm(end):
    n = 0
    while time.monotonic() < end:
        for _ in range(2000):
            level_1(n)
            draw(20)
            fresh_code(n)
            n += 1
        threads = [threading.Thread(target=thread_outer, args=(100,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sub_interpreter()


def main():
    gpu = Gpu()
    gpu.launch()
    end = time.monotonic() + float(sys.argv[1])
    others = [threading.Thread(target=storm, args=(end,)) for _ in range(2)]
    for other in others:
        other.start()
    storm(end)
    for other in others:
        other.join()
    gpu.synchronize()


if __name__ == "__main__":
    main()
