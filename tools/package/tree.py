# SPDX-License-Identifier: Apache-2.0
"""The installed tree that every package contains: built, installed, and separated from its debug information.

    sources ─▶ cmake ─▶ build-package/ ─▶ cmake --install ─▶ build-package/tree/rangefinder
                                                                  └─ debug information ─▶ build-package/debug
"""
import os
import re
import shutil
import subprocess

import sources

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGETS = ["rangefinder", "rangefinder_injection", "rangefinder_python", "rangefinder_man", "rangefinder_share",
           "rangefinder_viewer", "rangefinder_viewer_man"]
#: Name of a tree, and the component that CMake installs.
TREES = {"rangefinder": "Unspecified", "rangefinder-viewer": "viewer"}


def version():
    """X.Y.Z, from the one place that states it."""
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(rangefinder VERSION (\d+\.\d+\.\d+)", file.read()).group(1)


def epoch():
    """Seconds since 1970 that every file of a package gets: SOURCE_DATE_EPOCH, or the time of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    # Root may package the checkout of another user, as in a container.
    done = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "log", "-1", "--format=%ct"], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"tools/package: no time of the last commit ({done.stderr.strip()}).\n"
                         "  Set SOURCE_DATE_EPOCH to the seconds since 1970 that every file gets.")
    return int(done.stdout)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def build_id(path):
    """Of a program or library, in hexadecimal."""
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def files(folder):
    """(path relative to `folder`, absolute path) of every file, sorted."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            found.append((os.path.relpath(path, folder), path))
    return sorted(found)


def python_modules(folder):
    """(name in site-packages, absolute path) of the package `rangefinder` of a tree, and of the old names of its modules.

    Without _start: only `run` has that folder in PYTHONPATH, and it uses the tree's.
    """
    return [(name, path) for name, path in files(os.path.join(folder, "share/rangefinder/python"))
            if not name.startswith("rangefinder/_start/") and "__pycache__" not in name]


def separate(path, debug):
    """Moves the debug information of `path` to `debug`/.build-id/xx/rest.debug, where gdb looks for it."""
    number = build_id(path)
    target = os.path.join(debug, ".build-id", number[:2], number[2:] + ".debug")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", "--compress-debug-sections", path, target], check=True)
    subprocess.run(["strip", "--strip-unneeded", "--remove-section=.comment", path], check=True)
    os.chmod(target, 0o644)


def build(folder, cache, log):
    """Configures and builds the preset `package` in `folder`. `cache` keeps downloads. Output goes to the file `log`."""
    sources.fetch(cache, os.path.join(folder, "sources"))
    environment = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()), LC_ALL="C.UTF-8")
    toolkit = subprocess.run([os.path.join(ROOT, "tools/setup"), "--toolkit"], check=True, capture_output=True,
                             text=True).stdout.strip()
    jobs = subprocess.run([os.path.join(ROOT, "tools/jobs")], check=True, capture_output=True, text=True).stdout.strip()
    for name in ("CCACHE_BASEDIR", "CCACHE_NOHASHDIR"):
        environment.pop(name, None)  # with them objects may come from another folder, which their debug information names
    if shutil.which("ccache"):
        environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    for command in (["cmake", "--preset", "package", "-B", folder, f"-DRANGEFINDER_STATIC_SOURCES={folder}/sources",
                     f"-DCUDAToolkit_ROOT={toolkit}"],
                    ["cmake", "--build", folder, "-j", jobs, "--target", *TARGETS]):
        with open(log, "a", encoding="utf-8") as output:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"tools/package: {' '.join(command[:2])} failed; see {log}")


def install(folder):
    """Installs both trees below `folder`/tree, without debug information. Returns name of the tree to its folder."""
    out, debug = {}, os.path.join(folder, "debug")
    shutil.rmtree(debug, ignore_errors=True)
    for name, component in TREES.items():
        place = os.path.join(folder, "tree", name)
        shutil.rmtree(place, ignore_errors=True)
        subprocess.run(["cmake", "--install", folder, "--prefix", place, "--component", component], check=True,
                       stdout=subprocess.DEVNULL)
        for _, path in files(place):
            if is_elf(path):
                separate(path, debug)
        out[name] = place
    return out
