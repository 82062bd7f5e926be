#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/release checks before it makes a release. release_test.py REPOSITORY"""
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.abspath(sys.argv.pop())
loader = importlib.machinery.SourceFileLoader("release", os.path.join(REPOSITORY, "tools", "release"))
release = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
loader.exec_module(release)
sys.path.insert(0, os.path.join(REPOSITORY, "tools", "package"))
import wheel  # noqa: E402

CMAKE = "project(rangefinder VERSION 1.2.3 LANGUAGES C CXX)\n"
CHANGELOG = "# Changelog\n\nFor users.\n\n## 1.2.3 · 2026-11-26\n\n* One change.\n\n## 1.2.2 · 2026-10-01\n\n* Another.\n"


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Release(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("CMakeLists.txt", CMAKE)
        self.write("CHANGELOG.md", CHANGELOG)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "all")

    def write(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", self.root, *arguments], check=True)

    def test_a_complete_tree_has_no_problem(self):
        self.assertEqual(release.problems(self.root, "1.2.3"), [])

    def test_another_version_in_cmake(self):
        self.assertIn("CMakeLists.txt says 1.2.3, not 1.3.0: change it there", release.problems(self.root, "1.3.0"))

    def test_a_changelog_without_the_version_its_date_or_an_entry(self):
        for text in (CHANGELOG.replace("1.2.3", "1.2.4"), CHANGELOG.replace(" · 2026-11-26", ""),
                     CHANGELOG.replace("* One change.\n", "")):
            self.assertIn("CHANGELOG.md", release.changelog_problem("1.2.3", text))

    def test_uncommitted_changes(self):
        self.write("new", "x")
        self.assertEqual(release.problems(self.root, "1.2.3"), ["there are uncommitted changes"])

    def test_a_tag_of_another_commit(self):
        self.git("tag", "-a", "v1.2.3", "-m", "x")
        self.assertEqual(release.problems(self.root, "1.2.3"), [])
        self.write("new", "x")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "later")
        self.assertEqual(release.problems(self.root, "1.2.3"), ["the tag v1.2.3 names another commit"])

    def test_programs_and_rights_that_the_tests_of_the_packages_need(self):
        self.assertEqual(release.machine_problems(lambda name: name, lambda: 0), [])
        self.assertEqual(release.machine_problems(lambda name: name if name == "git" else None, lambda: 1000),
                         ["debootstrap and buildah missing: apt-get install debootstrap buildah",
                          "the tests of the packages need root"])

    def test_the_version_is_stated_once(self):
        with open(os.path.join(REPOSITORY, "CMakeLists.txt"), encoding="utf-8") as file:
            version = file.read().split("project(rangefinder VERSION ")[1].split()[0]
        listed = subprocess.run(["git", "-C", REPOSITORY, "grep", "-lF", f'"{version}"', "--", "tools", "profiler", "injection",
                                 "schema/*.h", "cmake"], capture_output=True, text=True, check=False).stdout.split()
        self.assertEqual([name for name in listed if not name.endswith("package-lock.json")], [])

    def test_documents_name_the_packages_that_are_made(self):
        with open(os.path.join(REPOSITORY, "CMakeLists.txt"), encoding="utf-8") as file:
            version = file.read().split("project(rangefinder VERSION ")[1].split()[0]
        made = {f"rangefinder-{version}", f"rangefinder-{version}-{wheel.TAG}.whl", f"rangefinder_{version}_amd64.deb",
                f"rangefinder-{version}-linux-x86_64.tar.gz", f"rangefinder-viewer-{version}-linux-x86_64.tar.gz"}
        for document in ("README.md", "docs/install.md"):
            with open(os.path.join(REPOSITORY, document), encoding="utf-8") as file:
                named = set(re.findall(r"rangefinder(?:-viewer)?[-_]\d[\w.-]*\w", file.read()))
            self.assertEqual(named - made, set(), document)
            self.assertIn(f"rangefinder-{version}-{wheel.TAG}.whl", named)


if __name__ == "__main__":
    unittest.main()
