# SPDX-License-Identifier: Apache-2.0
"""If something is impossible, one line on stderr gives the reason. The program continues."""

from harness import Build, InjectionCase


class MessageCases(InjectionCase):
    def assert_nvtx_only(self, run):
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual(trace.of("kernel", "launch", "exact", "memcpy"), [])
        self.assertEqual({line["path_text"] for line in trace.of("range")}, {"work", "work/step"})

    def test_a_libcupti_that_is_not_there(self):
        run = self.run_both("plain", "5", RANGEFINDER_CUPTI="/nonexistent/libcupti.so.13")

        self.assert_one_line(run, "cannot load /nonexistent/libcupti.so.13, named by RANGEFINDER_CUPTI")
        self.assert_nvtx_only(run)

    def test_a_library_that_is_no_libcupti(self):
        run = self.run_both("plain", "5", RANGEFINDER_CUPTI="libm.so.6")

        self.assert_one_line(run, "is not libcupti")
        self.assert_nvtx_only(run)

    def test_a_cupti_of_another_version_is_refused_with_the_upgrade(self):
        versions = {"18": "before CUDA 12", "120800": "CUPTI 12.8", "130000": "CUPTI 13.0 is", "140000": "CUPTI 14.0"}
        for version, text in versions.items():
            with self.subTest(version=version):
                run = self.run_both("plain", "5", FAKE_CUPTI_VERSION=version)

                self.assert_one_line(run, text, "not supported: install CUDA 13.0 Update 1")
                self.assert_nvtx_only(run)

    def test_a_later_cupti_13_is_used(self):
        run = self.run_both("plain", "5", FAKE_CUPTI_VERSION="130300")

        self.assert_silent(run)
        self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_another_tool_that_owns_cupti_is_named(self):
        run = self.run_both("plain", "5", FAKE_CUPTI_OWNER="Nsight Systems")

        self.assert_one_line(run, '"Nsight Systems"')
        self.assert_nvtx_only(run)

    def test_a_function_of_cupti_that_fails_leaves_nvtx(self):
        failures = ("Subscribe_v2:999", "ActivityRegisterCallbacks:999", "ActivityEnable:15", "ActivityEnable:15@3",
                    "EnableCallback:1", "EnableCallback:1@50")
        for failure in failures:
            with self.subTest(failure=failure):
                run = self.run_both("plain", "5", FAKE_CUPTI_FAIL=failure)

                self.assert_one_line(run, "Kernels and copies are not recorded; NVTX ranges are.")
                self.assert_nvtx_only(run)

    def test_an_nvtx_tool_that_cannot_be_fed_is_named(self):
        long = "/" + "x" * 5000
        problems = {"/nonexistent/tool.so": "it cannot be loaded: /nonexistent/tool.so: cannot open shared object file",
                    "libm.so.6": "libm.so.6: it has no InitializeInjectionNvtx2", long: "the path is too long"}
        for variable in ("RANGEFINDER_NVTX_CHAIN", "NVTX_INJECTION64_PATH"):
            for tool, problem in problems.items():
                with self.subTest(variable=variable, tool=tool[:30]):
                    run = self.run_both("plain", "5", **{variable: tool})

                    self.assert_one_line(run, "NVTX calls are not forwarded to", problem, "They are still recorded")
                    self.assert_balanced(run.trace())
                    self.assertEqual([line["path_text"] for line in run.trace().of("kernel")], ["work/step"] * 5)

    def test_an_nvtx_tool_is_not_named_where_it_is_ourselves_or_nothing_is_recorded(self):
        for program, tool in (("plain", str(Build.injection_library)), ("no_cuda", "/nonexistent/tool.so")):
            with self.subTest(program=program):
                self.assert_silent(self.run_both(program, nvtx=True, RANGEFINDER_NVTX_CHAIN=tool))

    def test_a_folder_that_cannot_be_written(self):
        (self.place / "file").write_text("not a folder")
        for out in ("/proc/rangefinder/trace", str(self.place / "file")):
            for counters in ("off", "exact"):
                with self.subTest(out=out, counters=counters):
                    run = self.run_both("plain", "5", RANGEFINDER_OUT=out, RANGEFINDER_COUNTERS=counters)

                    self.assert_one_line(run, "cannot create " + out, "without being recorded")
                    self.assertEqual(run.folders(), [])

    def test_an_unknown_variable_is_named_with_its_neighbour(self):
        run = self.run_both("plain", "5", RANGEFINDER_BUFERS="8")

        self.assert_one_line(run, "RANGEFINDER_BUFERS is not a Rangefinder variable", "did you mean RANGEFINDER_BUFFERS?")
        self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_a_value_that_is_not_understood_is_named(self):
        run = self.run_both("plain", "5", RANGEFINDER_BUFFERS="many")

        self.assert_one_line(run, "RANGEFINDER_BUFFERS=many is not understood")
        self.assertEqual(len(run.trace().of("kernel")), 5)

    def test_several_problems_give_one_line(self):
        run = self.run_both("plain", "5", RANGEFINDER_BUFFERS="many", RANGEFINDER_FLUSHMS="1",
                            FAKE_CUPTI_OWNER="Nsight Systems", RANGEFINDER_OUT="/proc/rangefinder/trace")

        self.assertEqual(len(run.own_lines()), 1, run.stderr)

    def test_a_second_run_into_the_same_folder_leaves_the_first_alone(self):
        out = str(self.place / "trace")
        first = self.run_both("plain", "5", RANGEFINDER_OUT=out)
        before = {file.name: file.read_bytes() for file in (self.place / "trace").iterdir()}

        second = self.run_both("plain", "9", RANGEFINDER_OUT=out)

        self.assert_silent(first)
        self.assert_one_line(second, out + " holds a trace already")
        self.assertEqual({file.name: file.read_bytes() for file in (self.place / "trace").iterdir()}, before)

    def test_force_replaces_a_trace(self):
        place = self._new_place("shared")
        self.run_injected("plain", "5", place=place, RANGEFINDER_OUT="trace")

        run = self.run_injected("plain", "9", place=place, RANGEFINDER_OUT="trace", RANGEFINDER_FORCE="on")

        self.assert_silent(run)
        self.assertEqual(len(run.trace().of("kernel")), 9)

    def test_a_report_is_printed_where_it_was_asked_for(self):
        run = self.run_both("plain", "5", RANGEFINDER_REPORT="stderr")

        self.assertIn("work/step", run.stderr)
        self.assertIn("5 kernels, 0 copies, 0 records lost.", run.stderr)

    def test_a_report_goes_to_a_file(self):
        report = self.place / "report.txt"

        run = self.run_both("plain", "5", RANGEFINDER_REPORT=str(report))

        self.assert_silent(run)
        self.assertIn("work/step", report.read_text())

    def test_a_report_that_cannot_be_written_is_one_line(self):
        run = self.run_both("plain", "5", RANGEFINDER_REPORT="/proc/rangefinder/report")

        self.assert_one_line(run, "cannot write the report to /proc/rangefinder/report")
