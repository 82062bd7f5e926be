#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/package/third_party.json against what is built: the archives of the link maps, the headers that were compiled,
the packages of the page's lock file. Also the notices and the SBOM.

third_party_test.py REPOSITORY BUILD       BUILD: a ninja build with rangefinder and rangefinder_injection
"""
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop())
REPOSITORY = os.path.abspath(sys.argv.pop())
sys.path.insert(0, os.path.join(REPOSITORY, "tools", "package"))

import notices  # noqa: E402
import sbom  # noqa: E402

#: Debian packages of the system itself: its C library, its kernel's headers, the compiler's own, Python's declarations.
SYSTEM = ("libc6-dev", "linux-libc-dev", "libgcc-*-dev", "libcrypt-dev", "libpython3*-dev")
#: Their archives whose licence permits static links without conditions. That of libc.a does not.
SYSTEM_ARCHIVES = {"libc_nonshared.a", "libgcc.a", "libgcc_eh.a"}
#: What Debian's shared cpp-httplib includes; packages compile its source without them.
OF_SHARED_HTTPLIB = ("libbrotli-dev", "libssl-dev")
#: Objects of these folders are in no package.
NOT_PACKAGED = ("tests/", "workloads/", "kernels/", "tools/replay/", "injection/mpi/")
OWN = ("/sources/simdjson/", "/sources/cpp-httplib/")


def linked(text):
    """Absolute paths of the archives in a link map of GNU ld from which something was taken."""
    return sorted(set(re.findall(r"^(/\S+\.a)\(", text, flags=re.M)))


def included(text):
    """Header to the objects that depend on it, of the output of `ninja -t deps`."""
    out, target = {}, ""
    for line in text.splitlines():
        if line.startswith("    "):
            out.setdefault(line.strip(), set()).add(target)
        elif ": #deps" in line:
            target = line.split(": #deps")[0]
    return out


def debian_packages(paths):
    """Path to the name of the Debian package that owns it. A path that no package owns is absent."""
    out = {}
    real = {os.path.realpath(path): path for path in paths}
    names = sorted(real)
    for at in range(0, len(names), 500):
        done = subprocess.run(["dpkg-query", "-S", *names[at:at + 500]], capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            owner, _, path = line.partition(": ")
            if path in real:
                out[real[path]] = owner.split(":")[0].split(",")[0]
    return out


def component(package, path):
    """Name of the component that `path` of a Debian package is of; None: a part of the system. Raises LookupError."""
    if any(fnmatch.fnmatch(package, pattern) for pattern in SYSTEM + OF_SHARED_HTTPLIB):
        return None
    for entry in notices.components():
        if fnmatch.fnmatch(package, entry.get("debian", "")):
            return entry["name"]
    raise LookupError(f"{path} of the Debian package {package} is not in tools/package/third_party.json")


def of_toolkit(path):
    """Whether a header, which no other package owns, is one of a CUDA Toolkit or of its CUPTI."""
    while os.path.dirname(path) != path:
        path = os.path.dirname(path)
        if any(os.path.exists(os.path.join(path, name)) for name in ("cuda.h", "cupti.h")):
            return True
    return False


class Parsers(unittest.TestCase):
    def test_archives_of_a_link_map(self):
        text = ("Archive member included to satisfy reference by file (symbol)\n\n/usr/lib/libzstd.a(decompress.o)\n"
                "                              own.o (ZSTD_f)\narchive/libours.a(a.o)\n\nLOAD /usr/lib/libunused.a\n"
                "LOAD /usr/lib/libm.so\nLOAD own.o\n")
        self.assertEqual(linked(text), ["/usr/lib/libzstd.a"])

    def test_headers_of_ninjas_log(self):
        text = "a.o: #deps 2, deps mtime 1 (VALID)\n    /usr/include/zstd.h\n    /r/b.h\n\nt.o: #deps 1, deps mtime 1 (VALID)\n    /r/b.h\n"
        self.assertEqual(included(text), {"/usr/include/zstd.h": {"a.o"}, "/r/b.h": {"a.o", "t.o"}})

    def test_a_package_without_entry_is_reported_by_name(self):
        self.assertEqual(component("libzstd-dev", "/usr/include/zstd.h"), "Zstandard")
        self.assertIsNone(component("libc6-dev", "/usr/include/stdio.h"))
        with self.assertRaisesRegex(LookupError, "/usr/include/new.h of the Debian package libnew-dev"):
            component("libnew-dev", "/usr/include/new.h")

    def test_a_toolkit_is_recognised_wherever_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "include/nvtx3"))
            self.assertFalse(of_toolkit(os.path.join(folder, "include/nvtx3/nvtx3.hpp")))
            open(os.path.join(folder, "include/cuda.h"), "w", encoding="utf-8").close()
            self.assertTrue(of_toolkit(os.path.join(folder, "include/nvtx3/nvtx3.hpp")))
            self.assertFalse(of_toolkit(os.path.join(folder, "other.h")))


class Table(unittest.TestCase):
    def test_every_component_has_its_licence(self):
        folder = os.path.join(REPOSITORY, "tools/package/licences")
        used = {text for entry in notices.components() for text in entry["texts"]}
        self.assertEqual(used, set(os.listdir(folder)))
        for name in used:
            self.assertGreater(os.path.getsize(os.path.join(folder, name)), 100, name)

    def test_licences_of_the_page_are_those_that_its_build_put_into_it(self):
        packages = notices.npm_packages()
        for name in ("page.html", "live.html"):
            with open(os.path.join(REPOSITORY, "tools/web/dist", name), encoding="utf-8") as file:
                page = file.read()
            for entry in notices.components():
                if "npm" in entry:
                    text = "\n".join(notices.licence_text(each) for each in entry["texts"])
                    self.assertIn(f"{entry['npm']} {packages[entry['npm']]}\n\n{text.strip()}\n", page)

    def test_what_is_inside_a_component_has_its_version(self):
        versions, names = notices.versions(), {entry["name"] for entry in notices.components() if "inside" not in entry}
        for entry in notices.components():
            if "inside" in entry:
                self.assertIn(entry["inside"], names)
                self.assertEqual(versions[entry["name"]], versions[entry["inside"]])

    def test_the_page_contains_what_the_lock_file_says(self):
        self.assertEqual({entry["npm"] for entry in notices.components() if "npm" in entry},
                         set(notices.npm_packages()))

    def test_notices_name_every_component_and_are_the_same_twice(self):
        versions = notices.versions()
        text = notices.notices(versions)
        self.assertEqual(text, notices.notices(versions))
        for entry in notices.components():
            self.assertIn(entry["name"], text)
            self.assertNotEqual(versions[entry["name"]], "")


@unittest.skipUnless(shutil.which("dpkg-query") and os.path.exists(os.path.join(BUILD, "build.ninja")),
                     "needs a ninja build on Debian or Ubuntu")
class Built(unittest.TestCase):
    def own(self, path):
        return next((mark.split("/")[2] for mark in OWN if mark in path), None)

    def test_every_archive_in_the_link_maps_has_an_entry(self):
        maps = [os.path.join(BUILD, "maps", f"{name}.map") for name in ("rangefinder", "rangefinder_injection")]
        extension = os.path.join(BUILD, "maps", "rangefinder_python_range.map")
        maps += [extension] if os.path.exists(extension) else []  # without Python.h it is not built
        found = set()
        for name in maps:
            with open(name, encoding="utf-8", errors="replace") as file:
                found |= set(linked(file.read()))
        found = {path for path in found if not os.path.realpath(path).startswith(os.path.realpath(BUILD) + "/")}
        owners = debian_packages(found)
        names = set()
        for path in sorted(found):
            package = owners.get(path)
            self.assertIsNotNone(package, f"{path} is linked, and no Debian package owns it")
            names.add(component(package, path))
            if component(package, path) is None:
                self.assertIn(os.path.basename(path), SYSTEM_ARCHIVES, f"{path}: its licence restricts static links")
        self.assertLessEqual({"Zstandard", "SQLite", "zlib", "libstdc++"}, names)

    def test_every_header_and_archive_has_an_entry_and_every_entry_is_used(self):
        text = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
        packaged = set()
        for path, objects in included(text).items():
            path = os.path.normpath(os.path.join(BUILD, path))
            own = self.own(path)
            if own:
                packaged.add(own)
            elif not path.startswith((REPOSITORY + "/", BUILD + "/")):
                if any(not name.startswith(NOT_PACKAGED) for name in objects):
                    packaged.add(path)
        names = {name for name in packaged if not name.startswith("/")}
        paths = {path for path in packaged if path.startswith("/")}
        owners = debian_packages(paths)
        for path in sorted(paths):
            if of_toolkit(path) if path not in owners else owners[path].startswith("cuda-"):
                if "/nvtx3/" in path:
                    names.add("NVTX")
                continue  # the toolkit's declarations: nothing of them is in a package
            self.assertTrue(path in owners, f"{path} is compiled in, and no Debian package owns it")
            names.add(component(owners[path], path))
        unused = {entry["name"] for entry in notices.components()
                  if entry.get("packaged", True) and "npm" not in entry and "inside" not in entry} - names
        self.assertEqual(unused, set())
        built_only = {entry["name"] for entry in notices.components() if not entry.get("packaged", True)}
        self.assertFalse(built_only & names, "a package contains what is said to be in source builds only")


class Sbom(unittest.TestCase):
    def test_the_document_has_what_spdx_requires_and_is_the_same_twice(self):
        versions = {entry["name"]: "1" for entry in notices.components()}
        arguments = ("1.2.3", versions, [("rangefinder.whl", "ab" * 32)], 1_700_000_000)
        text = sbom.sbom(*arguments)
        self.assertEqual(text, sbom.sbom(*arguments))
        document = json.loads(text)
        self.assertEqual((document["spdxVersion"], document["dataLicense"], document["SPDXID"]),
                         ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertEqual(document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertTrue(document["documentNamespace"].startswith("https://"))
        ids = {"SPDXRef-DOCUMENT"} | {item["SPDXID"] for item in document["packages"] + document["files"]}
        self.assertEqual(len(ids), 1 + len(document["packages"]) + len(document["files"]))
        for relation in document["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]}, ids)
        for identifier in ids:
            self.assertRegex(identifier, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for package in document["packages"]:
            self.assertLessEqual({"name", "versionInfo", "downloadLocation", "licenseConcluded"}, package.keys())
        texts = {item["licenseId"] for item in document["hasExtractedLicensingInfos"] if item["extractedText"]}
        for package in document["packages"]:
            for name in re.findall(r"LicenseRef-[\w.-]+", package["licenseConcluded"] + " " + package["licenseDeclared"]):
                self.assertIn(name, texts)
        names = {package["name"] for package in document["packages"]}
        self.assertLessEqual({entry["name"] for entry in notices.components() if entry.get("packaged", True)}, names)

    def test_another_release_has_another_namespace(self):
        versions = {entry["name"]: "1" for entry in notices.components()}
        one, two = (json.loads(sbom.sbom(version, versions, [], 0))["documentNamespace"] for version in ("1.0.0", "1.0.1"))
        self.assertNotEqual(one, two)


if __name__ == "__main__":
    unittest.main()
