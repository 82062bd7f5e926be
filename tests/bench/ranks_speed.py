# SPDX-License-Identifier: Apache-2.0
"""ranks_speed.py TRACE OURS OTHER [--ranks 64] [--pairs 3]: CPU time and memory of `report` over many ranks.

TRACE: folder of one rank of a recorded job; its lines become those of all ranks, each with its own rank and process.
Runs `OURS report JOB`, and with the other binary `report JOB --section modules` and `--section findings`, in turn, and
prints the ratio of CPU times for each pair, its median and the largest resident set of ours.
"""
import argparse
import glob
import os
import statistics
import subprocess
import sys
import tempfile


def make_job(trace, ranks, out):
    lines = []
    for file in sorted(glob.glob(os.path.join(glob.escape(trace), "trace-*.ndjson"))):
        with open(file, encoding="utf-8") as text:
            lines += text.read().splitlines(keepends=True)
    for rank in range(ranks):
        folder = os.path.join(out, f"host=node{rank // 8}", f"rank={rank}", f"pid={1000 + rank}")
        os.makedirs(folder)
        header = lines[0].replace('"rank":"0"', f'"rank":"{rank}"').replace('"rank":"1"', f'"rank":"{rank}"')
        with open(os.path.join(folder, "trace-00000.ndjson"), "w", encoding="utf-8") as text:
            text.write(header)
            text.writelines(lines[1:])
    return sum(line.startswith('{"t":"kernel"') for line in lines)


def cpu_s(command):
    """(CPU seconds, KiB resident) of the command."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: {child.returncode}\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("trace", "ours", "other"):
        parser.add_argument(name)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        kernels = make_job(options.trace, options.ranks, out)
        print(f"{options.ranks} ranks of {kernels} kernels")
        ratios, resident = [], 0
        for _ in range(options.pairs):
            ours, kib = cpu_s([options.ours, "report", out])
            other = sum(cpu_s([options.other, "report", out, "--section", section])[0] for section in ("modules", "findings"))
            ratios.append(ours / other)
            resident = max(resident, kib)
            print(f"ours {ours:.2f} s, other {other:.2f} s: {ratios[-1]:.3f}", flush=True)
    print(f"median {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), {resident / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
