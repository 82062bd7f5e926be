# SPDX-License-Identifier: Apache-2.0
"""Fetches the Debian source packages of sources.json, checks their hashes, and unpacks them.

Debian's libraries of simdjson and cpp-httplib are shared, and need a shared libstdc++, OpenSSL and brotli. From source
they need nothing. The versions are those of Debian 12, with Debian's patches.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from archives import sha256

HERE = os.path.dirname(os.path.abspath(__file__))
APT = "/etc/apt"


def pinned():
    """The table: component to source package, version, and SHA-256 of each file."""
    with open(os.path.join(HERE, "sources.json"), encoding="utf-8") as file:
        return json.load(file)


def wrong_files(folder, hashes):
    """Names of the files of `hashes` (name to SHA-256) that `folder` lacks or has with other contents."""
    paths = {name: os.path.join(folder, name) for name in hashes}
    return [name for name, path in paths.items() if not os.path.isfile(path) or sha256(path) != hashes[name]]


def source_lists(texts):
    """apt's lists of binary packages (`texts`: file name to contents) as lists of source packages."""
    out = {}
    for name, text in texts.items():
        if name.endswith(".sources"):
            out[name] = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M)
        elif name.endswith(".list"):
            out[name] = "".join(re.sub(r"^\s*deb(-src)?\s", "deb-src ", line) + "\n" for line in text.splitlines())
    return out


def _apt_texts():
    places = [os.path.join(APT, "sources.list")]
    parts = os.path.join(APT, "sources.list.d")
    places += [os.path.join(parts, name) for name in sorted(os.listdir(parts))] if os.path.isdir(parts) else []
    texts = {}
    for place in places:
        if os.path.isfile(place):
            with open(place, encoding="utf-8") as file:
                texts[os.path.basename(place)] = file.read()
    return texts


def _download(entry, folder):
    """One source package into `folder`, by apt, whose own lists and cache stay as they are."""
    with tempfile.TemporaryDirectory() as place:
        os.makedirs(os.path.join(place, "parts"))
        for name, text in source_lists(_apt_texts()).items():
            with open(os.path.join(place, "parts", name), "w", encoding="utf-8") as file:
                file.write(text)
        for name in ("lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(place, name))
        apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={place}/parts",
               "-o", f"Dir::State::lists={place}/lists", "-o", f"Dir::Cache={place}/cache",
               "-o", "APT::Sandbox::User=root"]
        for command in (["update"], ["source", "--download-only", f"{entry['source']}={entry['version']}"]):
            if subprocess.run(apt + command, cwd=folder, check=False, stdout=subprocess.DEVNULL).returncode != 0:
                raise SystemExit(f"tools/package: apt-get {command[0]} failed for {entry['source']} {entry['version']}.\n"
                                 f"  Without a network, put the files of sources.json into {folder}.")


def fetch(cache, out):
    """Unpacks every component to `out`/NAME. `cache` keeps the downloads. Raises SystemExit if a hash differs."""
    os.makedirs(cache, exist_ok=True)
    for name, entry in pinned().items():
        if wrong_files(cache, entry["sha256"]):
            _download(entry, cache)
        wrong = wrong_files(cache, entry["sha256"])
        if wrong:
            raise SystemExit(f"tools/package: {', '.join(wrong)}: not the file whose hash is in sources.json")
        folder = os.path.join(out, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(out, exist_ok=True)
        dsc = next(file for file in entry["sha256"] if file.endswith(".dsc"))
        # The hashes above say more than the signature, whose key may not be installed.
        subprocess.run(["dpkg-source", "--no-check", "--no-copy", "-x", os.path.join(cache, dsc), folder], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
