# SPDX-License-Identifier: Apache-2.0
"""Programs built with a sanitizer report nothing about us, and end as they do without us."""

import platform
import subprocess

from harness import Build, InjectionCase


def fixed_addresses():
    """ThreadSanitizer of gcc 12 does not start if the kernel randomises more address bits than it expects."""
    wrap = ["setarch", platform.machine(), "-R"]
    return wrap if subprocess.run([*wrap, "true"], capture_output=True, check=False).returncode == 0 else []


class SanitizerCases(InjectionCase):
    def run_sanitized(self, sanitizer, **options):
        program = f"sanitized_{sanitizer}"
        if not Build.program(program).exists():
            self.skipTest(f"the compiler has no {sanitizer} sanitizer")
        wrap = fixed_addresses()
        bare = self.run_bare(program, wrap=wrap)
        if bare.status != 0:
            self.skipTest(f"without us it does not run here: {bare.stderr}")
        return self.run_both(program, wrap=wrap, **options)

    def test_a_program_with_address_sanitizer_is_recorded_but_for_its_bytes(self):
        for counters in ("off", "auto", "exact", "sampled"):
            with self.subTest(counters=counters):
                run = self.run_sanitized("address", nvtx=True, RANGEFINDER_COUNTERS=counters)

                if counters in ("off", "auto"):
                    self.assert_silent(run)
                else:
                    self.assert_one_line(run, "no bytes", "AddressSanitizer", "RTLD_DEEPBIND")
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual([line["path_text"] for line in trace.of("kernel")], 20 * ["work/step"])

    def test_a_program_with_thread_sanitizer_is_left_alone_and_says_so(self):
        for counters in ("off", "exact", "sampled"):
            with self.subTest(counters=counters):
                run = self.run_sanitized("thread", nvtx=True, RANGEFINDER_COUNTERS=counters)

                self.assert_one_line(run, "ThreadSanitizer", "not recorded")
                self.assertEqual(run.folders(), [])
