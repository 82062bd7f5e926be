# SPDX-License-Identifier: Apache-2.0
"""Verdicts of `rangefinder diff` for runs on this machine's GPU whose difference is known.
Usage: diff_pairs.py BUILD [--pairs N]

Prints a line a pair: its name, PASS or FAIL, exit code of `--fail-over 2%`, first line. Identical runs must not be
called slower or faster. Exit code 1 if a verdict is wrong.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

FEW_LOADERS = ["--steps", "120", "--workers", "1", "--batch", "4", "--copy", "pageable"]
GPU_BOUND = ["--steps", "120", "--workers", "6", "--batch", "1", "--image-ms", "0.5"]
NETWORK = ["--model", "r18", "--iterations", "150", "--warmup", "5"]


class Runs:
    def __init__(self, build, folder):
        self.bin = os.path.join(build, "bin")
        self.rangefinder = os.path.join(self.bin, "rangefinder")
        self.folder = folder
        self.made = 0
        self.wrong = 0

    def run(self, program, *words):
        self.made += 1
        out = os.path.join(self.folder, str(self.made))
        subprocess.run([self.rangefinder, "run", "-q", "--out", out, "--", os.path.join(self.bin, program), *words],
                       check=True, stdout=subprocess.DEVNULL, timeout=120)
        return out

    def pair(self, name, before, after, results, code):
        """`results`: the verdicts that are right."""
        def diff(*more):
            command = [self.rangefinder, "diff", before, after, "--fail-over", "2%", *more]
            return subprocess.run(command, text=True, capture_output=True, timeout=120)

        done, verdict = diff(), json.loads(diff("--json").stdout)["verdict"]
        good = verdict["result"] in results and done.returncode in code
        self.wrong += not good
        print(f"{name:28} {'PASS' if good else 'FAIL'}  {done.returncode}  {done.stdout.splitlines()[0]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--pairs", type=int, default=20, help="identical pairs of each program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options.build, folder)
        slow = ("slower",)
        for name, words in (("identical RT-DETR", NETWORK), ("identical GPU-bound", GPU_BOUND)):
            program = "rtdetr" if words is NETWORK else "case_starved"
            before = runs.run(program, *words)
            for _ in range(options.pairs):
                after = runs.run(program, *words)
                runs.pair(name, before, after, ("same",), (0,))
                before = after
        runs.pair("kernel 3 % slower", runs.run("case_starved", *GPU_BOUND, "--step-ms", "3"),
                  runs.run("case_starved", *GPU_BOUND, "--step-ms", "3.09"), slow, (1,))
        runs.pair("host 10 % slower", runs.run("case_starved", *FEW_LOADERS, "--image-ms", "6"),
                  runs.run("case_starved", *FEW_LOADERS, "--image-ms", "6.6"), slow, (1,))
        runs.pair("one loader, eight pinned", runs.run("case_starved", *FEW_LOADERS),
                  runs.run("case_starved", "--steps", "120", "--copy", "pinned", "--batch", "4"), ("faster",), (0,))
        runs.pair("graph off, on", runs.run("rtdetr", *NETWORK, "--graph", "off"),
                  runs.run("rtdetr", *NETWORK, "--graph", "on"), ("faster",), (0, 1))
        runs.pair("graph on, off", runs.run("rtdetr", *NETWORK, "--graph", "on"),
                  runs.run("rtdetr", *NETWORK, "--graph", "off"), slow, (1,))
    print(f"{runs.wrong} wrong")
    return 1 if runs.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
