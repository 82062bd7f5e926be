#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the packages of dist/ as a user would, each in an empty Debian, and uses them. Prints a line a check.

installed.py DIST BUILD [--roots FOLDER] [CHECK…]

DIST, BUILD: as given to tools/package. FOLDER keeps the empty systems between runs [BUILD/roots]. Needs root,
debootstrap and buildah. Exit code 1: a check failed; 77: this user cannot make such systems.
"""
import collections
import argparse
import filecmp
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import binaries

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(REPOSITORY, "tools", "package"))
import tree  # noqa: E402

MEGABYTE = 1_000_000
MAX_WHEEL_BYTES = 12 * MEGABYTE
MAX_FIRST_TABLE_S = 60
#: A row of the table of the recorded RT-DETR.
ROW = "encoder_input_proj"
#: Not from a package, and changed by apt itself.
APTS_OWN = ("/var/lib/dpkg/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/tmp/", "/proc/", "/run/", "/etc/ld.so.cache")


class Failed(Exception):
    """One sentence."""


def expect(holds, sentence):
    if not holds:
        raise Failed(sentence)


def run(command, **arguments):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, **arguments)


class System:
    """A copy of an empty Debian in a folder, entered by chroot in process and mount namespaces of its own."""

    def __init__(self, roots, suite, folder):
        self.root = os.path.join(folder, suite)
        empty = os.path.join(roots, suite)
        if not os.path.isdir(os.path.join(empty, "usr/bin")):
            os.makedirs(roots, exist_ok=True)
            done = run(["debootstrap", "--variant=minbase", suite, empty])
            if done.returncode != 0:
                shutil.rmtree(empty, ignore_errors=True)
                raise Failed(f"debootstrap {suite}: {done.stdout[-300:]}{done.stderr[-300:]}")
        subprocess.run(["cp", "-a", empty, self.root], check=True)
        shutil.copy("/etc/resolv.conf", os.path.join(self.root, "etc/resolv.conf"))

    def sh(self, script, fails=False):
        """Output of a shell script inside; Failed if it fails, unless that is expected."""
        inner = f"mount -t proc proc {self.root}/proc && exec chroot {self.root} /bin/sh -c \"$0\""
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/tmp", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive"}
        environment.update({name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")})
        done = run(["unshare", "--mount", "--pid", "--fork", "bash", "-c", inner, script], env=environment)
        if (done.returncode != 0) != fails:
            raise Failed(f"`{script}` in {os.path.basename(self.root)}: exit code {done.returncode}: "
                         f"{done.stdout[-400:]}{done.stderr[-400:]}")
        return done.stdout + done.stderr

    def put(self, path, place="/tmp"):
        """Copies a file of this machine into the system. Returns its path there."""
        os.makedirs(self.root + place, exist_ok=True)
        shutil.copy(path, self.root + place)
        return os.path.join(place, os.path.basename(path))

    def contents(self):
        found = set()
        for place, folders, names in os.walk(self.root):
            inside = place[len(self.root):] or "/"
            found |= {os.path.join(inside, name) for name in folders + names}
        return {path for path in found if not (path + "/").startswith(APTS_OWN)}


class Checks:
    """One method a check; its docstring is printed."""

    def __init__(self, options, folder):
        self.dist, self.build, self.folder = os.path.abspath(options.dist), os.path.abspath(options.build), folder
        self.roots = os.path.abspath(options.roots or os.path.join(options.build, "roots"))
        self.version = tree.version()
        self.tarball = self.package(f"rangefinder-{self.version}-linux-x86_64.tar.gz")

    def package(self, pattern):
        found = glob.glob(os.path.join(self.dist, pattern))
        expect(len(found) == 1, f"{pattern}: {len(found)} files in {self.dist}")
        return found[0]

    def system(self, suite):
        return System(self.roots, suite, tempfile.mkdtemp(dir=self.folder))

    def unpacked(self, path):
        out = tempfile.mkdtemp(dir=self.folder)
        if path.endswith(".whl"):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(out)
        elif path.endswith(".deb"):
            subprocess.run(["dpkg-deb", "-x", path, out], check=True)
        else:
            with tarfile.open(path) as archive:
                archive.extractall(out)
        return out

    def binaries(self):
        """every binary of every package needs libc, libm and libgcc_s only, glibc 2.34, and has no build path"""
        places = [self.package(name) for name in ("*.whl", "*.deb", "rangefinder-viewer-*.tar.gz")] + [self.tarball]
        names, found = collections.Counter(), []
        for place in places:
            for name, path in tree.files(self.unpacked(place)):
                if not os.path.islink(path) and tree.is_elf(path):
                    names[os.path.basename(name)] += 1
                    found += [f"{name}: {text}" for text in
                              binaries.problems(path, (REPOSITORY, self.build, os.path.expanduser("~")))]
        expect(not found, "; ".join(found))
        # The viewer has no library. Wheel and deb have the ranges in C twice: for `import`, and for programs under `run`.
        expected = {"rangefinder": 4, "librangefinder.so": 3, "_range.abi3.so": 5}
        expect(names == expected, f"{dict(names)} instead of {expected}")
        return f"{names.total()} binaries"

    def sums(self):
        """SHA256SUMS is right, and every package has its licences"""
        done = run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=self.dist)
        expect(done.returncode == 0, done.stdout + done.stderr)
        for name in ("*.whl", "*.deb", "rangefinder-viewer-*.tar.gz"):
            texts = [path for path, _ in tree.files(self.unpacked(self.package(name)))
                     if os.path.basename(path) in ("THIRD-PARTY-NOTICES", "copyright")]
            expect(texts, f"{name} has no notices")
        return ""

    def wheel(self):
        """wheel in an empty virtual environment of Debian 12: table, doctor with pip's CUPTI, manual, completion"""
        wheel = self.package("*.whl")
        size = os.path.getsize(wheel)
        expect(size <= MAX_WHEEL_BYTES, f"the wheel has {size / MEGABYTE:.1f} MB")
        system = self.system("bookworm")
        system.sh("apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv man-db bash-completion")
        system.sh("python3 -m venv /venv")
        path = system.put(wheel)
        begin = time.monotonic()
        system.sh(f"/venv/bin/pip install --no-index --no-deps {path}")
        table = system.sh("/venv/bin/rangefinder report --example")
        seconds = time.monotonic() - begin
        expect(ROW in table, f"no {ROW} in {table[:300]}")
        expect(seconds <= MAX_FIRST_TABLE_S, f"{seconds:.0f} s to the first table")
        expect("libcupti.so.13 was not found" in system.sh("/venv/bin/rangefinder doctor", fails=True),
               "doctor does not miss CUPTI")
        site = system.sh("/venv/bin/python -c 'import rangefinder, os; print(os.path.dirname(os.path.dirname(rangefinder.__file__)))'").strip()
        toolkit = run([os.path.join(REPOSITORY, "tools/setup"), "--toolkit"]).stdout.strip()
        for name in ("libcupti.so.13", "libnvperf_host.so", "libnvperf_target.so"):
            found = [path for folder in ("lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib")
                     for path in glob.glob(os.path.join(toolkit, folder, name))]
            system.put(found[0], f"{site}/nvidia/cu13/lib")  # what pip puts there for nvidia-cuda-cupti
        doctor = system.sh("/venv/bin/rangefinder doctor", fails=True)  # there is no GPU in here
        expect(f"{site}/nvidia/cu13/lib/libcupti.so.13" in doctor, f"doctor took another CUPTI: {doctor}")
        # Without the command: the library's own place leads there too.
        direct = system.sh(f"{site}/rangefinder/_tree/bin/rangefinder doctor", fails=True)
        expect("nvidia/cu13/lib/libcupti.so.13" in direct, f"doctor took another CUPTI: {direct}")
        expect("sm__" in system.sh("/venv/bin/rangefinder metrics --chip GH100 --list sm__throughput"), "no metrics")
        manual = system.sh("PATH=/venv/bin:$PATH man rangefinder-report | cat")
        expect("show the modules, kernels and findings of a trace" in manual, f"no manual page: {manual[:100]}")
        words = system.sh("PATH=/venv/bin:$PATH bash -c '. /venv/share/bash-completion/completions/rangefinder; "
                          "COMP_WORDS=(rangefinder rep); COMP_CWORD=1; _rangefinder; echo ${COMPREPLY[@]}'")
        expect(words.split() == ["report"], f"completion gives {words}")
        pip = system.sh(f"/venv/bin/pip uninstall -y rangefinder && ls /venv/bin {site}")
        expect("rangefinder\n" not in pip.split("Successfully")[1], f"something is left: {pip}")
        return f"{size / MEGABYTE:.1f} MB, {seconds:.1f} s to the first table"

    def tarball_12(self):
        """tarball in Debian 12, moved to another folder"""
        return self.use_tarball("bookworm")

    def tarball_13(self):
        """tarball in Debian 13"""
        return self.use_tarball("trixie")

    def use_tarball(self, suite):
        system = self.system(suite)
        path = system.put(self.tarball)
        system.sh(f"mkdir /a && tar -xf {path} -C /a && mv /a/rangefinder-{self.version} /moved && rmdir /a && "
                  "ln -s /moved/bin/rangefinder /usr/local/bin/")
        expect(ROW in system.sh("rangefinder report --example"), "no table")
        expect("/moved/lib/rangefinder/librangefinder.so" in system.sh("rangefinder doctor", fails=True), "no library")
        page = system.sh("rangefinder report --example --html /tmp/page.html && head -c 15 /tmp/page.html")
        expect("<!doctype html>" in page.lower(), f"no page: {page[:100]}")
        # `serve` listens without libcpp-httplib. The port is printed; bash speaks to it.
        answer = system.sh("rangefinder serve --port 7117 /moved/share/rangefinder/example >/tmp/out 2>&1 & "
                           "for i in 1 2 3 4 5 6 7 8 9 10; do grep -q 7117 /tmp/out && break; sleep 0.2; done; "
                           "bash -c 'exec 3<>/dev/tcp/127.0.0.1/7117; printf \"GET /api/traces HTTP/1.1\\r\\nHost: localhost:7117\\r\\n"
                           "Connection: close\\r\\n\\r\\n\" >&3; cat <&3'; kill $!")
        expect("200 OK" in answer, f"serve answers {answer[:200]}")
        expect("source builds only" in system.sh("rangefinder run --mpi -- true", fails=True), "--mpi does not say where it is")
        return system.sh("getconf GNU_LIBC_VERSION").strip()

    def tarball_11(self):
        """tarball in Debian 11: a message that says what is needed"""
        system = self.system("bullseye")
        path = system.put(self.tarball)
        message = system.sh(f"tar -xf {path} -C /opt && /opt/rangefinder-{self.version}/bin/rangefinder report --example", fails=True)
        expect("needs glibc 2.34 or newer; this system has glibc 2.31." in message, message)
        return message.splitlines()[0]

    def viewer(self):
        """viewer in Debian 12: table, comparison, no verbs that trace"""
        system = self.system("bookworm")
        path = system.put(self.package("rangefinder-viewer-*.tar.gz"))
        example = f"/opt/rangefinder-viewer-{self.version}/share/rangefinder/example/rtdetr"
        program = f"/opt/rangefinder-viewer-{self.version}/bin/rangefinder"
        expect(ROW in system.sh(f"tar -xf {path} -C /opt && {program} report --example"), "no table")
        expect("iteration" in system.sh(f"{program} diff {example} {example}"), "no comparison")
        system.sh(f"{program} export --to perfetto {example} --out /tmp/p")
        expect("there is no verb run" in system.sh(f"{program} run -- true", fails=True), "run is there")
        return ""

    def deb(self):
        """deb by apt in Debian 12, used, removed without a trace"""
        system = self.system("bookworm")
        system.sh("apt-get update -qq && apt-get install -y -qq --no-install-recommends python3")
        before = system.contents()
        path = system.put(self.package("*.deb"))
        system.sh(f"apt-get install -y -qq --no-install-recommends {path}")
        expect(ROW in system.sh("rangefinder report --example"), "no table")
        expect("/usr/lib/x86_64-linux-gnu/rangefinder/librangefinder.so" in system.sh("rangefinder doctor", fails=True),
               "no library")
        library = system.sh("python3 -c 'import rangefinder; print(rangefinder.injection_library())'").strip()
        expect(library == "/usr/lib/x86_64-linux-gnu/rangefinder/librangefinder.so", library)
        system.sh("python3 -m compileall -q /usr/share/rangefinder/python /usr/lib/python3/dist-packages")
        added = len(system.contents() - before)
        system.sh("apt-get purge -y -qq rangefinder")
        left = {path for path in system.contents() - before
                if not path.startswith("/usr/lib/python3/dist-packages/__pycache__") or "rangefinder" in path}
        expect(not left and not before - system.contents(), f"left: {sorted(left)[:5]}")
        return f"{added} files and folders, 0 left"

    def install(self):
        """cmake --install gives the tree of the tarball"""
        place = os.path.join(self.folder, "installed")
        subprocess.run(["cmake", "--install", self.build, "--prefix", place, "--strip"], check=True, stdout=subprocess.DEVNULL)
        packed = os.path.join(self.unpacked(self.tarball), f"rangefinder-{self.version}")
        ours, theirs = dict(tree.files(place)), dict(tree.files(packed))
        expect(ours.keys() == theirs.keys(), f"different files: {sorted(ours.keys() ^ theirs.keys())}")
        for name, path in ours.items():
            if tree.is_elf(path):
                expect(tree.build_id(path) == tree.build_id(theirs[name]), f"{name} is another build")
            else:
                expect(filecmp.cmp(path, theirs[name], shallow=False), f"{name} differs")
        return f"{len(ours)} files"

    def image(self):
        """image by buildah: report, copy to a volume, not root"""
        expect(shutil.which("buildah"), "buildah is not installed")
        base = self.system("bookworm")
        context = tempfile.mkdtemp(dir=self.folder)
        subprocess.run(["tar", "-C", base.root, "-cf", os.path.join(context, "base.tar"), "."], check=True)
        with open(os.path.join(context, "Base"), "w", encoding="utf-8") as file:
            file.write("FROM scratch\nADD base.tar /\n")
        environment = dict(os.environ, STORAGE_DRIVER="vfs", BUILDAH_ISOLATION="chroot")

        def buildah(*arguments):
            done = run(["buildah", "--root", f"{self.folder}/images", "--runroot", f"{self.folder}/run", *arguments],
                       env=environment)
            expect(done.returncode == 0, f"buildah {arguments[0]}: {done.stderr[-500:]}")
            return done.stdout

        buildah("bud", "-q", "-f", os.path.join(context, "Base"), "-t", "localhost/base", context)
        buildah("bud", "-q", "-f", os.path.join(REPOSITORY, "tools/package/Containerfile"), "--build-arg",
                "BASE=localhost/base", "-t", "rangefinder", self.dist)
        container = buildah("from", "--pull-never", "rangefinder").strip()
        entry = "/opt/rangefinder/share/rangefinder/container-entry"
        expect(entry in buildah("inspect", container), "another entry point")
        expect(ROW in buildah("run", container, "--", entry, "report", "--example"), "no table")
        expect(buildah("run", container, "--", "id", "-u").strip() == "65532", "the image runs as root")
        volume = os.path.join(self.folder, "volume")
        os.makedirs(volume)
        os.chown(volume, 65532, 65532)
        line = buildah("run", "-v", f"{volume}:/shared", container, "--", entry, "copy", "/shared").strip()
        expect(line.endswith("=/shared/rangefinder/lib/rangefinder/librangefinder.so"), line)
        buildah("run", "-v", f"{volume}:/shared", container, "--", entry, "copy", "/shared")  # a second start
        done = run([f"{volume}/rangefinder/bin/rangefinder", "report", "--example"])
        expect(ROW in done.stdout, "the copy does not run")
        return line


def main():
    names = [name for name in vars(Checks) if not name.startswith("_") and vars(Checks)[name].__doc__]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("dist")
    parser.add_argument("build")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=" ".join(names))
    parser.add_argument("--roots")
    options = parser.parse_intermixed_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        print("skipped: this needs root and debootstrap (apt-get install debootstrap buildah)")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(options, folder)
        for name in options.checks or names:
            begin = time.monotonic()
            try:
                detail, state = getattr(checks, name)(), "ok  "
            except Failed as failure:
                detail, state = str(failure), "FAIL"
                failed += 1
            about = getattr(Checks, name).__doc__
            print(f"{state} {about}{': ' if detail else ''}{detail} ({time.monotonic() - begin:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
