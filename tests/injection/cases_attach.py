# SPDX-License-Identifier: Apache-2.0
"""`rangefinder attach` and `rangefinder top` on running programs."""

import json
import os
import signal
import subprocess
import unittest

from harness import DEADLINE_SECONDS, Build, bounds_wall_time, clean_environment
from obedient import ObedientCase
from trace import Trace


class AttachCases(ObedientCase):
    def setUp(self):
        super().setUp()
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")

    def call(self, *words, status=0):
        environment = clean_environment() | {"XDG_RUNTIME_DIR": str(self.runtime), "NO_COLOR": "1"}
        done = subprocess.run([str(Build.rangefinder), *map(str, words)], env=environment, cwd=self.place, text=True,
                              capture_output=True, check=False, timeout=DEADLINE_SECONDS)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_processes_are_shown_by_id_and_by_name(self):
        first, second = self.start_program(RANGEFINDER_START="off"), self.start_program()
        for words in ((), ("--all",), ("obedient",)):
            shown = self.call("attach", *words).stdout
            self.assertIn(f"{first.process.pid}  obedient  idle", shown)
            self.assertIn(f"{second.process.pid}  obedient  recording", shown)
        only = [json.loads(line) for line in self.call("attach", first.process.pid, "--json").stdout.splitlines()]

        self.assertEqual([(each["pid"], each["state"]) for each in only], [(first.process.pid, "idle")])
        self.end_program(first)
        self.end_program(second)

    def test_a_window_is_written_where_it_was_asked_for(self):
        program = self.start_program(RANGEFINDER_START="off")

        self.call("attach", program.process.pid, "--start", "--out", "here")
        program.do("launch 6")
        said = self.call("attach", program.process.pid, "--stop").stdout

        self.assertIn(str(self.place / "here"), said)
        trace = Trace(self.place / "here")
        self.assert_balanced(trace)
        self.assertEqual(len(trace.of("kernel")), 6)
        self.end_program(program)

    @bounds_wall_time
    def test_all_processes_open_their_windows_at_the_same_time(self):
        programs = [self.start_program(RANGEFINDER_START="off", RANK=str(rank)) for rank in range(3)]
        for program in programs:
            program.do("storm on")

        self.call("attach", "--all", "--window", "100ms", "--out", "ranks")

        folders = [self.place / f"ranks/rank={rank}/pid={each.process.pid}" for rank, each in enumerate(programs)]
        headers = [Trace(folder).headers[0] for folder in folders]
        begins = [int(header["base_unix_ns"]) for header in headers]
        self.assertEqual([header["rank"] for header in headers], ["0", "1", "2"])
        # Time 0 is the requested time, to the nanosecond. A process that starts late reports a later time.
        self.assertEqual(len(set(begins)), 1, "the windows' time 0")
        for program in programs:
            program.do("storm off")
            self.end_program(program)

    def test_a_process_without_us_is_told_apart_from_none(self):
        started = self.call("attach", os.getpid(), status=3).stderr
        missing = self.call("attach", 2**22 + 1, status=3).stderr
        nobody = self.call("attach", status=3).stderr

        self.assertIn("was started without Rangefinder", started)
        self.assertIn("rangefinder run --start off", started)
        self.assertIn("there is no process", missing)
        self.assertIn("no process runs with Rangefinder", nobody)

    def test_wrong_use_is_told(self):
        program = self.start_program(RANGEFINDER_START="off")
        other = self.start_program(RANGEFINDER_START="off")
        pid = program.process.pid
        for words in (("--start",), (pid, "--start", "--stop"), (pid, "--window", "often"), (pid, "--window", "5"),
                      (pid, "--window", "1s", "--launches", "5"), (pid, "--start", "--at", "+1s"),
                      (pid, "--window", "1s", "--at", "soon"), (pid, "--stop", "--out", "x"),
                      (pid, "--window", "1s", "--counters", "all")):
            self.call("attach", *words, status=2)
        self.assertIn("no window is open", self.call("attach", pid, "--stop", status=3).stderr)
        self.end_program(program)
        self.end_program(other)

    def test_top_prints_tables_where_there_is_no_terminal(self):
        program = self.start_program()
        program.do("storm on")

        said = self.call("top", program.process.pid, "--every", "200", "-n", "3").stdout

        tables = said.split("rangefinder top: 1 processes, 1 recording")[1:]
        self.assertEqual(len(tables), 3)
        rows = [next(line.split() for line in table.splitlines() if line.startswith("storm")) for table in tables[1:]]
        # Over all tables: on a busy machine two tables may follow immediately, with no activity between them.
        self.assertGreater(max(float(row[1]) for row in rows), 0, "GPU ms a second")
        self.assertGreater(max(float(row[3].replace(",", "")) for row in rows), 100, "launches a second")
        program.do("storm off")
        self.end_program(program)

    def test_top_says_how_to_open_a_window(self):
        program = self.start_program(RANGEFINDER_START="off")
        said = self.call("top", program.process.pid, "--every", "200", "-n", "2").stdout
        self.assertIn(f"no window is open: `rangefinder attach {program.process.pid} --start` opens one", said)
        self.assertNotIn("nothing ran", said)
        self.end_program(program)

    def test_a_stopped_process_is_unresponsive_and_delays_no_other(self):
        stopped, running = self.start_program(RANGEFINDER_START="off"), self.start_program(RANGEFINDER_START="off")
        pid, connections = stopped.process.pid, []
        self.suspend(stopped, connections)
        self.check_unresponsive(stopped, running)
        for words in (("attach", pid, "--start"), ("top", pid)):
            self.assertIn(f"process {pid} is unresponsive", self.call(*words, status=3).stderr)
        self.assertIn(f"unresponsive: {pid}", self.call("attach", "no-such-program", status=3).stderr)
        done = self.call("attach", "--all", "--start", "--out", "out/%p", status=3)
        self.assertIn(f"process {pid} is unresponsive", done.stderr)
        self.assertIn(f"{running.process.pid}  ", done.stdout)
        self.assertIn(", 1 unresponsive", self.call("top", "--every", "200", "-n", "2").stdout)

        for connection in connections:
            connection.close()
        stopped.process.send_signal(signal.SIGCONT)
        self.assertIn(f"{pid}  obedient  idle", self.call("attach", pid).stdout)
        stopped.process.send_signal(signal.SIGSTOP)  # now with room in its queue
        self.check_unresponsive(stopped, running)

        stopped.process.send_signal(signal.SIGCONT)
        self.end_program(stopped)
        self.end_program(running)

    def check_unresponsive(self, stopped, running):
        shown = self.call("attach").stdout
        self.assertIn(f"{stopped.process.pid}  unresponsive", shown)
        self.assertIn(f"{running.process.pid}  obedient", shown)
        said = self.call("attach", stopped.process.pid, status=3).stderr
        self.assertIn(f"process {stopped.process.pid} is unresponsive", said)
        self.assertNotIn("without Rangefinder", said)

    def test_top_shows_the_others_when_a_process_stops(self):
        stopped, running = self.start_program(), self.start_program()
        environment = clean_environment() | {"XDG_RUNTIME_DIR": str(self.runtime), "NO_COLOR": "1"}
        with subprocess.Popen([str(Build.rangefinder), "top", "--every", "200"], env=environment, cwd=self.place,
                              text=True, stdout=subprocess.PIPE) as top:
            self.addCleanup(top.kill)
            for line in top.stdout:
                if "2 processes, 2 recording\n" in line:
                    break
            self.suspend(stopped, [])
            for line in top.stdout:
                if "1 recording, 1 unresponsive" in line:
                    break
            stopped.process.send_signal(signal.SIGCONT)
            for line in top.stdout:
                if "2 processes, 2 recording\n" in line:
                    break
            self.assertIsNone(top.poll())
            top.terminate()
        self.end_program(stopped)
        self.end_program(running)
