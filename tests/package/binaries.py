# SPDX-License-Identifier: Apache-2.0
"""What a binary of a package may need: libc, libm and libgcc_s, glibc 2.34 or older; and what it must not contain."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "rules"))
import library  # noqa: E402

#: libgcc_s of Debian 12's gcc 12; versions of newer compilers would be GCC_13.0.0 and later.
NEWEST_GCC = 12


def problems(path, build_folders):
    """Sentences about the ELF file `path`. `build_folders`: paths that must not be in it."""
    dynamic = library.readelf("-d", path)
    for name in library.needed(dynamic):
        if not library.LIBRARIES.match(name):
            yield f"{path} needs {name}"
    symbols = library.readelf("--dyn-syms", path)
    for name in library.too_new(symbols):
        yield f"{path} needs {name}"
    for version in set(re.findall(r"UND \S+@GCC_(\d+)", symbols)):
        if int(version) > NEWEST_GCC:
            yield f"{path} needs GCC_{version} of libgcc_s"
    for name in set(re.findall(r"UND \S+@((?:GLIBCXX|CXXABI)_\S+)", symbols)):
        yield f"{path} needs {name} of a shared libstdc++"
    for kind, value in re.findall(r"\((RPATH|RUNPATH)\).*\[(.+)\]", dynamic):
        yield f"{path} has {kind} {value}"
    text = subprocess.run(["strings", "-a", path], capture_output=True, text=True, check=True).stdout
    for folder in build_folders:
        if folder in text:
            yield f"{path} contains the build path {folder}"
