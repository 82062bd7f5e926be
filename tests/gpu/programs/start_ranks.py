#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""start_ranks.py N program args: N processes with RANK, LOCAL_RANK and WORLD_SIZE, as a launcher starts them.

Exit code: the first that is not 0. Ends the others when one fails.
"""
import os
import subprocess
import sys


def main():
    count, command = int(sys.argv[1]), sys.argv[2:]
    ranks = []
    for rank in range(count):
        variables = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
        ranks.append(subprocess.Popen(command, env={**os.environ, **variables}))
    code = 0
    for rank in ranks:
        code = code or rank.wait()
        if code != 0:
            for other in ranks:
                other.terminate()
    return code


if __name__ == "__main__":
    sys.exit(main())
