#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `with rangefinder.range("name"): pass` takes without a tool: microseconds, medians of 15 runs.

python_range_cost.py FOLDER [PYTHON…]   FOLDER: build/share/rangefinder/python; PYTHON: interpreters [this one]

new: a range is made each time; kept: one object is used again; ctypes: new, without the extension. The empty `with`
of a context manager in C is not subtracted.
"""
import os
import subprocess
import sys

CODE = """
import statistics, sys, timeit
if sys.argv[1] == "ctypes":
    sys.modules["rangefinder._range"] = None  # importing it raises ImportError
import rangefinder
kept = rangefinder.range("name")
code = "with kept: pass" if sys.argv[1] == "kept" else "with range('name'): pass"
times = timeit.repeat(code, "", repeat=15, number=100_000, globals={"range": rangefinder.range, "kept": kept})
print(statistics.median(times) * 10)
"""
BUDGETS = {"new": 0.8, "kept": 0.8, "ctypes": 2.5}


def main():
    folder, interpreters = sys.argv[1], sys.argv[2:] or [sys.executable]
    environment = {name: value for name, value in os.environ.items() if name != "NVTX_INJECTION64_PATH"}
    slow = 0
    print(f"{'us a range':24}" + "".join(f"{kind:>8}" for kind in BUDGETS))
    for interpreter in interpreters:
        times = [float(subprocess.run([interpreter, "-c", CODE, kind], env={**environment, "PYTHONPATH": folder},
                                      capture_output=True, text=True, check=True).stdout) for kind in BUDGETS]
        slow += sum(time > budget for time, budget in zip(times, BUDGETS.values()))
        print(f"{interpreter[-24:]:24}" + "".join(f"{time:8.2f}" for time in times))
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
