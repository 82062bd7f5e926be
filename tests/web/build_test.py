#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the built pages in the repository match the sources: build_test.py REPOSITORY [--rebuild]

Without --rebuild: compares the digest in the pages with that of the sources; needs no npm. With --rebuild: checks
types and format, and builds again. Exit code 77: node 20.19, or what `npm ci` installs, is missing.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77
OLDEST_NODE = (20, 19)
PAGES = ("page", "live")


def sources(web):
    """The same list as in build.mjs."""
    files = ["package.json", "package-lock.json", "tsconfig.json", "build.mjs"]
    files += [page + ".template.html" for page in PAGES]
    for folder, _, names in os.walk(os.path.join(web, "src")):
        files += [os.path.relpath(os.path.join(folder, name), web) for name in names]
    return sorted(files)


def digest_of_sources(web):
    digest = hashlib.sha256()
    for name in sources(web):
        with open(os.path.join(web, name), "rb") as file:
            digest.update(name.encode() + b"\0" + file.read() + b"\0")
    return digest.hexdigest()


def check_digest(web):
    ours = digest_of_sources(web)
    for page in PAGES:
        with open(os.path.join(web, "dist", page + ".html"), encoding="utf-8") as file:
            its = re.search(r'name="rangefinder-sources" content="([0-9a-f]{64})"', file.read(65536))
        if its is None or its[1] != ours:
            sys.exit(f"dist/{page}.html was not built from these sources: npm run build in tools/web")


def why_not(web):
    """The reason why the page cannot be built; None: it can."""
    node = shutil.which("node")
    if node is None:
        return "no node"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(int(part) for part in version.lstrip("v").split(".")[:2]) < OLDEST_NODE:
        return f"node {version} is too old: vite needs 20.19"
    if not os.path.isdir(os.path.join(web, "node_modules", "vite")):
        return "no vite: npm ci in tools/web"
    return None


def rebuild(web):
    reason = why_not(web)
    if reason is not None:
        print("skipped: " + reason)
        sys.exit(SKIPPED)
    for command in (["npm", "run", "--silent", "check"], ["node", "build.mjs", "--check"]):
        done = subprocess.run(command, cwd=web, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    web = os.path.join(sys.argv[1], "tools", "web")
    check_digest(web)
    if "--rebuild" in sys.argv[2:]:
        rebuild(web)


main()
