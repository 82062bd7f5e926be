# SPDX-License-Identifier: Apache-2.0
"""The wheel: the tree as package data, a command that starts its program, and the package `rangefinder`.

    rangefinder/__init__.py _range.abi3.so … _tree/{bin,lib/rangefinder,share}
    rangefinder_torch.py rangefinder_control.py   old names of modules, for one release
    rangefinder-X.Y.Z.data/data/share/            manual pages and completions, where the environment has its own
    rangefinder-X.Y.Z.dist-info/

Format: Binary distribution format, PyPA specifications. Nothing of NVIDIA's is inside: pip installs nvidia-cuda-cupti.
"""
import base64
import hashlib
import os
import time
import zipfile

import tree
from archives import mode

TAG = "cp39-abi3-manylinux_2_34_x86_64"
CUPTI = "nvidia-cuda-cupti>=13.0.85,<14"
DATA = ("man", "bash-completion", "zsh", "fish")

METADATA = """\
Metadata-Version: 2.1
Name: rangefinder
Version: {version}
Summary: GPU time, DRAM and L2 bytes of every NVTX range of any CUDA program
License: Apache-2.0
License-File: LICENSE
License-File: THIRD-PARTY-NOTICES
Keywords: CUDA,GPU,profiler,NVTX,CUPTI,PyTorch
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Intended Audience :: Developers
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development
Requires-Python: >=3.9
Requires-Dist: {cupti}
Description-Content-Type: text/markdown

{readme}"""


def _readme():
    """Title and first paragraph of the README, and what to type: links that leave the package would be dead."""
    with open(os.path.join(tree.ROOT, "README.md"), encoding="utf-8") as file:
        opening = file.read().split("\n\n")[:2]
    return "\n\n".join(opening) + "\n\n`rangefinder doctor` checks this machine; " \
        "`rangefinder report --example` shows a recorded trace; `rangefinder run -- ./app` traces a program.\n"


def _contents(folder, version):
    """Name in the wheel to (contents, mode)."""
    info, data = f"rangefinder-{version}.dist-info", f"rangefinder-{version}.data/data"
    out = {}

    def add(name, path, permissions=None):
        with open(path, "rb") as file:
            out[name] = file.read(), permissions or mode(path)

    for name, path in tree.files(folder):
        add(f"rangefinder/_tree/{name}", path)
        if name.startswith("share/") and name.split("/")[1] in DATA:
            add(f"{data}/{name}", path)
    for name, path in tree.python_modules(folder):
        add(name, path)
    documents = os.path.join(folder, "share/doc/rangefinder")
    for name in ("LICENSE", "THIRD-PARTY-NOTICES"):
        add(f"{info}/{name}", os.path.join(documents, name))
    metadata = METADATA.format(version=version, cupti=CUPTI, readme=_readme())
    out[f"{info}/METADATA"] = metadata.encode(), 0o644
    out[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: rangefinder tools/package\nRoot-Is-Purelib: false\n"
                            f"Tag: {TAG}\n").encode(), 0o644
    out[f"{info}/entry_points.txt"] = b"[console_scripts]\nrangefinder = rangefinder._command:main\n", 0o644
    return out, info


def _hash(contents):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()


def write(out_folder, folder, version, epoch):
    """Writes the wheel of the tree `folder` into `out_folder`. Returns its path."""
    contents, info = _contents(folder, version)
    record = [f"{name},{_hash(data)},{len(data)}\n" for name, (data, _) in sorted(contents.items())]
    record.append(f"{info}/RECORD,,\n")
    contents[f"{info}/RECORD"] = "".join(record).encode(), 0o644
    path = os.path.join(out_folder, f"rangefinder-{version}-{TAG}.whl")
    # The specification wants dist-info at the end.
    names = sorted(contents, key=lambda name: (name.startswith(info), name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in names:
            data, permissions = contents[name]
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.external_attr = (0o100000 | permissions) << 16
            entry.create_system = 3  # Unix, or the mode does not count
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return path
