# SPDX-License-Identifier: Apache-2.0
"""`rangefinder run` from outside: exit codes, signals, variables, the report at the end.

    cli_run_test.py RANGEFINDER REPOSITORY

The programs are small scripts. For a trace they append its folder to the manifest, as the library does.
"""
import json
import os
import signal
import subprocess
import sys

import cli_case
from cli_case import CommandLine, clean_environment

SUMMARY = {
    "schema": "rangefinder.summary", "version": "1.0", "final": True,
    "process": {"pid": 4711, "executable": "/usr/bin/app", "counters": "off"},
    "modules": [{"path": "model", "depth": 1, "calls": 1, "kernels": 1, "gpu_ns": 1000, "gpu_ns_exclusive": 1000}],
    "outside": {"kernels": 0, "gpu_ns": 0}, "kernels": [], "memcpy": [], "loss": {},
}
# A program for `run` that writes what a traced process writes.
FAKE_TRACED = (
    "import json, os, sys\n"
    "out = os.environ['RANGEFINDER_OUT'].replace('%p', str(os.getpid()))\n"
    "os.makedirs(out)\n"
    "json.dump(json.loads(sys.argv[1]), open(out + '/summary.json', 'w'))\n"
    "open(os.environ['RANGEFINDER_MANIFEST'], 'a').write(out + '\\n')\n"
)
PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"


class Run(CommandLine):
    def test_the_exit_code_of_the_program_is_returned(self):
        for code in (0, 1, 2, 3, 42, 255):
            self.check_code(self.call("run", "--", "sh", "-c", f"exit {code}"), code)

    def test_a_program_that_is_killed_missing_or_not_executable_gives_what_a_shell_gives(self):
        (self.folder / "data").write_text("x")
        for program, code, said in ((["sh", "-c", "kill -9 $$"], 137, "signal 9"), (["./data"], 126, ""),
                                    (["./no-such-program"], 127, "no-such-program")):
            done = self.call("run", "--", *program)
            self.check_code(done, code)
            self.assertIn(said, done.stderr)

    def test_arguments_reach_the_program_unchanged(self):
        arguments = ["--", "-h", "--out", "a b", "", "%p", "é"]
        done = self.call("run", "--", sys.executable, "-c", "import json,sys; print(json.dumps(sys.argv[1:]))", *arguments)
        self.assertEqual(json.loads(done.stdout), arguments)

    def test_a_program_without_cuda_gives_no_trace_and_a_message(self):
        done = self.call("run", "--", "echo", "hello")
        self.check_code(done, 0)
        self.assertEqual(done.stdout, "hello\n")
        self.assertIn("no trace was written", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_quiet_prints_nothing(self):
        self.assertEqual(self.call("run", "--quiet", "--", "true").stderr, "")

    def environment_of_program(self, *arguments, **environment):
        done = self.call("run", "-q", *arguments, "--", sys.executable, "-c", PRINT_ENVIRONMENT, **environment)
        self.check_code(done, 0)
        return json.loads(done.stdout)

    def test_mpi_is_preloaded_first(self):
        build = os.path.dirname(os.path.dirname(os.path.realpath(cli_case.RANGEFINDER)))
        library = os.path.join(build, "lib", "librangefinder_mpi.so")
        if not os.path.exists(library):
            done = self.call("run", "--mpi", "--", "true")
            self.check_code(done, 3)
            self.assertIn("libopenmpi-dev", done.stderr)
            return
        self.assertEqual(self.environment_of_program("--mpi")["LD_PRELOAD"], library)
        both = self.environment_of_program("--mpi", LD_PRELOAD="libm.so.6")
        self.assertEqual(both["LD_PRELOAD"], library + ":libm.so.6")

    def test_both_injection_variables_name_the_library(self):
        seen = self.environment_of_program()
        self.assertEqual(os.path.basename(seen["CUDA_INJECTION64_PATH"]), "librangefinder.so")
        self.assertEqual(seen["NVTX_INJECTION64_PATH"], seen["CUDA_INJECTION64_PATH"])
        self.assertNotIn("RANGEFINDER_NVTX_CHAIN", seen)
        self.assertEqual(seen.get("LD_LIBRARY_PATH"), os.environ.get("LD_LIBRARY_PATH"))

    def test_flags_become_variables_and_other_variables_stay(self):
        seen = self.environment_of_program("--counters", "exact", "--no-memory", "--flush-ms", "100",
                                           RANGEFINDER_EVENTS="off")
        wanted = {"COUNTERS": "exact", "MEMORY": "off", "FLUSH_MS": "100", "EVENTS": "off", "BUFFERS": None}
        self.assertEqual({name: seen.get("RANGEFINDER_" + name) for name in wanted}, wanted)

    def test_bytes_are_sampled_by_default(self):
        for counters, arguments, environment in (("auto", [], {}), ("off", ["--counters", "off"], {}),
                                                 ("off", [], {"RANGEFINDER_COUNTERS": "off"})):
            seen = self.environment_of_program(*arguments, **environment)
            self.assertEqual(seen["RANGEFINDER_COUNTERS"], counters)

    def test_out_becomes_absolute_and_keeps_the_process_id_placeholder(self):
        here = str(self.folder.resolve())
        several = {"JOB": "7%", "SLURM_PROCID": "3"}
        for out, arguments, environment in (
                (here + "/rangefinder-%p", [], {}), ("/a/%p", [], {"RANGEFINDER_OUT": "/a/%p"}),
                (here + "/x/3-7%%-%%-%p", ["--out", "x/%r-%q{JOB}-%%-%p"], several)):
            seen = self.environment_of_program(*arguments, **environment)
            self.assertEqual(seen["RANGEFINDER_OUT"], out)

    def test_another_nvtx_library_is_chained(self):
        seen = self.environment_of_program(NVTX_INJECTION64_PATH="/opt/other.so")
        self.assertEqual(seen["RANGEFINDER_NVTX_CHAIN"], "/opt/other.so")

    def test_another_tool_in_the_driver_is_refused(self):
        done = self.call("run", "--", "true", CUDA_INJECTION64_PATH="/opt/other.so")
        self.check_code(done, 2)
        self.assertIn("/opt/other.so", done.stderr)
        self.check_code(self.call("run", "--", "true", CUDA_INJECTION64_PATH="/old/librangefinder.so"), 0)

    def test_torch_modules_come_first_on_the_python_path(self):
        seen = self.environment_of_program("--torch-modules", PYTHONPATH="/mine")
        first, rest = seen["PYTHONPATH"].split(":", 1)
        self.assertTrue(os.path.exists(first + "/sitecustomize.py"))
        self.assertEqual(rest, "/mine")
        self.assertEqual(seen["RANGEFINDER_TORCH_MODULES"], "on")

    def test_torch_memory_is_torch_modules_with_more(self):
        seen = self.environment_of_program("--torch-memory")
        self.assertTrue(os.path.exists(seen["PYTHONPATH"].split(":")[0] + "/sitecustomize.py"))
        self.assertEqual(seen["RANGEFINDER_TORCH_MODULES"], "memory")

    def test_a_trace_is_never_overwritten_without_force(self):
        trace = self.make_trace()
        (trace / "notes.txt").write_text("mine")
        done = self.call("run", "--out", "trace", "--", "true")
        self.check_code(done, 2)
        self.assertIn("--force", done.stderr)
        self.assertTrue((trace / "trace-00000.ndjson").exists())
        self.check_code(self.call("run", "--force", "--out", "trace", "--", "true"), 0)
        self.assertEqual([p.name for p in trace.iterdir()], ["notes.txt"])

    def test_signals_are_forwarded(self):
        program = ("import signal,sys,time\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit(9))\n"
                   "print('up', flush=True)\nwhile True: time.sleep(1)")
        with subprocess.Popen([cli_case.RANGEFINDER, "run", "-q", "--", sys.executable, "-c", program], cwd=self.folder,
                              stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), 9)

    def test_the_program_has_the_signals_of_a_shell(self):
        done = self.call("run", "-q", "--", "sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status")
        plain = subprocess.run(["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"], text=True, capture_output=True)
        self.assertEqual(done.stdout, plain.stdout)

    def test_the_manifest_is_removed(self):
        seen = self.environment_of_program()
        self.assertFalse(os.path.exists(seen["RANGEFINDER_MANIFEST"]))

    def test_the_layer_report_ends_the_run(self):
        done = self.call("run", "--out", "t", "--", sys.executable, "-c", FAKE_TRACED, json.dumps(SUMMARY))
        self.check_code(done, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn("model", done.stderr)
        self.assertTrue(done.stderr.endswith("1 kernel, 0 copies, 0 records lost.  Next:  rangefinder report t\n"),
                        done.stderr)

    def test_the_run_ends_with_the_opening_of_the_report(self):
        lines = "".join(json.dumps(line) + "\n" for line in cli_case.TRACE)
        with_trace = FAKE_TRACED + "open(out + '/trace-00000.ndjson', 'w').write(sys.argv[2])\n"
        done = self.call("run", "--out", "t", "--", sys.executable, "-c", with_trace, json.dumps(SUMMARY), lines)
        self.check_code(done, 0)
        opening, separator, _ = self.call("report", "t").stdout.partition("\nmodule ")
        self.assertIn("whole run", opening)
        self.assertTrue(separator)
        self.assertTrue(done.stderr.startswith("\n" + opening), done.stderr)
        self.assertEqual(done.stderr.count("Next:"), 1, done.stderr)

    def test_the_command_for_a_folder_with_blanks_is_quoted(self):
        done = self.call("run", "--out", "a trace", "--", sys.executable, "-c", FAKE_TRACED, json.dumps(SUMMARY))
        self.assertTrue(done.stderr.endswith("Next:  rangefinder report 'a trace'\n"), done.stderr)

    def test_several_processes_are_reported_heaviest_first_and_at_most_four(self):
        program = "import subprocess, sys\nfor s in sys.argv[2:]: subprocess.run([sys.executable, '-c', sys.argv[1], s])"
        summaries = []
        for n in (1, 5, 2, 4, 3):
            module = dict(SUMMARY["modules"][0], gpu_ns=n * 1000, path=f"m{n}")
            summaries.append(json.dumps(dict(SUMMARY, modules=[module])))
        done = self.call("run", "--out", "t-%p", "--", sys.executable, "-c", program, FAKE_TRACED, *summaries)
        self.check_code(done, 0)
        places = [done.stderr.index(f"m{n} ") for n in (5, 4, 3, 2)]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("m1 ", done.stderr)
        self.assertIn("1 more process was traced", done.stderr)


if __name__ == "__main__":
    cli_case.main(__doc__)
