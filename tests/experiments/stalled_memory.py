#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that a stalled recording thread leaves behind. stalled_memory.py BUILD [LIBRARY …] [--windows 12]
[--seconds 2] [--stall-ms 60] [--modules]

A program launches all the time beside the fake driver. Windows of sampled bytes open and close, while another client
reads sums each second; --modules: in 300 modules in turn instead of few. In the second half of the windows the
recording thread is stopped (ptrace) for one, two or three times --stall-ms, again and again, like on a host without
free CPU. Between windows it prints resident KiB of the heaps that glibc makes for threads, and of the whole process.
Each LIBRARY (default: the build's) runs in turn, to compare two builds in one run. Linux; fails if the user may not
trace (Yama, a container).
"""
import argparse
import collections
import ctypes
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "injection"))

from harness import Build  # noqa: E402
from obedient import Client, Obedient  # noqa: E402
from trace import Trace  # noqa: E402

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
BETWEEN_STALLS_S = 0.4
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]


def thread_named(pid, name):
    for thread in os.listdir(f"/proc/{pid}/task"):
        if Path(f"/proc/{pid}/task/{thread}/comm").read_text(encoding="utf-8").strip() == name:
            return int(thread)
    return None


def stall(pid, seconds):
    """Stops the recording thread, if it exists."""
    thread = thread_named(pid, "rangefinder")
    if thread is None:
        return
    if LIBC.ptrace(PTRACE_SEIZE, thread, None, None) != 0:
        raise PermissionError(os.strerror(ctypes.get_errno()))
    LIBC.ptrace(PTRACE_INTERRUPT, thread, None, None)
    os.waitpid(thread, WALL)
    time.sleep(seconds)
    LIBC.ptrace(PTRACE_DETACH, thread, None, None)


def wait_and_stall(pid, seconds, stall_s):
    end = time.monotonic() + seconds
    while time.monotonic() + stall_s + BETWEEN_STALLS_S < end:
        time.sleep(BETWEEN_STALLS_S)
        if stall_s:
            stall(pid, stall_s)
    time.sleep(max(0.0, end - time.monotonic()))


def ask(client, command, **fields):
    answer = client.ask(command, **fields)
    if answer is None or not answer["ok"]:
        raise RuntimeError(f"{command}: {answer}")


def measure(options, place):
    program = Obedient(place, place, {"RANGEFINDER_START": "off", "RANGEFINDER_SEGMENT_MB": "1"})
    client, watcher = program.client(), Client(program.socket_path)
    ask(watcher, "subscribe", every_ms=1000)
    threading.Thread(target=collections.deque, args=(iter(watcher.receive, None), 0), daemon=True).start()
    program.do("storm modules" if options.modules else "storm fast")
    rows = []
    for number in range(options.windows):
        stall_s = options.stall_ms / 1000 * (1 + number % 3) if number >= options.windows // 2 else 0
        folder = place / f"window-{number}"
        ask(client, "start", out=str(folder), counters="sampled")
        wait_and_stall(program.process.pid, options.seconds, stall_s)
        ask(client, "stop")
        end = Trace(folder).end
        time.sleep(0.3)  # the sampling thread frees its memory a moment later
        rows.append((program.thread_heaps(), program.resources()[2]))
        print(f"{number:>6} {end['own_cost']['drain_longest_ns'] / 1e6:>8.0f} {rows[-1][0]:>9} {rows[-1][1]:>11}  "
              f"{sum(end['loss'].values()):>6}", flush=True)
    program.do("storm off")
    program.end()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("libraries", type=Path, nargs="*")
    parser.add_argument("--windows", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--stall-ms", type=float, default=60)
    parser.add_argument("--modules", action="store_true")
    options = parser.parse_args()
    Build.folder, Build.real = options.build.resolve(), False
    for library in options.libraries or [Build.folder / "lib/librangefinder.so"]:
        Build.injection_library = library.resolve()
        print(f"{library}\nwindow  away ms  heaps KiB  process KiB   lost")
        with tempfile.TemporaryDirectory(prefix="rangefinder-stalled-") as place:
            rows = measure(options, Path(place))
        calm = rows[options.windows // 2 - 1]
        print(f"stalls left {rows[-1][0] - calm[0]} KiB in the heaps, {rows[-1][1] - calm[1]} in the process", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
