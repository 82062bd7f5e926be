#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: exit codes, streams, JSON. cli_run_test.py tests `run`.

    cli_test.py PATH_OF_RANGEFINDER REPOSITORY

Needs no GPU.
"""
import json

import cli_case
from cli_case import CommandLine


class Use(CommandLine):
    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["report", "--help"], ["validate", "--help"],
                          ["metrics", "--help"], ["doctor", "--help"]):
            done = self.call(*arguments)
            self.check_code(done, 0)
            self.assertTrue(done.stdout)
            self.assertEqual(done.stderr, "")

    def test_wrong_use_gives_2_and_a_message_on_standard_error(self):
        for arguments in ([], ["fly"], ["--fly"], ["report"], ["report", "x", "--section", "nothing"],
                          ["report", "x", "--sort", "nothing"], ["report", "x", "--top", "0"], ["validate"],
                          ["run"], ["run", "--"], ["run", "./app"], ["run", "--fly", "--", "true"],
                          ["run", "--counters", "most", "--", "true"], ["run", "--buffers", "many", "--", "true"],
                          ["run", "--out", "%z", "--", "true"], ["run", "--out", "%q{NOT_SET_HERE}", "--", "true"]):
            done = self.call(*arguments)
            self.check_code(done, 2)
            self.assertEqual(done.stdout, "", arguments)
            self.assertTrue(done.stderr, arguments)

    def test_a_missing_folder_gives_3(self):
        for verb in ("report", "validate"):
            done = self.call(verb, "nowhere")
            self.check_code(done, 3)
            self.assertIn("nowhere", done.stderr)


class Read(CommandLine):
    def report(self, *arguments):
        done = self.call("report", *arguments, "--json")
        self.check_code(done, 0)
        return json.loads(done.stdout)["traces"]

    def test_modules_as_json_carry_time_and_loss(self):
        (trace,) = self.report(self.make_trace())
        (module,) = trace["modules"]
        self.assertEqual((module["path"], module["gpu_ns"], module["calls"]), ("model", 1000, 1))
        self.assertEqual(trace["loss"], {})
        self.assertFalse(trace["ended"])

    def test_kernels_as_json_have_full_names(self):
        (trace,) = self.report(self.make_trace(), "--section", "kernels")
        self.assertEqual(trace["kernels"][0]["name"], "void k<int>(int)")
        self.assertEqual(trace["kernels"][0]["total_ns"], 1000)

    def test_text_names_what_is_missing(self):
        done = self.call("report", self.make_trace())
        self.check_code(done, 0)
        self.assertIn("No end line", done.stdout)
        self.assertIn("1.00 us", done.stdout)
        self.assertNotIn("\033", done.stdout)

    def test_the_driver_and_the_runtime_are_named_if_the_trace_has_them(self):
        known = dict(cli_case.HEADER, driver_version=13000, driver_release="580.159.04", runtime_version=12080)
        named = self.make_trace([known, *cli_case.TRACE[1:]], "named")
        self.assertIn("\nDriver 580.159.04, CUDA runtime 12.8\n", self.call("report", named).stdout)
        self.assertNotIn("Driver", self.call("report", self.make_trace()).stdout)
        (trace,) = self.report(named)
        self.assertEqual({key: trace["process"][key] for key in known if "driver" in key or "runtime" in key},
                         {"driver_version": 13000, "driver_release": "580.159.04", "runtime_version": 12080})

    def test_colour_follows_the_environment(self):
        trace = self.make_trace()
        self.assertIn("\033[1m", self.call("report", trace, NO_COLOR="", CLICOLOR_FORCE="1").stdout)
        self.assertNotIn("\033", self.call("report", trace, CLICOLOR_FORCE="1").stdout)

    def test_lines_fit_the_width(self):
        deep = [dict(line) for line in cli_case.TRACE]
        deep[2]["name"] = "x" * 500
        done = self.call("report", self.make_trace(deep), COLUMNS="80")
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines() if "x" * 10 in line), 80)

    def test_a_newer_major_version_is_refused(self):
        done = self.call("report", self.make_trace([dict(cli_case.HEADER, version="2.0")]))
        self.check_code(done, 3)

    def test_an_invalid_trace_gives_1_with_file_and_line(self):
        bad = [dict(line) for line in cli_case.TRACE]
        bad[6]["end"] = 1
        done = self.call("validate", self.make_trace(bad))
        self.check_code(done, 1)
        self.assertIn("trace-00000.ndjson:7: ", done.stdout)
        result = json.loads(self.call("validate", "--json", "trace").stdout)["traces"][0]
        self.assertFalse(result["valid"])
        self.assertEqual(result["problems"][0]["kind"], "time")

    def test_a_torn_trace_is_valid_unless_strict(self):
        trace = self.make_trace()
        with open(trace / "trace-00000.ndjson", "a") as file:
            file.write('{"t":"ker')
        self.check_code(self.call("validate", trace), 0)
        self.check_code(self.call("validate", "--strict", trace), 1)

    def test_one_file_can_be_validated(self):
        self.check_code(self.call("validate", self.make_trace() / "trace-00000.ndjson"), 0)

    def test_the_examples_validate_and_report(self):
        folders = sorted({path.parent for path in (cli_case.REPOSITORY / "schema/examples").rglob("trace-*.ndjson")})
        if not folders:
            self.skipTest("schema/examples holds no trace")
        for folder in folders:
            with self.subTest(folder=str(folder)):
                self.check_code(self.call("validate", folder), 0)
                self.check_code(self.call("report", folder), 0)
                self.report(folder)
                self.report(folder, "--section", "kernels")


class Machine(CommandLine):
    def test_doctor_reports_the_health_of_each_check(self):
        done = self.call("doctor", "--json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["can_trace"], done.returncode == 0)
        self.assertLessEqual({"driver", "gpu", "library", "cupti", "permission", "nvtx", "disk"},
                             {check["check"] for check in result["checks"]})
        for check in result["checks"]:
            self.assertIn(check["health"], ("ok", "warn", "no"))
            self.assertTrue(check["health"] != "no" or check["cure"], check)

    def test_doctor_finds_the_library_of_this_build(self):
        checks = {check["check"]: check for check in json.loads(self.call("doctor", "--json").stdout)["checks"]}
        self.assertEqual(checks["library"]["health"], "ok", checks["library"])

    def test_doctor_detects_another_tool_and_an_unwritable_place(self):
        done = self.call("doctor", "--out", "/proc/nowhere/x", CUDA_INJECTION64_PATH="/opt/other.so")
        self.check_code(done, 3)
        self.assertIn("/opt/other.so", done.stdout)
        self.assertIn("cannot write", done.stdout)


if __name__ == "__main__":
    cli_case.main(__doc__)
