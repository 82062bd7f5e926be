#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rangefinder doctor` on synthetic machines: files below --root, and environment variables.

    doctor_test.py PATH_OF_RANGEFINDER REPOSITORY [BUILD_DIR]

Driver and GPU are those of this machine, or the fake driver of tests/injection if BUILD_DIR has one.
"""
import json
import os
import sys
import unittest

import cli_case
from cli_case import CommandLine

BUILD = ""
PARAMS = "proc/driver/nvidia/params"
STATUS = "proc/self/status"


class Doctor(CommandLine):
    def machine(self, **files):
        """Writes files; `__` in a name is a slash."""
        root = self.folder / "root"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            path = root / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    def file(self, path, text):
        return self.machine(**{path.replace("/", "__"): text})

    def checks(self, root, *options, **environment):
        done = self.call("doctor", "--json", "--root", root, *options, **environment)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        rows = {}
        for row in json.loads(done.stdout)["checks"]:
            rows.setdefault(row["check"], []).append(row)
        return rows

    def one(self, rows, check):
        row, = rows[check]
        return row

    def test_the_system_is_named(self):
        self.file("etc/os-release", 'NAME="X"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n')
        root = self.file("proc/sys/kernel/osrelease", "6.8.0-45-generic\n")

        row = self.one(self.checks(root), "system")

        self.assertEqual(row["health"], "ok")
        self.assertIn("Ubuntu 24.04.1 LTS, kernel 6.8.0-45-generic", row["text"])

    def test_the_kernel_of_a_sandbox_or_of_windows_is_a_warning(self):
        for kernel, name in (("4.4.0", "gVisor"), ("5.15.90.1-microsoft-standard-WSL2", "WSL")):
            row = self.one(self.checks(self.file("proc/sys/kernel/osrelease", kernel)), "system")

            self.assertEqual(row["health"], "warn")
            self.assertIn(name, row["text"])

    def test_cores_are_the_smaller_of_affinity_mask_and_quota(self):
        root = self.file(STATUS, "Name:\tx\nCpus_allowed_list:\t0-3,8\n")
        self.assertIn("5 for this process", self.one(self.checks(root), "cores")["text"])

        self.file("sys/fs/cgroup/cpu.max", "150000 100000\n")
        row = self.one(self.checks(root), "cores")
        self.assertEqual(row["health"], "warn")
        self.assertIn("1.5 for this process", row["text"])

        self.file("sys/fs/cgroup/cpu.max", "max 100000\n")
        self.assertEqual(self.one(self.checks(root), "cores")["health"], "ok")

    def test_memory_is_limited_by_the_control_group(self):
        root = self.file("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 32000000 kB\n")
        self.assertEqual(self.one(self.checks(root), "memory")["health"], "ok")

        self.file("sys/fs/cgroup/memory.max", "400000000\n")
        self.file("sys/fs/cgroup/memory.current", "300000000\n")
        row = self.one(self.checks(root), "memory")
        self.assertEqual(row["health"], "warn")
        self.assertIn("100 MB available", row["text"])

    def test_counters_for_administrators_only_name_the_module_parameter(self):
        self.file(PARAMS, "EnableMSI: 1\nRmProfilingAdminOnly: 1\n")
        root = self.file(STATUS, "CapEff:\t0000000000000000\n")
        row = self.one(self.checks(root), "permission")

        self.assertEqual(row["health"], "warn")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", row["cure"])
        self.assertIn("--cap-add SYS_ADMIN", row["cure"])

    def test_counters_are_open_by_the_parameter_or_by_a_capability(self):
        root = self.file(PARAMS, "RmProfilingAdminOnly: 0\n")
        self.assertIn("every user", self.one(self.checks(root), "permission")["text"])

        self.file(PARAMS, "RmProfilingAdminOnly: 1\n")
        self.file(STATUS, "CapEff:\t0000000000200000\n")
        self.assertIn("CAP_SYS_ADMIN", self.one(self.checks(root), "permission")["text"])

    def test_a_hidden_parameter_is_unknown(self):
        root = self.file(STATUS, "CapEff:\t0000004000000000\n")  # CAP_PERFMON alone

        self.assertIn("not known", self.one(self.checks(root), "permission")["text"])

    def test_a_container_without_a_gpu_says_how_to_add_it(self):
        row = self.one(self.checks(self.file(".dockerenv", "")), "container")
        self.assertEqual((row["health"], "docker" in row["text"]), ("warn", True))
        self.assertIn("--gpus all", row["cure"])

        self.file("dev/nvidiactl", "")
        row = self.one(self.checks(self.file(PARAMS, "")), "container")
        self.assertEqual(row["health"], "ok")

        row = self.one(self.checks(self.file(".dockerenv", ""), NVIDIA_DRIVER_CAPABILITIES="utility"), "container")
        self.assertIn("compute,utility", row["cure"])

    def test_kubernetes_is_detected_by_its_control_group_and_the_check_is_absent_outside_of_containers(self):
        self.assertNotIn("container", self.checks(self.machine()))
        root = self.file("proc/1/cgroup", "0::/kubepods/besteffort/pod1\n")

        self.assertIn("kubernetes", self.one(self.checks(root), "container")["text"])

    def test_programs_that_hold_counters_are_named(self):
        self.file("proc/41/comm", "nv-hostengine\n")
        root = self.file("proc/42/comm", "nsys\n")
        texts = [row["text"] for row in self.checks(root)["other tool"]]

        self.assertEqual(["DCGM" in text or "nsys" in text for text in texts], [True, True])

    def test_mps_is_detected_by_its_pipe_its_variable_or_its_process(self):
        self.assertNotIn("mps", self.checks(self.machine()))
        self.assertIn("mps", self.checks(self.machine(), CUDA_MPS_PIPE_DIRECTORY="/run/mps"))
        self.assertIn("mps", self.checks(self.file("tmp/nvidia-mps/control", "")))
        (self.folder / "root/tmp/nvidia-mps/control").unlink()
        self.assertIn("mps", self.checks(self.file("proc/43/comm", "nvidia-cuda-mps\n")))

    def test_mig_is_detected_by_the_drivers_files_or_the_variable(self):
        self.assertNotIn("mig", self.checks(self.machine()))
        self.assertIn("mig", self.checks(self.machine(), CUDA_VISIBLE_DEVICES="MIG-1234"))
        self.assertNotIn("mig", self.checks(self.file("proc/driver/nvidia/capabilities/gpu0/mig/config", "")))
        self.assertIn("mig", self.checks(self.file("proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "")))

    def test_wrong_libraries_in_the_library_path_are_named(self):
        stubs = self.folder / "stubs"
        stubs.mkdir()
        (stubs / "libcuda.so.1").write_text("")
        old = self.folder / "old"
        old.mkdir()
        (old / "libcupti.so.2024.3.2").write_text("")
        (old / "libcupti.so.12").symlink_to("libcupti.so.2024.3.2")

        rows = self.checks(self.machine(), LD_LIBRARY_PATH=f"/nowhere:{stubs}:{old}")["library path"]

        self.assertEqual([row["health"] for row in rows], ["no", "warn"])
        self.assertIn("stub", rows[0]["text"])
        self.assertIn("libcupti.so.2024.3.2", rows[1]["text"])

    def test_a_variable_with_a_missing_file_is_a_warning(self):
        rows = self.checks(self.machine(), NVTX_INJECTION64_PATH="/nowhere/librangefinder.so")

        self.assertIn("which does not exist", rows["other tool"][0]["text"])

    def test_the_nvtx_variable_without_the_cuda_variable_is_a_warning(self):
        library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(cli_case.RANGEFINDER))), "lib",
                               "librangefinder.so")

        alone = self.one(self.checks(self.machine(), NVTX_INJECTION64_PATH=library), "nvtx")
        both = self.one(self.checks(self.machine(), NVTX_INJECTION64_PATH=library, CUDA_INJECTION64_PATH=library),
                        "nvtx")

        self.assertEqual((alone["health"], both["health"]), ("warn", "ok"))

    def fake(self, name):
        return os.path.join(BUILD, "tests/injection/fake", name)

    def needs_fake(self):
        if not os.path.exists(self.fake("driver/libcuda.so.1")):
            self.skipTest("the fake driver of tests/injection was not built")
        return {"LD_LIBRARY_PATH": self.fake("driver"), "XDG_RUNTIME_DIR": str(self.folder),
                "RANGEFINDER_CUPTI": self.fake("toolkit/lib64/libcupti.so.13")}

    def test_driver_and_cupti_are_compared(self):
        row = self.one(self.checks(self.machine(), **self.needs_fake()), "pairing")

        self.assertEqual((row["health"], row["text"]), ("ok", "CUPTI 13.0 Update 1, driver for CUDA 13.0"))

    def test_13_0_without_an_update_is_refused_with_the_reason(self):
        row = self.one(self.checks(self.machine(), **self.needs_fake(), FAKE_CUPTI_VERSION="130000"), "cupti")

        self.assertEqual(row["health"], "no")
        self.assertIn("cuda-cupti-13-0", row["cure"])
        self.assertIn("crashes if NVTX is called before CUPTI", row["cure"])

    def test_a_probe_reports_what_works(self):
        rows = self.checks(self.machine(), "--probe", **self.needs_fake())
        found = {name: self.one(rows, name) for name in rows if name.startswith("probe")}

        self.assertEqual(found["probe trace"]["text"], "120 of 120 kernels")
        self.assertIn("100 of 100 kernels in the range", found["probe nvtx"]["text"])
        self.assertIn("20 of 20 kernels of a graph", found["probe graphs"]["text"])
        self.assertEqual(found["probe control"]["text"], "the socket answers: recording")
        # The fake's counters do not count real bytes, and the probe reports that they are wrong.
        for mode in ("sampled", "exact"):
            self.assertEqual(found[f"probe {mode}"]["health"], "warn")
            self.assertIn("of 8.59 GB written", found[f"probe {mode}"]["text"])

    def test_a_probe_beside_another_tool_names_it(self):
        rows = self.checks(self.machine(), "--probe", **self.needs_fake(), FAKE_CUPTI_OWNER="Other Tool")

        self.assertEqual(self.one(rows, "cupti owner")["health"], "no")
        self.assertIn("0 of 120 kernels", self.one(rows, "probe trace")["text"])
        self.assertIn("Other Tool", self.one(rows, "probe trace")["text"])

    def test_without_a_gpu_the_probe_does_not_run(self):
        rows = self.checks(self.machine(), "--probe", **self.needs_fake(), FAKE_CUDA_GPUS="0")

        self.assertIn("not tried", self.one(rows, "probe")["text"])


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(3)) if len(sys.argv) > 3 else ""
    cli_case.main(__doc__)
