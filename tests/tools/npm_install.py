# SPDX-License-Identifier: Apache-2.0
"""Installs npm packages for a test: `node_modules` in its folder of the build, once per lock file.

A test without node, without npm or without a registry is skipped, with the reason.
"""
import shutil
import subprocess
import sys

SKIPPED = 77
_PACKAGES = ("package.json", "package-lock.json")


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIPPED)


def install(package, program, home, work):
    """Installs `package` by the lock file in `home` into `work`, with a copy of `program`, if there is one."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        skip("there is no node or no npm")
    work.mkdir(parents=True, exist_ok=True)
    stale = any(not (work / name).exists() or (work / name).read_bytes() != (home / name).read_bytes()
                for name in _PACKAGES)
    for name in (*_PACKAGES, *([program] if program else [])):
        shutil.copy(home / name, work / name)
    if not stale and (work / "node_modules" / package).is_dir():
        return
    try:
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, text=True,
                              capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        skip("npm reaches no registry: no answer in two minutes")
    if done.returncode != 0:
        shutil.rmtree(work / "node_modules", ignore_errors=True)
        (work / "package.json").unlink()
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["npm ci failed"]
        skip(f"npm could not install {package}: " + lines[0])
