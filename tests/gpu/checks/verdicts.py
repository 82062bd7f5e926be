# SPDX-License-Identifier: Apache-2.0
"""Main function of the check scripts: runs the requested checks, prints a line PASS or FAIL for each row."""
import argparse
import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time

from checks.runner import REPOSITORY, Failed, Runner, Table

SKIPPED = 77
EXIT_NO_GPU = 3


def add_folders(parser):
    parser.add_argument("--out", help="keep logs and traces here")
    parser.add_argument("--build", default=os.path.join(REPOSITORY, "build"), type=os.path.abspath, help="build folder")


@contextlib.contextmanager
def kept_or_temporary(out):
    """The folder `out`; None: one that is deleted at the end."""
    folder = os.path.abspath(out) if out else tempfile.mkdtemp(prefix="rangefinder-gpu-")
    os.makedirs(folder, exist_ok=True)
    try:
        yield folder
    finally:
        if not out:
            shutil.rmtree(folder, ignore_errors=True)


def gpu_count(build):
    """Number of GPUs that the probes can use, at most 2, and why there are none. One where the probe fails for another
    reason: the checks must fail then too."""
    probe = os.path.join(build, "bin", "many_gpus")
    if not os.path.exists(probe):
        return 0, f"{probe} is not built (it needs nvcc)"
    for count in (2, 1):
        command = [probe, "--gpus", str(count), "--mib", "1", "--repeat", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return 0, "a first small program did not end within 120 s"
        if done.returncode == 0:
            return count, ""
    return (0, done.stderr.strip()) if done.returncode == EXIT_NO_GPU else (1, "")


def has_torch():
    code = "import torch, torchvision, transformers; raise SystemExit(0 if torch.cuda.is_available() else 1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300, check=False)
    return done.returncode == 0


def selected(names, of_torch, of_jax, skip_torch):
    if not skip_torch and of_torch.intersection(names) and not has_torch():
        print("skipped: PyTorch checks (no torch, torchvision and transformers with a GPU in this python3)")
        skip_torch = True
    left_out = of_torch if skip_torch else set()
    if of_jax.intersection(names) and importlib.util.find_spec("jax") is None:
        print("skipped: JAX checks (no jax in this python3)")
        left_out = left_out | of_jax
    return [name for name in names if name not in left_out]


def main(about, checks, gpus=1, of_torch=frozenset(), of_jax=frozenset()):
    """Exit code: 0 all passed, 1 a check failed, 77 too few GPUs. `of_torch`, `of_jax`: skipped without these."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(checks), help="this check (may be repeated)")
    parser.add_argument("--skip-torch", action="store_true")
    add_folders(parser)
    options = parser.parse_args()
    there, reason = gpu_count(options.build)
    if there < gpus:
        print(f"skipped: {gpus} GPUs are needed, there are {there} {reason}")
        return SKIPPED
    with kept_or_temporary(options.out) as out:
        runner = Runner(Table(), out, options.build)
        for name in selected(options.only or checks, of_torch, of_jax, options.skip_torch):
            _run(name, checks[name], runner)
        return summary(len(runner.table.rows), len(runner.table.failures))


def _run(name, check, runner):
    began = time.monotonic()
    try:
        check(runner, runner.table)
    except Failed as error:
        runner.table.row(name, "runs", str(error), False)
    except Exception as error:  # a trace that violates the schema fails this check only
        runner.table.row(name, "no exception", repr(error)[:300], False)
    print(f"  ({name}: {time.monotonic() - began:.0f} s)", flush=True)


def summary(count, failed):
    """Prints it; returns the exit code."""
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or not count else 0
