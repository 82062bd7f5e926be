# SPDX-License-Identifier: Apache-2.0
"""Third-party parts of the packages: third_party.json, their versions, and the text THIRD-PARTY-NOTICES.

notices.py OUT     writes the text

A component of third_party.json is recognised by the Debian package (`debian`, a glob) that its header or archive comes
from, by the Debian source package that is compiled (`source`), by its folder in the CUDA Toolkit (`toolkit`), or by its
name in the page's lock file (`npm`). Versions are not stored: they are those of the machine that makes the package.
A component with a licence of its own `inside` another one has that one's version. `licence` is the one that we use it
under; `declared` is what its authors offer, where that is more. A LicenseRef-NAME is the text licences/NAME.txt.
"""
import json
import os
import re
import subprocess
import sys

import sources

HERE = os.path.dirname(os.path.abspath(__file__))
UNKNOWN = "unknown version"
RULE = "-" * 80


def components():
    """The table, of what packages contain and what only source builds use, by name."""
    with open(os.path.join(HERE, "third_party.json"), encoding="utf-8") as file:
        return sorted(json.load(file), key=lambda entry: entry["name"].lower())


def npm_packages():
    """Name to version of what the page contains: the lock file without tools of the build."""
    with open(os.path.join(HERE, "../web/package-lock.json"), encoding="utf-8") as file:
        packages = json.load(file)["packages"]
    return {path.split("node_modules/")[-1]: entry["version"] for path, entry in packages.items()
            if path and not any(entry.get(flag) for flag in ("dev", "devOptional", "optional"))}


def _debian_version(pattern):
    """Of the installed Debian package; of several that match, the newest."""
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", pattern], capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        return UNKNOWN
    versions = done.stdout.split()
    return sorted(versions)[-1] if versions else UNKNOWN


def _nvtx_version():
    toolkit = subprocess.run([os.path.join(HERE, "../setup"), "--toolkit"], capture_output=True, text=True, check=False)
    try:
        with open(os.path.join(toolkit.stdout.strip(), "include/cuda.h"), encoding="utf-8") as file:
            number = int(re.search(r"#define CUDA_VERSION (\d+)", file.read()).group(1))
    except (OSError, AttributeError):
        return UNKNOWN
    return f"3 of CUDA Toolkit {number // 1000}.{number % 1000 // 10}"


def versions():
    """Name of each component to its version."""
    npm, pinned, out = npm_packages(), sources.pinned(), {}
    for entry in components():
        if "npm" in entry:
            out[entry["name"]] = npm.get(entry["npm"], UNKNOWN)
        elif "source" in entry:
            out[entry["name"]] = pinned[entry["source"]]["version"]
        elif "toolkit" in entry:
            out[entry["name"]] = _nvtx_version()
        elif "debian" in entry:
            out[entry["name"]] = _debian_version(entry["debian"])
    for entry in components():
        if "inside" in entry:
            out[entry["name"]] = out[entry["inside"]]
    return out


def licence_text(name):
    """The file licences/`name`, without empty lines at its end."""
    with open(os.path.join(HERE, "licences", name), encoding="utf-8") as file:
        return file.read().rstrip()


def notices(found):
    """The text. `found`: name to version."""
    entries = [entry for entry in components() if entry.get("packaged", True)]
    lines = ["Rangefinder is licensed under the Apache License 2.0. Its packages contain these works of others. Nothing of",
             "NVIDIA's CUDA Toolkit is among them but the headers of NVTX. The start-up code, atexit and pthread_atfork of",
             "the GNU C Library are linked in, whose licence permits that without conditions.", ""]
    for entry in entries:
        version = f"of {entry['inside']} {found[entry['inside']]}" if "inside" in entry else found[entry["name"]]
        lines += [f"{entry['name']} {version}: {entry['licence']}", f"    {entry['use']}; {entry['homepage']}"]
    others = [entry for entry in components() if not entry.get("packaged", True)]
    lines += [""] + [f"Not in the packages: {entry['name']}, {entry['licence']}, {entry['use']}." for entry in others]
    for text in sorted({text for entry in components() for text in entry["texts"]}):
        users = [entry for entry in components() if text in entry["texts"]]
        lines += ["", RULE, ", ".join(entry["name"] for entry in users)]
        lines += [entry["copyright"] for entry in users if "copyright" in entry]
        lines += [RULE, "", licence_text(text)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out_file:
        out_file.write(notices(versions()))
