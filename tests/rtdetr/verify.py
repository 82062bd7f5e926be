#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is build/bin/rtdetr the same network as Hugging Face's RTDetrForObjectDetection?

  verify.py --list                     the cases
  verify.py --only r50-fp16            cases whose names contain it; may be repeated
  verify.py --without-program          only what needs no rtdetr: the library against itself, mutations

Prints a row per case. Exit code: 0 all ok, 1 a check failed, 2 wrong use, 77 no GPU.
"""
import argparse
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import torch

import cases
from verification import Bench

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(REPOSITORY, "build/bin/rtdetr"))
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--without-program", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--weights", help="folder with files of make_weights.py; by default they are made")
    parser.add_argument("--out", help="write every measured error, one JSON object per line")
    return parser.parse_args()


def wanted(options):
    chosen = cases.all_cases()
    if options.without_program:
        chosen = [case for case in chosen if not case.needs_program]
    if options.only:
        chosen = [case for case in chosen if any(text in case.name for text in options.only)]
    return chosen


def note(out, case, findings):
    for one in findings:
        out.write(json.dumps({"case": case.name, "view": one.view, "name": one.name, "error": one.error,
                              "limit": one.limit, "ok": one.ok}) + "\n")
    out.flush()


def run_case(case, bench, out):
    """True if the case passed. An exception in one case fails that case only."""
    start = time.monotonic()
    try:
        outcome = case.run(bench)
    except Exception as error:  # noqa: BLE001
        print(f"FAILED  {case.name}: {type(error).__name__}: {error}", flush=True)
        return False
    note(out, case, outcome.findings)
    bad = [one for one in outcome.findings if not one.ok]
    seconds = time.monotonic() - start
    print(f"{'FAILED' if bad else 'ok':6}  {case.name:34} {outcome.text}  ({len(outcome.findings)} checks, {seconds:.0f} s)")
    for one in bad[:6]:
        print(f"        {one.view}: {one.name}: {one.error:.3g}, at most {one.limit:.3g}")
    if len(bad) > 6:
        print(f"        and {len(bad) - 6} more")
    sys.stdout.flush()
    return not bad


def main():
    options = parse()
    chosen = wanted(options)
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if not chosen:
        print("verify: no case has that name; --list shows them", file=sys.stderr)
        return 2
    if not torch.cuda.is_available():
        print("verify: skipped: PyTorch sees no GPU", file=sys.stderr)
        return SKIPPED
    if any(case.needs_program for case in chosen) and not os.path.exists(options.program):
        print(f"verify: {options.program} does not exist: build it, or use --program", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, open(options.out or os.devnull, "w", encoding="utf-8") as out:
        bench = Bench(options.program, options.weights, folder)
        good = [run_case(case, bench, out) for case in chosen]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
