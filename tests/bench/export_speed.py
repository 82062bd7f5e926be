#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of `rangefinder export` for a million kernels with their launches.

    export_speed.py RANGEFINDER TRACE_MAKER [--check] [--machine MACHINE_SPEED]

Needs about 3 GB of disk in the system's folder for temporary files. With --check the exit code is 1 if
a goal is missed: kineto in 5 s, and no format in more than 64 MiB. The goal applies to CPU time, user and system,
which other work on the machine changes less. It is for the machine of docs/internals/measured.md. It is stretched by the factor
by which MACHINE_SPEED (build/tests/machine_speed) finds this machine slower, before or after.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

FORMATS = ("kineto", "perfetto", "csv", "sqlite", "speedscope", "prometheus")
MAX_KINETO_S = 5.0
MAX_MEMORY_KIB = 64 * 1024


def measured(command):
    """Seconds, largest resident memory in KiB, CPU seconds of the user and of the system; the command must succeed."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.monotonic() - began, usage.ru_maxrss, usage.ru_utime, usage.ru_stime


def times_slower(program):
    """How many times slower this machine is now than that of the goals; 1 without the program that measures it."""
    return float(subprocess.run([program], check=True, capture_output=True, text=True).stdout) if program else 1.0


def size_of(path):
    return sum(file.stat().st_size for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rangefinder")
    parser.add_argument("trace_maker")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--machine")
    options = parser.parse_args()
    missed, kineto_s = [], 0.0
    slower = times_slower(options.machine)
    with tempfile.TemporaryDirectory() as temporary:
        trace, out = pathlib.Path(temporary) / "trace", pathlib.Path(temporary) / "out.json"
        subprocess.run([options.trace_maker, "--kernels", "1000000", "--out", trace], check=True)
        for to in FORMATS:
            command = [options.rangefinder, "export", str(trace), "--to", to, "--out", str(out)]
            seconds, memory_kib, user_s, system_s = measured(command)
            print(f"{to:11} {seconds:6.2f} s (CPU: user {user_s:.2f} s, system {system_s:.2f} s), "
                  f"{memory_kib / 1024:6.1f} MiB of memory, {size_of(out) / 1e6:8.1f} MB written", flush=True)
            if to == "kineto":
                kineto_s, slower = user_s + system_s, max(slower, times_slower(options.machine))
            if memory_kib > MAX_MEMORY_KIB:
                missed.append(f"{to} took {memory_kib / 1024:.0f} MiB, goal {MAX_MEMORY_KIB // 1024} MiB")
            if out.is_dir():
                shutil.rmtree(out)
            else:
                out.unlink()
    print(f"kineto: {kineto_s:.1f} s of CPU, goal here {MAX_KINETO_S * slower:.1f}, stretched by {slower:.2f}")
    if kineto_s > MAX_KINETO_S * slower:
        missed.append(f"kineto took {kineto_s:.1f} s")
    for text in missed:
        print("missed: " + text)
    sys.exit(1 if missed and options.check else 0)


if __name__ == "__main__":
    main()
