# SPDX-License-Identifier: Apache-2.0
"""Exports and dependencies of librangefinder.so: it exports four functions, and needs only libraries that every
process has. It and the command line need no symbol of a C library that is newer than packages are for."""
import os
import re
import subprocess
import sys

import repository

EXPORTS = {"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2",
           "InitializeInjectionNvtxExtension"}
LIBRARIES = re.compile(r"^(libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|libgcc_s\.so\.1|ld-linux[\w-]*\.so\.\d)$")

NEWEST_GLIBC = (2, 34)
# From 2.38 on the headers name functions anew (strtol is __isoc23_strtol): what is compiled there runs there.
RENAMED_FROM = (2, 38)
SKIPPED = 77


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True).stdout


def exported(symbols):
    """Names that `readelf --dyn-syms` lists as defined and visible."""
    for line in symbols.splitlines():
        words = line.split()
        if len(words) >= 8 and words[0].rstrip(":").isdigit() and words[6] != "UND" and words[4] in ("GLOBAL", "WEAK"):
            yield words[7].split("@")[0]


def needed(dynamic):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def too_new(symbols):
    """NAME@GLIBC_VERSION of undefined symbols in the output of `readelf --dyn-syms` that need a newer glibc."""
    for name, version in re.findall(r"UND (\S+@GLIBC_([\d.]+))", symbols):
        if tuple(map(int, version.split("."))) > NEWEST_GLIBC:
            yield name


def oldest_libc(_files, options):
    ours = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2]))
    if ours >= RENAMED_FROM:
        print(f"skipped: this machine has glibc {'.'.join(map(str, ours))}; packages are made with an older one")
        sys.exit(SKIPPED)
    for path in filter(None, (options.injection_library, options.program)):
        for name in too_new(readelf("--dyn-syms", path)):
            yield path, f"needs {name}; packages are for glibc {'.'.join(map(str, NEWEST_GLIBC))}"


def exported_symbols(_files, options):
    names = set(exported(readelf("--dyn-syms", options.injection_library)))
    for name in sorted(names - EXPORTS):
        yield options.injection_library, f"exports {name}"
    for name in sorted(EXPORTS - names):
        yield options.injection_library, f"does not export {name}"


def needed_libraries(_files, options):
    for name in needed(readelf("-d", options.injection_library)):
        if not LIBRARIES.match(name):
            yield options.injection_library, f"needs {name}, which a host may not have"


if __name__ == "__main__":
    def arguments(parser):
        parser.add_argument("--library", dest="injection_library", required=True)
        parser.add_argument("--program")

    repository.run({"exported_symbols": exported_symbols, "needed_libraries": needed_libraries,
                    "oldest_libc": oldest_libc}, arguments)
