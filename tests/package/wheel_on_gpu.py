#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the wheel with a source build on a GPU: one PyTorch program, traced by each in turn, with exact counters.

wheel_on_gpu.py WHEEL RANGEFINDER [--rounds N] [--batch N] [--plain PROGRAM]

RANGEFINDER: the program of a source build. The wheel is installed in a virtual environment that sees this Python's
packages, without a download. Goals: the same modules and calls; bytes within 1 %, times within 5 % (medians over the
rounds, of the whole and of every module with at least 5 % of the time); CUPTI from the pip package. PROGRAM: a CUDA
program that is not Python, for which the wheel must find that CUPTI too. Exit code 1: a goal is missed; 77: no GPU.

One image a batch leaves much of the data in the L2: what reaches DRAM then differs by several percent from run to run of
either build. The default of 8 images moves far more than the L2 holds.
"""
import argparse
import json
import os
import site
import statistics
import subprocess
import sys
import sysconfig
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(REPOSITORY, "tests/gpu/programs/eval_rtdetr.py")
MAX_BYTES_DIFFERENCE, MAX_TIME_DIFFERENCE = 0.01, 0.05
#: Smaller modules are compared as parts of larger ones.
LEAST_SHARE = 0.05


def run(command, **arguments):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **arguments)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:6])}: exit code {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def install(wheel, folder):
    """A virtual environment with the wheel. It sees this Python's packages, also if this is an environment itself."""
    run([sys.executable, "-m", "venv", "--system-site-packages", folder])
    own = sysconfig.get_path("purelib", vars={"base": folder, "platbase": folder})
    with open(os.path.join(own, "outer.pth"), "w", encoding="utf-8") as file:
        file.write("\n".join(path for path in [*site.getsitepackages(), sysconfig.get_path("purelib")]) + "\n")
    run([os.path.join(folder, "bin/python"), "-m", "pip", "install", "--no-index", "--no-deps", wheel])
    return os.path.join(folder, "bin/rangefinder")


def traced(rangefinder, out, program):
    """Header and modules of one run."""
    run([rangefinder, "run", "--quiet", "--counters", "exact", "--capture", "cudaProfilerApi", "--out", out, "--", *program])
    with open(os.path.join(out, "trace-00000.ndjson"), encoding="utf-8") as file:
        header = json.loads(file.readline())
    trace = json.loads(run([rangefinder, "report", out, "--section", "modules", "--json"]))["traces"][0]
    return header, {row["path"]: row for row in trace["modules"]}, trace["loss"]


def values(row):
    return {"GPU time": row["gpu_ns"], "DRAM": row.get("dram_read_bytes", 0) + row.get("dram_write_bytes", 0),
            "L2": row.get("l2_bytes", 0)}


def compare(ours, theirs):
    """Prints the differences of the wheel from the source build; true if all are within the goals."""
    first, other = ours[0][1], theirs[0][1]
    same = [(path, row["calls"], row["kernels"]) for path, row in sorted(first.items())] == \
        [(path, row["calls"], row["kernels"]) for path, row in sorted(other.items())]
    print(f"{len(first)} modules, the same paths, calls and kernels: {'yes' if same else 'NO'}")
    top = max(first, key=lambda path: (first[path]["gpu_ns"], -first[path]["depth"]))
    total = first[top]["gpu_ns"]
    chosen = [path for path, row in first.items() if path in other and row["gpu_ns"] >= LEAST_SHARE * total]
    good = same
    for kind, limit in (("GPU time", MAX_TIME_DIFFERENCE), ("DRAM", MAX_BYTES_DIFFERENCE), ("L2", MAX_BYTES_DIFFERENCE)):
        def median(runs, path):
            return statistics.median(values(modules[path])[kind] for _, modules, _ in runs)

        def spread(runs, path):
            all_values = [values(modules[path])[kind] for _, modules, _ in runs]
            return (max(all_values) - min(all_values)) / statistics.median(all_values)

        differences = {path: median(ours, path) / median(theirs, path) - 1 for path in chosen}
        worst = max(differences, key=lambda path: abs(differences[path]))
        good = good and abs(differences[worst]) <= limit
        print(f"{kind:9} {top}: {differences[top]:+.2%} (spread {spread(ours, top):.2%} and {spread(theirs, top):.2%}); "
              f"of {len(chosen)} modules the largest {differences[worst]:+.2%}, {worst} (spread {spread(ours, worst):.2%} and "
              f"{spread(theirs, worst):.2%}); goal {limit:.0%}: {'met' if abs(differences[worst]) <= limit else 'MISSED'}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel")
    parser.add_argument("rangefinder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--plain")
    options = parser.parse_args()
    if subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode != 0:
        print("skipped: no GPU")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        command = install(options.wheel, os.path.join(folder, "venv"))
        python = os.path.join(folder, "venv/bin/python")
        print(run([command, "doctor"]))
        runs = {command: [], options.rangefinder: []}
        program = [python, PROGRAM, "--iterations", "4", "--batch", str(options.batch)]
        for number in range(options.rounds):
            for tool, done in runs.items():
                done.append(traced(tool, os.path.join(folder, f"{number}-{len(done)}-{tool == command}"), program))
        wheel, source = runs[command], runs[options.rangefinder]
        for name, (header, _, loss) in (("wheel", wheel[0]), ("source build", source[0])):
            print(f"{name}: CUPTI {header.get('cupti_version')} {header.get('cupti_path')}; loss {loss}")
        good = compare(wheel, source)
        good = good and "nvidia/cu13" in wheel[0][0].get("cupti_path", "")
        if options.plain:
            out = os.path.join(folder, "plain")
            run([command, "run", "--quiet", "--out", out, "--", *options.plain.split()])
            with open(os.path.join(out, "trace-00000.ndjson"), encoding="utf-8") as file:
                path = json.loads(file.readline()).get("cupti_path", "")
            print(f"{options.plain.split()[0]}: CUPTI {path}")
            good = good and "nvidia/cu13" in path
            # Without the command: the library by itself, found by `import rangefinder`.
            library = run([python, "-c", "import rangefinder; print(rangefinder.injection_library())"]).strip()
            out = os.path.join(folder, "injected")
            environment = {name: value for name, value in os.environ.items() if not name.startswith("RANGEFINDER")}
            run(options.plain.split(), env={**environment, "CUDA_INJECTION64_PATH": library,
                                            "NVTX_INJECTION64_PATH": library, "RANGEFINDER_OUT": out})
            print(run([command, "report", out, "--section", "modules", "--top", "3"])[:600])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
