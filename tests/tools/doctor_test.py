# SPDX-License-Identifier: Apache-2.0
"""`rangefinder doctor` on synthetic machines: files below --root, and environment variables.

    doctor_test.py PATH_OF_RANGEFINDER REPOSITORY [BUILD_DIR]

Driver and GPU are those of this machine, or the fake driver of tests/injection if BUILD_DIR has one.
"""
import json
import os
import shutil
import subprocess
import sys

import cli_case
from cli_case import CommandLine

BUILD = ""
PARAMS = "proc/driver/nvidia/params"
STATUS = "proc/self/status"

# No toolkit and no loader cache, as on a machine without CUPTI.
WITHOUT_TOOLKIT = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                   'mount -t tmpfs none /usr/local && mount --bind /dev/null /etc/ld.so.cache && exec "$@"', "sh")


class Doctor(CommandLine):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.root.mkdir()

    def file(self, path, text=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def checks(self, *options, **environment):
        done = self.call("doctor", "--json", "--root", self.root, *options, **environment)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        rows = {}
        for row in json.loads(done.stdout)["checks"]:
            rows.setdefault(row["check"], []).append(row)
        return rows

    def check(self, name, health, text="", cure=(), **environment):
        """The one row of this check has these values; `text` and each `cure` are parts of its own."""
        (row,) = self.checks(**environment)[name]
        self.assertEqual(row["health"], health, row)
        self.assertIn(text, row["text"])
        for part in cure:
            self.assertIn(part, row["cure"])

    def test_the_system_is_named(self):
        self.file("etc/os-release", 'NAME="X"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n')
        self.file("proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
        self.check("system", "ok", "Ubuntu 24.04.1 LTS, kernel 6.8.0-45-generic")

    def test_the_kernel_of_a_sandbox_or_of_windows_is_a_warning(self):
        for kernel, name in (("4.4.0", "gVisor"), ("5.15.90.1-microsoft-standard-WSL2", "WSL")):
            self.file("proc/sys/kernel/osrelease", kernel)
            self.check("system", "warn", name)

    def test_cores_are_the_smaller_of_affinity_mask_and_quota(self):
        self.file(STATUS, "Name:\tx\nCpus_allowed_list:\t0-3,8\n")
        for quota, health, text in ((None, "ok", "5 for this process"),
                                    ("150000 100000\n", "warn", "1.5 for this process"),
                                    ("max 100000\n", "ok", "")):
            if quota is not None:
                self.file("sys/fs/cgroup/cpu.max", quota)
            self.check("cores", health, text)

    def test_memory_is_limited_by_the_control_group(self):
        self.file("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 32000000 kB\n")
        self.check("memory", "ok")
        self.file("sys/fs/cgroup/memory.max", "400000000\n")
        self.file("sys/fs/cgroup/memory.current", "300000000\n")
        self.check("memory", "warn", "100 MB available")

    def test_counters_for_administrators_only_name_the_module_parameter(self):
        self.file(PARAMS, "EnableMSI: 1\nRmProfilingAdminOnly: 1\n")
        self.file(STATUS, "CapEff:\t0000000000000000\n")
        self.check("permission", "warn",
                   cure=["NVreg_RestrictProfilingToAdminUsers=0", "--cap-add SYS_ADMIN"])

    def test_counters_are_open_by_the_parameter_or_by_a_capability(self):
        self.file(PARAMS, "RmProfilingAdminOnly: 0\n")
        self.check("permission", "ok", "every user")
        self.file(PARAMS, "RmProfilingAdminOnly: 1\n")
        self.file(STATUS, "CapEff:\t0000000000200000\n")
        self.check("permission", "ok", "CAP_SYS_ADMIN")

    def test_a_hidden_parameter_is_unknown(self):
        self.file(STATUS, "CapEff:\t0000004000000000\n")  # CAP_PERFMON alone
        self.assertIn("not known", self.checks()["permission"][0]["text"])

    def test_a_container_without_a_gpu_says_how_to_add_it(self):
        self.file(".dockerenv")
        self.check("container", "warn", "docker", ["--gpus all"])
        self.file("dev/nvidiactl")
        self.file(PARAMS)
        self.check("container", "ok")
        self.check("container", "warn", "", ["compute,utility"], NVIDIA_DRIVER_CAPABILITIES="utility")

    def test_kubernetes_is_detected_by_its_control_group_and_the_check_is_absent_outside_of_containers(self):
        self.assertNotIn("container", self.checks())
        self.file("proc/1/cgroup", "0::/kubepods/besteffort/pod1\n")
        self.assertIn("kubernetes", self.checks()["container"][0]["text"])

    def test_programs_that_hold_counters_are_named(self):
        self.file("proc/41/comm", "nv-hostengine\n")
        self.file("proc/42/comm", "nsys\n")
        texts = [row["text"] for row in self.checks()["other tool"]]

        self.assertEqual(["DCGM" in text or "nsys" in text for text in texts], [True, True])

    def test_mps_and_mig_are_detected_by_files_processes_or_variables(self):
        mig = "proc/driver/nvidia/capabilities/gpu0/mig/"
        self.file(mig + "config")  # of every driver
        for check, path, text, environment in (
                ("mps", "tmp/nvidia-mps/control", "", {}), ("mps", "proc/43/comm", "nvidia-cuda-mps\n", {}),
                ("mps", "x", "", {"CUDA_MPS_PIPE_DIRECTORY": "/run/mps"}),
                ("mig", "x", "", {"CUDA_VISIBLE_DEVICES": "MIG-1234"}), ("mig", mig + "gi1/access", "", {})):
            self.assertNotIn(check, self.checks())
            self.file(path, text)
            self.assertIn(check, self.checks(**environment), path)
            (self.root / path).unlink()

    def test_wrong_libraries_in_the_library_path_are_named(self):
        stubs, old = self.folder / "stubs", self.folder / "old"
        stubs.mkdir()
        (stubs / "libcuda.so.1").write_text("")
        old.mkdir()
        (old / "libcupti.so.2024.3.2").write_text("")
        (old / "libcupti.so.12").symlink_to("libcupti.so.2024.3.2")

        rows = self.checks(LD_LIBRARY_PATH=f"/nowhere:{stubs}:{old}")["library path"]

        self.assertEqual([row["health"] for row in rows], ["no", "warn"])
        self.assertIn("stub", rows[0]["text"])
        self.assertIn("libcupti.so.2024.3.2", rows[1]["text"])

    def test_a_variable_with_a_missing_file_is_a_warning(self):
        rows = self.checks(NVTX_INJECTION64_PATH="/nowhere/librangefinder.so")["other tool"]
        self.assertIn("which does not exist", rows[0]["text"])

    def test_the_nvtx_variable_without_the_cuda_variable_is_a_warning(self):
        build = os.path.dirname(os.path.dirname(os.path.realpath(cli_case.RANGEFINDER)))
        library = os.path.join(build, "lib", "librangefinder.so")
        self.check("nvtx", "warn", NVTX_INJECTION64_PATH=library)
        self.check("nvtx", "ok", NVTX_INJECTION64_PATH=library, CUDA_INJECTION64_PATH=library)

    def needs_fake(self):
        fake = os.path.join(BUILD, "tests/injection/fake")
        if not os.path.exists(fake + "/driver/libcuda.so.1"):
            self.skipTest("the fake driver of tests/injection was not built")
        return {"LD_LIBRARY_PATH": fake + "/driver", "XDG_RUNTIME_DIR": str(self.folder),
                "RANGEFINDER_CUPTI": fake + "/toolkit/lib64/libcupti.so.13"}

    def test_driver_and_cupti_are_compared(self):
        (row,) = self.checks(**self.needs_fake())["pairing"]
        self.assertEqual((row["health"], row["text"]), ("ok", "CUPTI 13.0 Update 1, driver for CUDA 13.0"))

    def test_13_0_without_an_update_is_refused_with_the_reason(self):
        self.check("cupti", "no", cure=["cuda-cupti-13-0", "crashes if NVTX is called before CUPTI"],
                   **self.needs_fake(), FAKE_CUPTI_VERSION="130000")

    def cupti_rows(self, fake, **environment):
        """The rows about libcupti: where it was found, and the other copies below the test's folders."""
        rows = self.checks(**fake, **environment)
        ours = [row for row in rows.get("other cupti", ()) if str(self.folder) in row["text"] or BUILD in row["text"]]
        (row,) = rows["cupti"]
        return row["text"], [(row["health"], row["text"]) for row in ours]

    def test_the_copy_in_use_is_named_with_its_place_and_the_other_copies_with_the_reason(self):
        fake = self.needs_fake()
        toolkit = fake.pop("RANGEFINDER_CUPTI")
        copy = shutil.copy(toolkit, self.folder)
        both = {"CUDA_HOME": os.path.dirname(os.path.dirname(toolkit)), "RANGEFINDER_CUPTI_FOLDER": str(self.folder)}

        self.assertEqual(
            self.cupti_rows(fake, **both),
            (f"13.0 Update 1, in the Python environment: {copy}",
             [("ok", f"not used, in the toolkit: {toolkit} (a copy in the Python environment comes first)")]))
        self.assertEqual(
            self.cupti_rows(fake, **both, RANGEFINDER_CUPTI=toolkit),
            (f"13.0 Update 1, named by RANGEFINDER_CUPTI: {toolkit}",
             [("ok", f"not used, in the Python environment: {copy} (a copy named by RANGEFINDER_CUPTI comes first)")]))
        (self.folder / "libcupti.so.13").write_text("not ELF")
        self.assertEqual(
            self.cupti_rows(fake, **both),
            (f"13.0 Update 1, in the toolkit: {toolkit}",
             [("warn", f"not used, in the Python environment: {copy} (cannot be loaded: file too short)")]))

    def test_a_copy_named_by_the_user_that_cannot_be_loaded_is_replaced_by_no_other(self):
        fake = self.needs_fake()
        toolkit, missing = fake.pop("RANGEFINDER_CUPTI"), str(self.folder / "libcupti.so.13")

        rows = self.checks(**fake, CUDA_HOME=os.path.dirname(os.path.dirname(toolkit)), RANGEFINDER_CUPTI=missing)

        texts = [row["text"] for row in rows["other cupti"]]
        self.assertEqual([row["text"] for row in rows["cupti"]], ["no usable libcupti"])
        self.assertIn(f"not used, named by RANGEFINDER_CUPTI: {missing} (cannot be loaded: cannot open shared object "
                      "file: No such file or directory)", texts)
        self.assertIn(f"not used, in the toolkit: {toolkit} (RANGEFINDER_CUPTI names another)", texts)
        self.assertNotIn("cupti searched", rows)

    def test_without_a_copy_the_places_searched_are_listed(self):
        try:
            subprocess.run([*WITHOUT_TOOLKIT, "true"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no mount namespace of our own can be had here: {error}")
        done = subprocess.run([*WITHOUT_TOOLKIT, cli_case.RANGEFINDER, "doctor", "--json"], capture_output=True, text=True,
                              env=cli_case.clean_environment(CUDA_HOME="/nowhere", RANGEFINDER_CUPTI_FOLDER="/pip"))

        texts = [row["text"] for row in json.loads(done.stdout)["checks"] if row["check"] == "cupti searched"]
        self.assertEqual(texts[0], "in the Python environment: /pip")
        self.assertTrue(texts[1].startswith("in the toolkit: /nowhere/extras/CUPTI/lib64, /nowhere/lib64, "), texts[1])
        self.assertTrue(texts[2].startswith("on the linker's path: "), texts[2])

    def test_a_probe_reports_what_works(self):
        rows = self.checks("--probe", **self.needs_fake())
        found = {name: row for name, (row, *more) in rows.items() if name.startswith("probe") and not more}

        self.assertEqual(found["probe trace"]["text"], "120 of 120 kernels")
        self.assertIn("100 of 100 kernels in the range", found["probe nvtx"]["text"])
        self.assertIn("20 of 20 kernels of a graph", found["probe graphs"]["text"])
        self.assertEqual(found["probe control"]["text"], "the socket answers: recording")
        # The fake's counters do not count real bytes, and the probe reports that they are wrong.
        for mode in ("sampled", "exact"):
            self.assertEqual(found[f"probe {mode}"]["health"], "warn")
            self.assertIn("of 8.59 GB written", found[f"probe {mode}"]["text"])

    def test_a_probe_beside_another_tool_names_it(self):
        rows = self.checks("--probe", **self.needs_fake(), FAKE_CUPTI_OWNER="Other Tool")
        (owner,), (trace,) = rows["cupti owner"], rows["probe trace"]

        self.assertEqual(owner["health"], "no")
        self.assertIn("0 of 120 kernels", trace["text"])
        self.assertIn("Other Tool", trace["text"])

    def test_without_a_gpu_the_probe_does_not_run(self):
        (row,) = self.checks("--probe", **self.needs_fake(), FAKE_CUDA_GPUS="0")["probe"]
        self.assertIn("not tried", row["text"])


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(3)) if len(sys.argv) > 3 else ""
    cli_case.main(__doc__)
