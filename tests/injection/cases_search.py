# SPDX-License-Identifier: Apache-2.0
"""Where the library searches for libcupti, and what the application sees of the library."""

import shutil
import subprocess

from harness import Build, InjectionCase

ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx", "InitializeInjectionNvtx2",
                "InitializeInjectionNvtxExtension"}
ALWAYS_NEEDED = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
MAY_BE_NEEDED = {"libdl.so.2", "libpthread.so.0"}

# No toolkit and no loader cache, as on a machine without CUPTI.
WITHOUT_TOOLKIT = "mount -t tmpfs none /usr/local && mount --bind /dev/null /etc/ld.so.cache && exec \"$@\""


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class SearchCases(InjectionCase):
    def path_of_cupti(self, run):
        return run.trace().headers[0]["cupti_path"]

    def test_cuda_home_is_searched(self):
        for variable in ("CUDA_HOME", "CUDA_PATH"):
            with self.subTest(variable=variable):
                run = self.run_both("plain", "5", RANGEFINDER_CUPTI=None, **{variable: str(Build.fake("toolkit"))})

                self.assert_silent(run)
                self.assertEqual(self.path_of_cupti(run), str(Build.cupti()))

    def test_a_wheel_that_the_program_has_loaded_comes_first(self):
        for runtime, cupti in (("nvidia/cu13/lib", "nvidia/cu13/lib"),
                               ("nvidia/cuda_runtime/lib", "nvidia/cuda_cupti/lib")):
            with self.subTest(runtime=runtime):
                wheel = self._new_place("wheel")
                (wheel / runtime).mkdir(parents=True)
                (wheel / cupti).mkdir(parents=True, exist_ok=True)
                shutil.copy(Build.fake("libcudart.so.13"), wheel / runtime)
                shutil.copy(Build.cupti(), wheel / cupti)

                run = self.run_injected("plain", "5", RANGEFINDER_CUPTI=None, CUDA_HOME=str(Build.fake("toolkit")),
                                        LD_PRELOAD=str(wheel / runtime / "libcudart.so.13"))

                self.assert_silent(run)
                found = self.path_of_cupti(run)
                self.assertTrue(found.startswith(str(wheel)), found)
                self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_the_python_environment_comes_before_the_toolkit(self):
        """By the wheel's variable, and by the place of our library in the wheel. No library of CUDA is loaded."""
        environment = self._new_place("environment")
        for folder in ("nvidia/cu13/lib", "rangefinder/_tree/lib/rangefinder"):
            (environment / folder).mkdir(parents=True)
        of_pip = environment / "nvidia/cu13/lib"
        cupti = shutil.copy(Build.cupti(), of_pip)
        library = shutil.copy(Build.injection_library, environment / "rangefinder/_tree/lib/rangefinder")
        for name, value in (("RANGEFINDER_CUPTI_FOLDER", of_pip), ("CUDA_INJECTION64_PATH", library)):
            with self.subTest(variable=name):
                run = self.run_injected("plain", "5", RANGEFINDER_CUPTI=None, CUDA_HOME=str(Build.fake("toolkit")),
                                        **{name: str(value)})

                self.assert_silent(run)
                self.assertEqual(self.path_of_cupti(run), str(cupti))
                self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_the_copy_that_the_program_has_loaded_is_used_and_said(self):
        other = self._new_place("other") / "libcupti.so.13"
        shutil.copy(Build.cupti(), other)

        run = self.run_injected("plain", "5", LD_PRELOAD=str(other))

        self.assert_one_line(run, str(other), "is not used")
        self.assertEqual(self.path_of_cupti(run), str(other))
        self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_a_host_without_cupti_is_told_what_to_install(self):
        wrap = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", WITHOUT_TOOLKIT, "sh")
        try:
            output_of(*wrap, "true")
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no mount namespace of our own can be had here: {error}")

        run = self.run_injected("plain", "5", wrap=wrap, RANGEFINDER_CUPTI=None)

        self.assertEqual((run.status, run.stdout), (0, "5 launches\n"))
        self.assert_one_line(run, "libcupti.so.13 was not found", "cuda-cupti-13-0", "nvidia-cuda-cupti")

    def test_only_the_entry_points_are_visible(self):
        symbols = output_of("nm", "-D", "--defined-only", str(Build.injection_library))

        names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
        self.assertEqual(names, ENTRY_POINTS)

    def test_nothing_but_the_c_library_is_needed(self):
        dynamic = output_of("readelf", "-d", str(Build.injection_library))

        needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
        self.assertEqual(needed - MAY_BE_NEEDED, ALWAYS_NEEDED)
