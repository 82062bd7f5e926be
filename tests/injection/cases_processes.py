# SPDX-License-Identifier: Apache-2.0
"""Runs of several processes: exec'd children, ranks."""

import subprocess
import sys
import unittest
from pathlib import Path

from harness import DEADLINE_SECONDS, Build, InjectionCase, host_environment
from trace import Trace

FORKED = Path(__file__).parent / "programs" / "forked.py"


class ProcessCases(InjectionCase):
    def run_by_command(self, *words, **variables):
        """`rangefinder run` of programs with the fake driver."""
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")
        done = subprocess.run([str(Build.rangefinder), "run", "-q", *map(str, words)], text=True, cwd=self.place,
                              env=host_environment(self.runtime, variables), capture_output=True, check=False,
                              timeout=DEADLINE_SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def folders(self):
        return sorted(str(path.parent.relative_to(self.place)) for path in self.place.glob("**/trace-00000.ndjson"))

    def test_a_child_that_is_a_program_has_a_folder_of_its_own(self):
        self.run_by_command("--out", "both", "--", Build.program("forks"), "exec", Build.program("plain"), "7")

        folders = self.folders()
        traces = [Trace(self.place / folder) for folder in folders]
        self.assertEqual(folders, ["both", f"both/pid={traces[-1].headers[0]['pid']}"])
        self.assertTrue(all(trace.end is not None for trace in traces))
        # The first process owns the folder itself: the parent, unless its thread waits for a CPU all that time.
        self.assertEqual(sorted(len(trace.of("kernel")) for trace in traces), [7, 20])

    def test_children_of_python_that_end_without_handlers_are_complete(self):
        for how in ("fork", "multiprocessing"):
            with self.subTest(how=how):
                self.run_by_command("--out", how, "--counters", "off", "--", sys.executable, FORKED, how, "2", "101")

                traces = [Trace(self.place / folder) for folder in self.folders() if folder.startswith(how)]
                self.assertEqual([len(trace.of("kernel")) for trace in traces], [101, 101])
                for trace in traces:
                    self.assert_balanced(trace)

    def test_children_can_be_left_out(self):
        self.run_by_command("--out", "one", "--children", "off", "--", Build.program("forks"), "exec",
                            Build.program("plain"), "7")

        self.assertEqual(self.folders(), ["one"])

    def test_a_program_behind_a_wrapper_is_written_where_it_was_asked_for(self):
        self.run_by_command("--out", "wrapped", "--", "sh", "-c", f"{Build.program('plain')} 7; true")

        self.assertEqual(self.folders(), ["wrapped"])

    def test_force_replaces_what_was_there_before_the_run_and_nothing_of_it(self):
        (self.place / "all").mkdir()
        (self.place / "all/trace-00000.ndjson").write_text("an old trace\n")
        plain = Build.program("plain")
        becomes_another = [Build.program("daemons"), "exec", plain, "8"]
        for out, words, wanted in (("all", ["sh", "-c", f"{plain} 6; {plain} 7; exec {plain} 8"], [6, 7, 8]),
                                   ("each-%p", becomes_another, [8, 10])):
            with self.subTest(out=out):
                self.run_by_command("--out", out, "--force", "--", *words)

                traces = [Trace(self.place / folder) for folder in self.folders() if folder.startswith(out[:3])]
                self.assertEqual(sorted(len(trace.of("kernel")) for trace in traces), wanted)

    def test_a_run_in_which_no_window_was_opened_says_so(self):
        command = [Build.rangefinder or "", "run", "--start", "off", "--", Build.program("plain"), "5"]
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")
        done = subprocess.run([str(word) for word in command], env=host_environment(self.runtime),
                              text=True, cwd=self.place, capture_output=True, check=False, timeout=DEADLINE_SECONDS)

        self.assertEqual((done.returncode, done.stdout), (0, "5 launches\n"))
        self.assertIn("no window was opened", done.stderr)
        self.assertEqual(self.folders(), [])

    def test_ranks_are_told_apart_by_their_folders(self):
        for variable, rank in (("RANK", "3"), ("OMPI_COMM_WORLD_RANK", "4"), ("PMI_RANK", "5"), ("SLURM_PROCID", "6")):
            with self.subTest(variable=variable):
                run = self.run_injected("plain", "4", RANGEFINDER_OUT="ranks", **{variable: rank})

                self.assert_silent(run)
                folder, = run.folders()
                header = run.trace().headers[0]
                wanted = f"ranks/host={header['host']}/rank={rank}/pid={header['pid']}"
                self.assertEqual(str(folder.relative_to(run.place)), wanted)
                self.assertEqual(header["rank"], rank)

    def test_a_template_that_names_the_rank_is_left_as_it_is(self):
        run = self.run_injected("plain", "4", RANGEFINDER_OUT="r%r", RANK="3")

        self.assertEqual([folder.name for folder in run.folders()], ["r3"])
