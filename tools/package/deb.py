# SPDX-License-Identifier: Apache-2.0
"""The Debian package: the tree below /usr, with Debian's folders for libraries, Python modules and completions."""
import gzip
import os
import shutil
import subprocess

import tree
from archives import mode

LIBRARIES = "usr/lib/x86_64-linux-gnu/rangefinder"
MODULES = "usr/lib/python3/dist-packages"

CONTROL = """\
Package: rangefinder
Version: {version}
Architecture: amd64
Maintainer: Rangefinder developers <rangefinder@example.org>
Installed-Size: {size}
Depends: libc6 (>= 2.34), libgcc-s1
Recommends: python3
Suggests: cuda-cupti-13-0
Section: devel
Priority: optional
Description: GPU time, DRAM and L2 bytes of every NVTX range of any CUDA program
 A profiler that is loaded into any CUDA program and measures how long each
 part of it runs on the GPU, and how many bytes it moves through DRAM and L2,
 inside of CUDA graph replays too. A part is an NVTX range.
 .
 To trace a program it needs an NVIDIA driver for CUDA 13 and CUPTI 13.0
 Update 1 or a later 13.x.
"""

#: Python may have compiled the modules since.
PRERM = f"""\
#!/bin/sh
set -e
find /{MODULES}/rangefinder /usr/share/rangefinder/python -depth -name __pycache__ -exec rm -rf {{}} +
rm -f /{MODULES}/__pycache__/rangefinder_*.pyc
"""


def _copy(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)
    os.chmod(target, mode(source))


def _compress(path):
    """As Debian's policy wants for manual pages and changelogs; without a name or time inside."""
    with open(path, "rb") as file:
        data = file.read()
    with open(path + ".gz", "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped:
        zipped.write(data)
    os.remove(path)


def _place(name):
    """Where a file of the tree goes, below the root; None: nowhere."""
    if name.startswith("bin/"):
        return None  # the launcher: Debian checks the version of the C library
    if name.startswith("lib/rangefinder/"):
        return f"{LIBRARIES}/{os.path.basename(name)}"
    if name.startswith("share/zsh/site-functions/"):
        return f"usr/share/zsh/vendor-completions/{os.path.basename(name)}"
    return f"usr/{name}"


def _fill(root, folder):
    for name, path in tree.files(folder):
        place = _place(name)
        if place is not None:
            _copy(path, os.path.join(root, place))
    for name, path in tree.python_modules(folder):
        _copy(path, os.path.join(root, MODULES, name))
    os.makedirs(os.path.join(root, "usr/bin"))
    os.symlink(os.path.relpath(f"{LIBRARIES}/rangefinder", "usr/bin"), os.path.join(root, "usr/bin/rangefinder"))
    documents = os.path.join(root, "usr/share/doc/rangefinder")
    with open(os.path.join(documents, "copyright"), "w", encoding="utf-8") as out:
        for name in ("LICENSE", "THIRD-PARTY-NOTICES"):
            with open(os.path.join(documents, name), encoding="utf-8") as file:
                out.write(file.read() + "\n")
            os.remove(os.path.join(documents, name))
    os.rename(os.path.join(documents, "CHANGELOG.md"), os.path.join(documents, "changelog"))
    _compress(os.path.join(documents, "changelog"))
    pages = os.path.join(root, "usr/share/man/man1")
    for name in sorted(os.listdir(pages)):
        _compress(os.path.join(pages, name))


def write(out_folder, folder, version, epoch, work):
    """Writes the deb of the tree `folder` into `out_folder`, by way of `work`. Returns its path."""
    root = os.path.join(work, "deb")
    shutil.rmtree(root, ignore_errors=True)
    _fill(root, folder)
    size = sum((os.lstat(path).st_size + 1023) // 1024 for _, path in tree.files(root))
    control = os.path.join(root, "DEBIAN")
    os.makedirs(control)
    for name, text, permissions in (("control", CONTROL.format(version=version, size=size), 0o644),
                                    ("prerm", PRERM, 0o755)):
        with open(os.path.join(control, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(os.path.join(control, name), permissions)
    for place, folders, _ in os.walk(root):
        for name in folders:
            os.chmod(os.path.join(place, name), 0o755)
    os.chmod(root, 0o755)
    path = os.path.join(out_folder, f"rangefinder_{version}_amd64.deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "--build", root, path], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH=str(epoch)))
    return path
