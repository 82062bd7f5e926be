# SPDX-License-Identifier: Apache-2.0
"""Makes the packages of Rangefinder, from a clean clone to dist/.

    python3 tools/package [--out dist] [--build build-package]

    rangefinder-X.Y.Z-cp39-abi3-manylinux_2_34_x86_64.whl     rangefinder-X.Y.Z-linux-x86_64.tar.gz
    rangefinder_X.Y.Z_amd64.deb                              rangefinder-viewer-X.Y.Z-linux-x86_64.tar.gz
    rangefinder-X.Y.Z-linux-x86_64-debug.tar.gz              rangefinder-X.Y.Z.spdx.json, SHA256SUMS

Debian 12, because a package runs on systems with the same C library or a newer one, and tests/package checks the limit.
The bytes depend on the sources, the compiler and SOURCE_DATE_EPOCH only (default: the time of the last commit).
"""
import argparse
import os
import shutil
import subprocess
import sys

import archives
import deb
import notices
import sbom
import tree
import wheel
from archives import sha256


def pack(build, out):
    """Packs what is built in `build` into the empty folder `out`."""
    version, epoch = tree.version(), tree.epoch()
    trees = tree.install(build)
    wheel.write(out, trees["rangefinder"], version, epoch)
    deb.write(out, trees["rangefinder"], version, epoch, build)
    for name, folder in trees.items():
        archives.write_tar(os.path.join(out, f"{name}-{version}-linux-x86_64.tar.gz"), folder, f"{name}-{version}", epoch)
    archives.write_tar(os.path.join(out, f"rangefinder-{version}-linux-x86_64-debug.tar.gz"),
                       os.path.join(build, "debug"), "debug", epoch)
    packages = [(name, sha256(os.path.join(out, name))) for name in sorted(os.listdir(out))]
    with open(os.path.join(out, f"rangefinder-{version}.spdx.json"), "w", encoding="utf-8") as file:
        file.write(sbom.sbom(version, notices.versions(), packages, epoch))
    with open(os.path.join(out, "SHA256SUMS"), "w", encoding="utf-8") as file:
        for name in sorted(os.listdir(out)):
            if name != "SHA256SUMS":
                file.write(f"{sha256(os.path.join(out, name))}  {name}\n")


def system():
    """Name and version, as in "debian 12"; empty: unknown."""
    try:
        with open("/etc/os-release", encoding="utf-8") as file:
            entries = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
    except OSError:
        return ""
    return f"{entries.get('ID', '')} {entries.get('VERSION_ID', '')}".replace('"', "")


def main():
    parser = argparse.ArgumentParser(prog="python3 tools/package", description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="dist", help="folder of the packages; it is emptied [dist]")
    parser.add_argument("--build", default="build-package", help="folder of the build [build-package]")
    options = parser.parse_args()
    out, build = os.path.abspath(options.out), os.path.abspath(options.build)
    if system() != "debian 12":
        sys.exit(f"tools/package: packages are made on Debian 12, whose C library and sources they are for; this is {system()}")
    if subprocess.run([os.path.join(tree.ROOT, "tools/setup"), "--package"], check=False).returncode != 0:
        sys.exit("tools/package: tools/setup --package failed, see above")
    os.makedirs(build, exist_ok=True)
    log = os.path.join(build, "package.log")
    open(log, "w", encoding="utf-8").close()
    tree.build(build, os.path.join(build, "downloads"), log)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    pack(build, out)
    for name in sorted(os.listdir(out)):
        print(f"{os.path.getsize(os.path.join(out, name)):>12,}  {name}")


if __name__ == "__main__":
    main()
