# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: exit codes, streams, JSON. cli_run_test.py tests `run`.

    cli_test.py RANGEFINDER REPOSITORY
"""
import json

import cli_case
from cli_case import CommandLine

WRONG_USE = {
    "": ["", "fly", "--fly"],
    "report": ["", "x --section nothing", "x --sort nothing", "x --top 0"],
    "report trace": ["--iterations x", "--window 5", "--kernel (", "--csv --json",
                     "--section loss --sort nothing", "--csv --table nothing"],
    "validate": [""],
    "run": ["", "--", "./app", "--fly -- true", "--counters most -- true", "--buffers many -- true",
            "--out %z -- true", "--out %q{NOT_SET_HERE} -- true"],
    "diff trace": ["", "trace --fail-over x", "trace --fail-over layer=5%", "trace --fail-over module=5%,",
                   "trace --fail-over module=x", "trace --fail-over module", "trace --json --csv", "trace --kernel a b", "--kernel ( b"],
    "diff --kernel": ["a b", "a b trace trace --json"],
    "export": ["", "--to csv"],
    "export trace": ["", "--to pdf", "--to prometheus --modules 0", "--to perfetto --out x.json.gz"],
}


class Use(CommandLine):
    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["--help"], ["--version"], ["run", "--help"], ["report", "--help"], ["validate", "--help"],
                          ["metrics", "--help"], ["doctor", "--help"]):
            done = self.call(*arguments)
            self.check_code(done, 0)
            self.assertTrue(done.stdout)
            self.assertEqual(done.stderr, "")

    def test_wrong_use_gives_2_and_a_message_on_standard_error(self):
        self.make_trace()
        for verb, arguments in ((verb, one) for verb, several in WRONG_USE.items() for one in several):
            with self.subTest(verb=verb, arguments=arguments):
                done = self.call(*verb.split(), *arguments.split())
                self.check_code(done, 2)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr)
                if verb == "report trace":
                    self.assertTrue(done.stderr.startswith("rangefinder: "), done.stderr)

    def test_without_arguments_ten_lines_say_what_to_type(self):
        done = self.call()
        self.check_code(done, 2)
        lines = done.stderr.splitlines()
        self.assertEqual((len(lines), lines[0], done.stdout), (10, "Start with:", ""))
        for verb in ("demo", "doctor", "run -- ", "report ", "diff ", "attach ", "help ", "--help"):
            self.assertTrue(any(line.startswith("  rangefinder " + verb) for line in lines), verb)
        self.assertIn(done.stderr, self.call("--help").stdout)

    def test_version_has_a_word_and_a_letter(self):
        version = self.call("--version").stdout
        self.assertRegex(version, r"^rangefinder \d+\.\d+\.\d+")
        for words in ("-V", "version"):
            done = self.call(words)
            self.check_code(done, 0)
            self.assertEqual(done.stdout, version)

    def test_for_a_word_that_is_like_no_verb_all_verbs_are_named(self):
        for words in (["nosuch"], ["help", "nosuch"]):
            done = self.call(*words)
            self.check_code(done, 2)
            self.assertRegex(done.stderr, r"^rangefinder: there is no verb nosuch; use run, .*report, diff, .* or doctor\n")

    def test_wrong_use_says_what_to_type(self):
        trace = self.make_trace()
        for words, message in ((["report"], "rangefinder report rangefinder-4711, or --example"),
                               (["run"], "rangefinder run -- ./app"),
                               (["export", trace, "--to", "perfetto", "--out", "x.json.gz"],
                                "Name x.json, and compress it afterwards, or pass --out - to gzip")):
            self.assertIn(message, self.call(*words).stderr)

    def test_a_mistyped_word_gets_a_suggestion(self):
        trace = self.make_trace()
        for words, message in ((["reprot", trace], "there is no verb reprot: did you mean report?"),
                               (["report", trace, "--sectoin", "x"],
                                "report has no option --sectoin: did you mean --section?"),
                               (["export", trace, "--too=csv"], "export has no option --too: did you mean --to?"),
                               (["run", "--conters", "off", "--", "true"],
                                "run has no option --conters: did you mean --counters?"),
                               (["report", trace, "--section", "modul"],
                                "there is no section modul: did you mean modules?"),
                               (["export", trace, "--to", "perfeto"], "there is no format perfeto: did you mean perfetto?")):
            done = self.call(*words)
            self.check_code(done, 2)
            self.assertEqual(done.stderr.splitlines()[0], "rangefinder: " + message)
        for words in (["fly"], ["report", trace, "--qqqqqqqqqqqqqqqqqqqq"], ["report", trace, "--section", "qqqqqqqqqqqq"]):
            self.assertNotIn("did you mean", self.call(*words).stderr)

    def test_help_of_a_verb_is_its_own_help(self):
        for verb in ([], ["report"], ["run"]):
            help_verb, own = self.call("help", *verb), self.call(*verb, "--help")
            self.check_code(help_verb, 0)
            self.assertEqual(help_verb.stdout, own.stdout)
        for verb in ("help", "version"):  # no verbs with options of their own
            done = self.call("help", verb)
            self.check_code(done, 0)
            self.assertEqual(done.stdout, self.call("--help").stdout)
        self.assertIn("did you mean report?", self.call("help", "reprot").stderr)
        self.check_code(self.call("help", "reprot"), 2)


class Read(CommandLine):
    def test_modules_as_json_carry_time_and_loss(self):
        trace = self.report(self.make_trace())
        (module,) = trace["modules"]
        self.assertEqual((module["path"], module["gpu_ns"], module["calls"]), ("model", 1000, 1))
        self.assertEqual(trace["loss"], {})
        self.assertFalse(trace["ended"])

    def test_a_summary_stands_for_its_trace(self):
        trace = self.make_trace()
        (trace / "summary.json").write_text("{}")
        for words in (["report"], ["validate"], ["finalize"]):
            of_trace, of_summary = self.call(*words, trace), self.call(*words, trace / "summary.json")
            self.assertTrue(of_trace.stdout)
            self.assertEqual((of_summary.returncode, of_summary.stdout), (of_trace.returncode, of_trace.stdout), words)
        done = self.call("export", "summary.json", "--to", "csv", cwd=trace)
        self.check_code(done, 0)
        self.assertTrue((self.folder / "trace.csv").is_dir())

    def test_many_traces_are_listed_unless_each_is_requested(self):
        names = [f"runs/{name}" for name in "abcdef"]
        (self.folder / "runs").mkdir()
        for name in names:
            self.make_trace(name=name)
        done = self.call("report", "runs")
        self.check_code(done, 0)
        lines = done.stdout.splitlines()
        self.assertEqual([line.split()[:2] for line in lines[1:7]], [[name, "app"] for name in names])
        self.assertEqual(lines[-2:], ["6 traces, not the ranks of one job. Name one of them, or show all:",
                                      "  rangefinder report runs --each"])
        self.assertLess(len(lines), 12)
        for words in (("runs", "--each"), names):
            self.assertEqual(self.call("report", *words).stdout.count("\nmodel "), 6, words)
        self.assertEqual(len(json.loads(self.call("report", "runs", "--json").stdout)["traces"]), 6)

    def test_text_names_what_is_missing(self):
        done = self.call("report", self.make_trace())
        self.check_code(done, 0)
        self.assertIn("No end line", done.stdout)
        self.assertIn("1.00 us", done.stdout)
        self.assertNotIn("\033", done.stdout)

    def test_the_driver_and_the_runtime_are_named_if_the_trace_has_them(self):
        known = dict(cli_case.HEADER, driver_version=13000, driver_release="580.159.04", runtime_version=12080)
        named = self.make_trace([known, *cli_case.TRACE[1:]], "named")
        for words in (["--section", "modules"], []):
            self.assertIn("driver 580.159.04, cuda runtime 12.8\n", self.call("report", named, *words).stdout.lower())
        self.assertNotIn("Driver", self.call("report", self.make_trace()).stdout)
        process = self.report(named)["process"]
        self.assertEqual({key: process[key] for key in known if "driver" in key or "runtime" in key},
                         {"driver_version": 13000, "driver_release": "580.159.04", "runtime_version": 12080})

    def test_colour_follows_the_environment(self):
        trace = self.make_trace()
        self.assertIn("\033[1m", self.call("report", trace, NO_COLOR="", CLICOLOR_FORCE="1").stdout)
        self.assertNotIn("\033", self.call("report", trace, CLICOLOR_FORCE="1").stdout)

    def test_color_takes_precedence_over_the_environment(self):
        trace = self.make_trace()
        self.assertIn("\033[1m", self.call("report", trace, "--color", "always").stdout)
        self.assertNotIn("\033", self.call("report", trace, "--color=never", NO_COLOR="", CLICOLOR_FORCE="1").stdout)
        self.assertNotIn("\033", self.call("report", trace, "--color", "auto").stdout)
        self.assertIn("\033[1m", self.call("diff", trace, trace, "--color", "always").stdout)
        done = self.call("report", trace, "--color", "allways")
        self.check_code(done, 2)
        self.assertIn("allways is not auto, always or never: did you mean always?", done.stderr)

    def test_the_kernels_of_diff_may_come_before_the_trace_and_before_other_options(self):
        other = [{**cli_case.TRACE[3], "id": 2, "mangled": "other", "demangled": "other"},
                 {**cli_case.TRACE[6], "name": 2, "start": 2000, "end": 2500}]
        trace, kernels = self.make_trace([*cli_case.TRACE, *other]), ("--kernel", "int", "other")
        wanted = self.call("diff", "--json", trace, *kernels)
        self.check_code(wanted, 0)
        for words in ((trace, *kernels, "--json"), (*kernels, trace, "--json"), ("--json", *kernels, trace),
                      (*kernels, "--json", trace)):
            done = self.call("diff", *words)
            self.check_code(done, 0)
            self.assertEqual(done.stdout, wanted.stdout)

    def test_lines_fit_the_width(self):
        deep = [dict(line) for line in cli_case.TRACE]
        deep[2]["name"] = "x" * 500
        done = self.call("report", self.make_trace(deep), COLUMNS="80")
        self.assertLessEqual(max(len(line) for line in done.stdout.splitlines() if "x" * 10 in line), 80)

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

    def test_the_example_validates_and_reports(self):
        folder = cli_case.REPOSITORY / "schema/examples"
        self.check_code(self.call("validate", folder), 0)
        self.check_code(self.call("report", folder), 0)
        self.report(folder)
        self.report(folder, "--section", "kernels")


class Machine(CommandLine):
    def test_doctor_reports_the_health_of_each_check_and_finds_the_library_of_this_build(self):
        done = self.call("doctor", "--json")
        self.assertIn(done.returncode, (0, 3), done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["can_trace"], done.returncode == 0)
        checks = {check["check"]: check for check in result["checks"]}
        self.assertLessEqual({"driver", "gpu", "library", "cupti", "permission", "nvtx", "disk"}, set(checks))
        self.assertEqual(checks["library"]["health"], "ok", checks["library"])
        for check in result["checks"]:
            self.assertIn(check["health"], ("ok", "warn", "no"))
            self.assertTrue(check["health"] != "no" or check["cure"], check)

    def test_doctor_detects_another_tool_and_an_unwritable_place(self):
        done = self.call("doctor", "--out", "/proc/nowhere/x", CUDA_INJECTION64_PATH="/opt/other.so")
        self.check_code(done, 3)
        self.assertIn("/opt/other.so", done.stdout)
        self.assertIn("cannot write", done.stdout)


if __name__ == "__main__":
    cli_case.main(__doc__)
