#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tools/package writes, of a small tree: archives, wheel, deb, the launcher, downloads. The packages themselves:
installed.py, in tests/nightly.

package_test.py REPOSITORY
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

REPOSITORY = os.path.abspath(sys.argv.pop())
PACKAGE = os.path.join(REPOSITORY, "tools", "package")
sys.path.insert(0, PACKAGE)

import archives  # noqa: E402
import deb  # noqa: E402
import sources  # noqa: E402
import wheel  # noqa: E402

EPOCH = 1_700_000_000


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def tree(self, name="tree"):
        """A tree with a file of each place that the packages treat in their own way."""
        root = os.path.join(self.folder, name)
        shutil.copy(os.path.join(PACKAGE, "launcher"), self.made(root, "bin/rangefinder"))
        write(os.path.join(root, "lib/rangefinder/rangefinder"), "#!/bin/sh\necho started \"$@\"\n", 0o755)
        write(os.path.join(root, "lib/rangefinder/librangefinder.so"), "library")
        for name in ("share/man/man1/rangefinder.1", "share/zsh/site-functions/_rangefinder",
                     "share/doc/rangefinder/LICENSE", "share/doc/rangefinder/THIRD-PARTY-NOTICES",
                     "share/doc/rangefinder/CHANGELOG.md"):
            write(os.path.join(root, name), name + "\n")
        modules = os.path.join(root, "share/rangefinder/python")
        shutil.copytree(os.path.join(REPOSITORY, "tools/python"), modules,
                        ignore=lambda _, names: [n for n in names if not n.endswith(".py") and "." in n or n in ("__pycache__", "python_api.py")])
        opening = os.path.join(modules, "rangefinder/__init__.py")
        with open(opening, encoding="utf-8") as file:
            write(opening, file.read().replace("@VERSION@", "1.2.3"))  # as CMake does
        return root

    def made(self, root, name):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def launch(self, libc, root=None):
        """The launcher of a tree on a system whose getconf prints `libc`."""
        bin_folder = os.path.join(self.folder, "path")
        write(os.path.join(bin_folder, "getconf"), f"#!/bin/sh\necho '{libc}'\n", 0o755)
        return subprocess.run([os.path.join(root or self.tree(), "bin/rangefinder"), "report", "a b"], text=True,
                              env={"PATH": f"{bin_folder}:{os.environ['PATH']}"}, capture_output=True, check=False)


class Launcher(InFolder):
    def test_starts_the_program_with_its_arguments(self):
        done = self.launch("glibc 2.34")
        self.assertEqual((done.returncode, done.stdout), (0, "started report a b\n"))

    def test_through_a_symbolic_link(self):
        link = os.path.join(self.folder, "elsewhere")
        os.symlink(os.path.join(self.tree(), "bin/rangefinder"), link)
        self.assertEqual(subprocess.run([link], capture_output=True, text=True, check=True).stdout, "started\n")

    def test_says_what_an_older_system_lacks(self):
        done = self.launch("glibc 2.31")
        self.assertEqual(done.returncode, 3)
        self.assertIn("rangefinder needs glibc 2.34 or newer; this system has glibc 2.31.", done.stderr)

    def test_says_what_a_system_with_another_c_library_lacks(self):
        self.assertIn("this system has another C library", self.launch("").stderr)


class Archives(InFolder):
    def test_two_archives_of_one_tree_are_equal_whatever_the_times_and_the_umask(self):
        paths = []
        for name in ("a", "b"):
            root = self.tree(name)
            if name == "b":
                os.chmod(os.path.join(root, "share"), 0o700)
                os.utime(os.path.join(root, "bin/rangefinder"), (1, 1))
            paths.append(os.path.join(self.folder, name + ".tar.gz"))
            archives.write_tar(paths[-1], root, "rangefinder-1.2.3", EPOCH)
        with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
            self.assertEqual(first.read(), second.read())

    def test_everything_is_below_one_folder_and_belongs_to_root(self):
        path = os.path.join(self.folder, "t.tar.gz")
        archives.write_tar(path, self.tree(), "rangefinder-1.2.3", EPOCH)
        with tarfile.open(path) as archive:
            members = {member.name: member for member in archive.getmembers()}
        self.assertTrue(all(name.split("/")[0] == "rangefinder-1.2.3" for name in members))
        self.assertEqual({(m.uid, m.gid, m.mtime) for m in members.values()}, {(0, 0, EPOCH)})
        self.assertEqual(members["rangefinder-1.2.3/lib/rangefinder/rangefinder"].mode, 0o755)
        self.assertEqual(members["rangefinder-1.2.3/lib/rangefinder/librangefinder.so"].mode, 0o644)


class Wheel(InFolder):
    def setUp(self):
        super().setUp()
        self.path = wheel.write(self.folder, self.tree(), "1.2.3", EPOCH)
        self.archive = zipfile.ZipFile(self.path)
        self.addCleanup(self.archive.close)

    def test_record_has_the_hash_of_every_file(self):
        record = self.archive.read("rangefinder-1.2.3.dist-info/RECORD").decode().splitlines()
        recorded = dict(line.split(",", 1) for line in record)
        self.assertEqual(sorted(recorded), sorted(self.archive.namelist()))
        for name, rest in recorded.items():
            if name.endswith("/RECORD"):
                continue
            data = self.archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual(rest, f"sha256={digest},{len(data)}", name)

    def test_programs_are_executable(self):
        entry = self.archive.getinfo("rangefinder/_tree/lib/rangefinder/rangefinder")
        self.assertEqual(entry.external_attr >> 16 & 0o777, 0o755)

    def test_depends_on_nvidias_package_and_contains_nothing_of_it(self):
        metadata = self.archive.read("rangefinder-1.2.3.dist-info/METADATA").decode()
        self.assertIn("Requires-Dist: nvidia-cuda-cupti>=13.0.85,<14\n", metadata)
        self.assertFalse([name for name in self.archive.namelist() if "libcupti" in name or "nvperf" in name])

    def test_no_sitecustomize_where_every_python_would_run_it(self):
        names = [name for name in self.archive.namelist() if name.endswith("sitecustomize.py")]
        self.assertEqual(names, ["rangefinder/_tree/share/rangefinder/python/rangefinder/_start/sitecustomize.py"])

    def test_top_level_names_are_the_package_and_its_old_modules(self):
        top = {name.split("/")[0] for name in self.archive.namelist()}
        self.assertEqual({name for name in top if "-" not in name},
                         {"rangefinder", "rangefinder_torch.py", "rangefinder_control.py"})
        self.assertIn("rangefinder/torch/hooks.py", self.archive.namelist())
        self.assertIn("Tag: cp39-abi3-manylinux_2_34_x86_64\n",
                      self.archive.read("rangefinder-1.2.3.dist-info/WHEEL").decode())

    def test_manual_pages_go_to_the_environments_share_too(self):
        self.assertIn("rangefinder-1.2.3.data/data/share/man/man1/rangefinder.1", self.archive.namelist())

    def test_command_passes_the_folder_of_cupti_and_becomes_the_program(self):
        site = os.path.join(self.folder, "site-packages")
        self.archive.extractall(site)
        for name in ("bin/rangefinder", "lib/rangefinder/rangefinder"):
            os.chmod(os.path.join(site, "rangefinder/_tree", name), 0o755)
        write(os.path.join(site, "rangefinder/_tree/lib/rangefinder/rangefinder"),
              '#!/bin/sh\necho "$RANGEFINDER_CUPTI_FOLDER" "$@"\n', 0o755)
        command = [sys.executable, "-B", "-m", "rangefinder", "report", "x"]
        environment = {"PYTHONPATH": site, "PATH": os.environ["PATH"]}
        self.assertEqual(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout,
                         " report x\n")
        write(os.path.join(site, "nvidia/cu13/lib/libcupti.so.13"), "")
        self.assertEqual(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout,
                         f"{site}/nvidia/cu13/lib report x\n")

    def test_python_finds_the_library(self):
        site = os.path.join(self.folder, "site-packages")
        self.archive.extractall(site)
        done = subprocess.run([sys.executable, "-B", "-c", "import rangefinder as r; print(r.__version__, r.injection_library())"],
                              env={"PYTHONPATH": site}, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"1.2.3 {site}/rangefinder/_tree/lib/rangefinder/librangefinder.so\n")


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb")
class Deb(InFolder):
    def test_contents_are_where_debian_has_them(self):
        path = deb.write(self.folder, self.tree(), "1.2.3", EPOCH, self.folder)
        listing = subprocess.run(["dpkg-deb", "-c", path], capture_output=True, text=True, check=True).stdout
        names = {line.split()[5][1:]: line for line in listing.splitlines()}
        for name in ("/usr/lib/x86_64-linux-gnu/rangefinder/rangefinder",
                     "/usr/lib/python3/dist-packages/rangefinder/torch/hooks.py",
                     "/usr/share/rangefinder/python/rangefinder/_start/sitecustomize.py", "/usr/share/man/man1/rangefinder.1.gz",
                     "/usr/share/zsh/vendor-completions/_rangefinder", "/usr/share/doc/rangefinder/copyright"):
            self.assertIn(name, names)
        self.assertIn("-> ../lib/x86_64-linux-gnu/rangefinder/rangefinder", names["/usr/bin/rangefinder"])
        self.assertFalse([name for name in names if "dist-packages" in name and "sitecustomize" in name])
        fields = subprocess.run(["dpkg-deb", "-f", path, "Depends", "Recommends"], capture_output=True, text=True,
                                check=True).stdout
        self.assertEqual(fields, "Depends: libc6 (>= 2.34), libgcc-s1\nRecommends: python3\n")


class Sources(InFolder):
    def test_a_file_with_another_hash_is_noticed(self):
        write(os.path.join(self.folder, "right"), "x")
        write(os.path.join(self.folder, "wrong"), "y")
        digest = hashlib.sha256(b"x").hexdigest()
        self.assertEqual(sources.wrong_files(self.folder, {"right": digest, "wrong": digest, "absent": digest}),
                         ["wrong", "absent"])

    def test_apts_lists_become_lists_of_sources(self):
        lists = sources.source_lists({"a.list": "deb http://host/x bookworm main\n",
                                      "b.sources": "Types: deb deb-src\nURIs: http://host/x\n", "c.save": "deb x"})
        self.assertEqual(lists, {"a.list": "deb-src http://host/x bookworm main\n",
                                 "b.sources": "Types: deb-src\nURIs: http://host/x\n"})


if __name__ == "__main__":
    unittest.main()
