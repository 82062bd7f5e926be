# SPDX-License-Identifier: Apache-2.0
"""Main function of check scripts: runs the requested checks, prints a line PASS or FAIL for each row."""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

from checks.runner import Failed, Runner, Table

SKIPPED = 77


class Verdicts(Table):
    def row(self, name, expected, found, ok):
        self.rows.append((name, str(expected), str(found), bool(ok)))
        print(f"{'PASS' if ok else 'FAIL'}  {name}: {found}" + ("" if ok else f" (expected: {expected})"), flush=True)


def gpu_count(build):
    """Number of GPUs that the probes can use."""
    probe = os.path.join(build, "bin", "many_gpus")
    if not os.path.exists(probe):
        return 0, f"{probe} is not built (it needs nvcc)"
    for count in (2, 1):
        done = subprocess.run([probe, "--gpus", str(count), "--mib", "1", "--repeat", "1"], capture_output=True,
                              text=True, timeout=120, check=False)
        if done.returncode == 0:
            return count, ""
    return 0, done.stderr.strip()


def main(about, checks, repository, gpus):
    """Exit code: 0 all passed, 1 a check failed, 77 too few GPUs."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--only", action="append", choices=list(checks), help="this check (may be repeated)")
    parser.add_argument("--out", help="keep logs and traces here")
    parser.add_argument("--build", default=os.path.join(repository, "build"), help="build folder")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    there, reason = gpu_count(build)
    if there < gpus:
        print(f"skipped: {gpus} GPUs are needed, there are {there} {reason}")
        return SKIPPED
    out = os.path.abspath(options.out) if options.out else tempfile.mkdtemp(prefix="rangefinder-gpu-")
    table = Verdicts()
    runner = Runner(table, out, build, repository)
    try:
        for name in options.only or checks:
            _run(name, checks[name], runner, table)
    finally:
        if not options.out:
            shutil.rmtree(out, ignore_errors=True)
    print(f"{len(table.rows) - len(table.failures)} passed, {len(table.failures)} failed")
    return 1 if table.failures or not table.rows else 0


def _run(name, check, runner, table):
    began = time.monotonic()
    try:
        check(runner, table)
    except Failed as error:
        table.row(name, "runs", str(error), False)
    except Exception as error:  # a trace that violates the schema fails this check only
        table.row(name, "no exception", repr(error)[:300], False)
    print(f"  ({name}: {time.monotonic() - began:.0f} s)", flush=True)
