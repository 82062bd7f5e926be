# SPDX-License-Identifier: Apache-2.0
"""Programs with unusual behaviour: each behaves as without us, and is recorded."""

import os
import shutil
import subprocess
from collections import Counter

from harness import DEADLINE_SECONDS, Build, InjectionCase, clean_environment
from trace import Trace

NOBODY = 65534
ALIVE_MS = "1300"  # more than the 1 s after which everything must be on disk


class LifeCases(InjectionCase):
    def assert_lives(self, *words, kernels, program="lives", lost=(), **options):
        for counters in ("off", "exact"):
            with self.subTest(words=words, counters=counters):
                run = self.run_both(program, *words, RANGEFINDER_COUNTERS=counters, **options)

                self.assert_silent(run)
                trace = run.trace()
                self.assert_balanced(trace)
                self.assertEqual(len(trace.of("kernel")), kernels)
                self.assertLessEqual(trace.end["loss"].keys(), {"names_truncated"} | set(lost))

    def test_contexts_come_and_go(self):
        self.assert_lives("contexts", "40", kernels=400)

    def test_a_primary_context_is_retained_twice_and_released(self):
        self.assert_lives("primary", kernels=40)

    def test_a_device_is_reset_while_it_is_in_use(self):
        self.assert_lives("reset", kernels=20)

    def test_a_stack_of_128_kib_is_enough(self):
        self.assert_lives("stack", kernels=10)

    def test_a_thread_that_is_cancelled_ends_where_it_would_without_us(self):
        # A real cuInit has cancellation points of its own, which we cannot influence.
        for how in ("cancel",) if Build.real else ("cancel", "cancel-all"):
            self.assert_lives(how, kernels=10)
            self.assert_lives(how, kernels=10, RANGEFINDER_CAPTURE="nvtx:work")

    def test_a_program_that_closes_our_files_and_opens_its_own_finds_nothing_of_ours_in_them(self):
        if Build.real:
            self.skipTest("the driver's files are closed, too")
        self.assert_lives("closefrom", kernels=20, program="daemons", RANGEFINDER_RECORD="recording")
        for own in self.place.glob("run-*/own-*"):
            self.assertEqual(own.read_text(), own.name)

    def test_a_program_that_changes_its_folder_has_one_trace_where_it_began(self):
        self.assert_lives("chdir", kernels=20, program="daemons")
        traces = list(self.place.glob("run-*/*/trace-*.ndjson"))
        self.assertEqual(len(traces), 2)
        self.assertTrue(all((trace.parent / "summary.json").exists() for trace in traces))

    def test_a_program_that_becomes_another_has_a_trace_of_each(self):
        run = self.run_both("daemons", "exec", Build.program("plain"), "7")

        self.assert_silent(run)
        first, second = (Trace(folder) for folder in run.folders())
        self.assertEqual([len(trace.of("kernel")) for trace in (first, second)], [10, 7])
        self.assertEqual(first.headers[0]["pid"], second.headers[0]["pid"])
        self.assertEqual(second.folder.name, first.folder.name + "-2")
        self.assert_balanced(first, ended=False)
        self.assert_balanced(second)

    def test_a_program_that_gives_up_its_rights_is_told_what_is_not_written(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give up rights")
        # 10,000 launches do not fit into one segment.
        for counters, launches in (("off", 10), ("exact", 10), ("sampled", 10), ("off", 5000)):
            with self.subTest(counters=counters, launches=launches):
                run = self.run_both("daemons", "setuid", str(launches), RANGEFINDER_COUNTERS=counters,
                                    RANGEFINDER_SEGMENT_MB="1")

                self.assert_one_line(run, "summary.json", "Permission denied", "has no summary")
                trace = run.trace()
                self.assert_valid(trace.folder)
                self.assertEqual(len(trace.of("kernel")), 2 * launches)
                self.assertNotIn("lines_not_written", trace.end["loss"])

    def test_a_program_without_standard_streams_gets_none_of_ours_as_one(self):
        if Build.real:
            self.skipTest("a real driver's files are its standard streams")
        self.assert_lives("streams", kernels=20, program="daemons")
        self.assert_lives("streams", kernels=20, program="daemons", RANGEFINDER_CONTROL="off",
                          RANGEFINDER_RECORD="recording")

    def test_a_trace_that_is_removed_under_way_is_told_and_goes_on_if_its_folder_is_there(self):
        for what, left in (("folder", []), ("file", ["trace-00001.ndjson"])):
            with self.subTest(what=what):
                run = self.run_both("daemons", "remove", what)

                self.assert_one_line(run, "trace-00000.ndjson", "removed", "lost lines are counted")
                segments = list(run.place.glob("*/trace-*"))
                self.assertEqual([segment.name for segment in segments], left)
                for segment in segments:
                    trace = Trace(segment.parent)
                    # The flush that finds the file gone may come before or after the records of the second 10 launches.
                    self.assertIn(len(trace.of("kernel")), (10, 20))
                    self.assertGreater(trace.end["loss"]["lines_not_written"], 0)

    def test_64_threads_launch_and_64_more_after_them(self):
        # At most 80 threads have a ring at a time. The second 64 may start before the first 64 rings are read.
        self.assert_lives("threads", "64", kernels=1280, lost=("threads_without_ring", "record_without_launch"))

    def test_kernels_keep_their_names_though_modules_go(self):
        # Individual launches, and nodes of graphs that are launched twice.
        for program, counters, times in (("modules", "off", 1), ("modules", "exact", 1), ("graphs", "off", 2)):
            wanted = Counter({f"jit_{number:04}": times * (number % 3 + 1) for number in range(40)})
            with self.subTest(program=program, counters=counters):
                run = self.run_both("lives", program, "40", RANGEFINDER_COUNTERS=counters)

                self.assert_silent(run)
                self.assert_balanced(run.trace())
                self.assertEqual(Counter(line["name_text"] for line in run.trace().of("kernel")), wanted)

    def test_the_library_stays_where_a_program_loads_and_unloads_it(self):
        self.assert_lives("dlclose", str(Build.injection_library), kernels=10)

    def test_a_library_may_use_cuda_while_it_is_loaded_and_unloaded(self):
        library = str(Build.program("libcuda_at_load.so"))
        lost = ("exact_unmeasured",)  # counters need a library; the thread that loads it waits for this one
        self.assert_lives("load", library, kernels=20, lost=lost)
        self.assert_lives("load", library, kernels=10, lost=lost, RANGEFINDER_CAPTURE="nvtx:work")
        for counters in ("exact", "sampled"):
            run = self.run_both("lives", "load", library, nvtx=True, RANGEFINDER_COUNTERS=counters,
                                RANGEFINDER_EXACT_AT="range")
            if run.stderr and counters == "sampled":  # the start of sampling waits for the loader's lock too
                self.assert_one_line(run, "no bytes: sampling had not started")
            else:
                self.assert_silent(run)
            self.assert_balanced(run.trace())

    def test_a_sandbox_without_sockets_is_recorded_and_not_listened_to(self):
        self.assert_lives("sandbox", kernels=10)

        self.assertEqual(list(self.runtime.glob("**/*.sock")), [])

    def test_correlation_ids_that_wrap_around_still_join(self):
        for counters in ("off", "exact"):
            run = self.run_both("plain", "100", fake={"FAKE_CUDA_CORRELATION": str(2**32 - 40)},
                                RANGEFINDER_COUNTERS=counters)

            self.assert_silent(run)
            trace = run.trace()
            self.assert_balanced(trace)
            self.assertEqual({line["path_text"] for line in trace.of("kernel")}, {"work/step"})
            self.assertLess(min(line["corr"] for line in trace.of("kernel")), 100)

    def test_a_broken_pipe_as_standard_error_does_not_end_the_program(self):
        bare = self.run_bare("lives", "pipe")
        run = self.run_injected("lives", "pipe", RANGEFINDER_BUFERS="8")  # causes a message

        self.assertEqual((run.status, run.stdout), (bare.status, bare.stdout))
        self.assert_balanced(run.trace())

    def test_a_program_that_writes_numbers_as_its_country_does_changes_none_of_ours(self):
        locales = self._new_place("locales")
        if shutil.which("localedef") is None or subprocess.run(
                ["localedef", "-i", "de_DE", "-f", "UTF-8", locales / "de_DE.UTF-8"], capture_output=True,
                check=False).returncode != 0:
            self.skipTest("no other locale can be made")
        run = self.run_both("lives", "locale", fake={"LOCPATH": str(locales), "LC_ALL": "de_DE.UTF-8"},
                            RANGEFINDER_REPORT="report.txt", RANGEFINDER_COUNTERS="sampled")

        self.assert_silent(run)
        self.assert_balanced(run.trace())
        report = (run.place / "report.txt").read_text()
        self.assertRegex(report, r"100[.]0 %")
        self.assertNotRegex(report, r"\d,\d{1,2}\b")

    def test_a_program_has_an_operator_new_spdlog_and_libstdcxx_of_its_own(self):
        for program in ("foreign", "foreign_static"):
            with self.subTest(program=program):
                run = self.run_both(program, RANGEFINDER_LOG="error")

                self.assert_silent(run)
                self.assert_balanced(run.trace())

    def test_a_setuid_program_is_left_alone_and_says_so(self):
        if Build.real:
            self.skipTest("its program knows where the fake driver is")
        if os.geteuid() != 0:
            self.skipTest("only root can make a program setuid")
        os.chmod(self.place, 0o755)
        program = shutil.copy(Build.program("secure"), self.place / "secure")
        os.chmod(program, 0o4755)
        place = self._new_place("secure-run")
        os.chmod(place, 0o777)
        environment = clean_environment() | {
            "CUDA_INJECTION64_PATH": str(Build.injection_library), "NVTX_INJECTION64_PATH": str(Build.injection_library),
            "RANGEFINDER_CUPTI": str(Build.cupti()), "RANGEFINDER_OUT": str(place / "trace"),
            "XDG_RUNTIME_DIR": str(self.runtime)}
        done = subprocess.run([program, "5"], env=environment, cwd=place, capture_output=True, text=True, check=False,
                              timeout=DEADLINE_SECONDS, user=NOBODY)

        self.assertEqual((done.returncode, done.stdout), (0, "5 launches\n"), done.stderr)
        self.assertEqual(done.stderr, "rangefinder: a setuid program is not recorded: its environment comes from "
                                      "another user\n")
        self.assertEqual(list(place.iterdir()), [])


class ProcessLifeCases(InjectionCase):
    def test_an_end_that_no_handler_sees_leaves_whole_lines(self):
        for how in ("term", "throw", "quick_exit"):
            for counters in ("off", "exact"):
                with self.subTest(how=how, counters=counters):
                    bare = self.run_bare("exits", how, ALIVE_MS)
                    run = self.run_both("exits", how, ALIVE_MS, RANGEFINDER_COUNTERS=counters)

                    self.assertEqual(run.stderr, bare.stderr)
                    trace = run.trace()
                    self.assert_balanced(trace, ended=False)
                    self.assertEqual(len(trace.of("range")), 51)

    def test_a_child_by_other_ways_than_fork_has_a_trace_of_its_own(self):
        for how in ("spawn", "vfork", "system"):
            with self.subTest(how=how):
                words = [f"{Build.program('plain')} 7"] if how == "system" else [Build.program("plain"), "7"]
                run = self.run_both("forks", how, *words)

                self.assert_silent(run)
                traces = sorted((Trace(folder) for folder in run.folders()), key=lambda each: len(each.of("kernel")))
                self.assertEqual([len(trace.of("kernel")) for trace in traces], [7, 20])
                for trace in traces:
                    self.assert_balanced(trace)

    def test_a_daemon_is_recorded(self):
        run = self.run_both("forks", "daemon")

        self.assert_silent(run)
        self.assert_balanced(run.trace())
        self.assertEqual(len(run.trace().of("kernel")), 10)
