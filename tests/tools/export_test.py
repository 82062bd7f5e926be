#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`rangefinder export` as a command: output places, refusals, and files after an error.

    export_test.py PATH_OF_RANGEFINDER REPOSITORY

Needs no GPU. export_timeline_test.py and export_tables_test.py test the contents of the files.
"""
import json
import os
import signal
import subprocess
import time

import cli_case
from cli_case import CommandLine, clean_environment

FILES = {"perfetto": "trace.perfetto.json", "speedscope": "trace.speedscope.json", "sqlite": "trace.sqlite",
         "prometheus": "trace.prom"}
FOLDERS = {"kineto": "trace.kineto", "csv": "trace.csv"}


class Targets(CommandLine):
    def test_without_out_the_result_is_beside_the_trace_and_its_path_is_printed(self):
        trace = self.make_trace()
        for to, name in {**FILES, **FOLDERS}.items():
            done = self.call("export", trace, "--to", to)
            self.check_code(done, 0)
            self.assertTrue((self.folder / name).exists())
            for line in done.stdout.splitlines():
                self.assertTrue(os.path.isfile(line), line)

    def test_a_trailing_slash_changes_nothing(self):
        self.make_trace()
        self.check_code(self.call("export", "trace/", "--to", "prometheus"), 0)
        self.assertTrue((self.folder / "trace.prom").exists())

    def test_an_existing_folder_takes_the_file(self):
        trace = self.make_trace()
        (self.folder / "results").mkdir()
        self.check_code(self.call("export", trace, "--to", "perfetto", "-o", "results"), 0)
        self.assertTrue((self.folder / "results" / "trace.perfetto.json").exists())

    def test_an_existing_file_is_kept_without_force(self):
        trace = self.make_trace()
        for to in (*FILES, *FOLDERS):
            out = self.folder / f"out-{to}"
            self.check_code(self.call("export", trace, "--to", to, "-o", out), 0)
            before = {path: path.stat().st_ino for path in [out, *out.glob("*")] if path.is_file()}
            self.assertTrue(before)
            refused = self.call("export", trace, "--to", to, "-o", out)
            self.check_code(refused, 2)
            self.assertIn("--force", refused.stderr)
            self.assertEqual({path: path.stat().st_ino for path in before}, before)
            self.check_code(self.call("export", trace, "--to", to, "-o", out, "--force"), 0)
            self.assertTrue(all(path.stat().st_ino != inode for path, inode in before.items()))

    def test_a_dash_is_standard_output_for_formats_of_one_file(self):
        trace = self.make_trace()
        for to in ("perfetto", "kineto", "speedscope"):
            done = self.call("export", trace, "--to", to, "-o", "-")
            self.check_code(done, 0)
            json.loads(done.stdout)
        for to in ("csv", "sqlite"):
            self.check_code(self.call("export", trace, "--to", to, "-o", "-"), 2)

    def test_two_kineto_files_are_refused_on_standard_output(self):
        one, two = self.make_trace(name="one"), self.make_trace(name="two")
        self.check_code(self.call("export", one, two, "--to", "kineto", "-o", "-"), 2)

    def test_a_folder_of_traces_is_exported_as_a_whole(self):
        for rank in ("0", "1"):
            folder = self.folder / "out" / f"rank={rank}"
            folder.parent.mkdir(exist_ok=True)
            self.make_trace([{**cli_case.HEADER, "rank": rank, "pid": 100 + int(rank)}, *cli_case.TRACE[1:]],
                            f"out/rank={rank}")
        self.check_code(self.call("export", "out", "--to", "sqlite", "-o", "bases"), 0)
        self.assertEqual(len(list((self.folder / "bases").glob("*.sqlite"))), 2)


class Errors(CommandLine):
    def test_wrong_use_gives_2(self):
        trace = self.make_trace()
        for arguments in (["export"], ["export", trace], ["export", trace, "--to", "pdf"], ["export", "--to", "csv"],
                          ["export", trace, "--to", "prometheus", "--modules", "0"]):
            done = self.call(*arguments)
            self.check_code(done, 2)
            self.assertTrue(done.stderr)

    def test_a_place_without_a_trace_gives_3_and_leaves_no_file(self):
        (self.folder / "empty").mkdir()
        foreign = self.folder / "foreign"
        foreign.mkdir()
        (foreign / "trace-00000.ndjson").write_text('{"hello":"world"}\n')
        for to in (*FILES, *FOLDERS):
            for place in ("nowhere", "empty", "foreign"):
                done = self.call("export", place, "--to", to, "-o", "out")
                self.check_code(done, 3)
                self.assertEqual(sorted(os.listdir(self.folder)), ["empty", "foreign"], f"{to} of {place}")

    def test_a_damaged_trace_is_exported_with_3_and_the_place_of_the_damage(self):
        trace = self.make_trace()
        with open(trace / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write('{"t":"kernel","start":"soon"}\n{"t":"launch"\n' + json.dumps(cli_case.TRACE[5]) + "\n")
        done = self.call("export", trace, "--to", "perfetto", "-o", "-")
        self.check_code(done, 3)
        self.assertIn("trace-00000.ndjson:9", done.stderr)
        self.assertEqual(sum(1 for event in json.loads(done.stdout) if event.get("cat") == "kernel"), 1)

    def test_a_torn_last_line_is_skipped_without_an_error(self):
        trace = self.make_trace()
        with open(trace / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write('{"t":"kernel","start":1')
        for to in (*FILES, *FOLDERS):
            self.check_code(self.call("export", trace, "--to", to, "-o", f"out-{to}"), 0)

    def test_a_full_disk_is_named(self):
        for to in ("perfetto", "kineto", "prometheus", "speedscope"):
            done = self.call("export", self.make_trace(name=f"of-{to}"), "--to", to, "-o", "/dev/full")
            self.check_code(done, 3)
            self.assertIn("No space left", done.stderr)

    def test_a_folder_that_cannot_be_written_is_named(self):
        for to in FILES:
            done = self.call("export", self.make_trace(name=f"of-{to}"), "--to", to, "-o", "no/such/folder/out")
            self.check_code(done, 3)
            self.assertIn("no/such/folder", done.stderr)


class Interrupted(CommandLine):
    def temporary_files(self):
        return [name for name in os.listdir(self.folder) if ".part-" in name]

    def interrupt(self, number):
        """The trace is a pipe without a writer, so the export waits in the middle of its work."""
        trace = self.folder / "trace"
        trace.mkdir()
        os.mkfifo(trace / "trace-00000.ndjson")
        with subprocess.Popen([cli_case.RANGEFINDER, "export", trace, "--to", "perfetto", "-o", self.folder / "out"],
                              stderr=subprocess.DEVNULL, env=clean_environment()) as process:
            deadline = time.monotonic() + 60
            while not self.temporary_files():
                self.assertIsNone(process.poll(), "it ended instead of waiting")
                self.assertLess(time.monotonic(), deadline)
                os.sched_yield()
            process.send_signal(number)
            return process.wait(timeout=60)

    def test_control_c_leaves_no_file_and_ends_by_the_signal(self):
        self.assertEqual(self.interrupt(signal.SIGINT), -signal.SIGINT)
        self.assertEqual(os.listdir(self.folder), ["trace"])

    def test_sigterm_leaves_no_file(self):
        self.assertEqual(self.interrupt(signal.SIGTERM), -signal.SIGTERM)
        self.assertEqual(os.listdir(self.folder), ["trace"])


if __name__ == "__main__":
    cli_case.main(__doc__)
