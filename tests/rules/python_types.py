# SPDX-License-Identifier: Apache-2.0
"""The package rangefinder has the types that it declares (py.typed): mypy, with tools/python/mypy.ini."""
import os
import re
import shutil
import subprocess
import sys

import repository

FOLDER = "tools/python"
ERROR = re.compile(r"^([^:\n]+):(\d+): error: (.*)$", re.MULTILINE)
SKIPPED = 77


def python_types(files):
    """Files with an error of mypy. Raises RuntimeError with its message if it fails without one."""
    done = subprocess.run(["mypy", "--config-file", "mypy.ini", "--cache-dir", os.devnull],
                          cwd=os.path.join(files.root, FOLDER), capture_output=True, text=True, check=False)
    found = ERROR.findall(done.stdout)
    if done.returncode != 0 and not found:
        raise RuntimeError(f"mypy failed ({done.returncode}): {(done.stdout + done.stderr)[:500]}")
    for path, line, message in found:
        yield f"{FOLDER}/{path}", f"line {line}: {message}"


if __name__ == "__main__":
    if shutil.which("mypy") is None:
        print("skipped: there is no mypy (tools/setup --all)")
        sys.exit(SKIPPED)
    repository.run({"python_types": python_types})
