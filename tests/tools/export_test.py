# SPDX-License-Identifier: Apache-2.0
"""`rangefinder export` as a command: output places, refusals, and files after an error.

    export_test.py RANGEFINDER REPOSITORY

export_timeline_test.py and export_tables_test.py test the contents of the files.
"""
import json
import os
import shutil
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

    def test_a_trailing_slash_changes_nothing_and_an_existing_folder_takes_the_file(self):
        self.make_trace()
        (self.folder / "results").mkdir()
        self.check_code(self.call("export", "trace/", "--to", "prometheus"), 0)
        self.check_code(self.call("export", "trace", "--to", "perfetto", "-o", "results"), 0)
        self.assertTrue((self.folder / "trace.prom").exists())
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
        (self.folder / "out").mkdir()
        for rank in ("0", "1"):
            header = {**cli_case.HEADER, "rank": rank, "pid": 100 + int(rank)}
            self.make_trace([header, *cli_case.TRACE[1:]], f"out/rank={rank}")
        self.check_code(self.call("export", "out", "--to", "sqlite", "-o", "bases"), 0)
        self.assertEqual(len(list((self.folder / "bases").glob("*.sqlite"))), 2)


class Errors(CommandLine):
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

    def test_a_place_that_cannot_be_written_is_named(self):
        trace = self.make_trace()
        streamed = ("perfetto", "kineto", "prometheus", "speedscope")
        for out, words, formats in (("/dev/full", "No space left", streamed),
                                    ("no/such/folder/out", "no/such/folder", FILES)):
            for to in formats:
                done = self.call("export", trace, "--to", to, "-o", out)
                self.check_code(done, 3)
                self.assertIn(words, done.stderr)


class Interrupted(CommandLine):
    def temporary_files(self):
        return [name for name in os.listdir(self.folder) if ".part-" in name]

    def interrupt(self, number):
        """The export of a long trace, in the middle of its work."""
        trace, lines = self.make_long_trace()
        with subprocess.Popen([cli_case.RANGEFINDER, "export", trace, "--to", "perfetto", "-o", self.folder / "out"],
                              stderr=subprocess.DEVNULL, env=clean_environment()) as process:
            deadline = time.monotonic() + 60
            while not self.temporary_files():
                self.assertIsNone(process.poll(), "it ended instead of waiting")
                self.assertLess(time.monotonic(), deadline)
                os.sched_yield()
            process.send_signal(number)
            code = process.wait(timeout=60)
        lines.unlink()
        return code

    def test_an_interrupted_export_leaves_no_file_and_ends_by_the_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.assertEqual(self.interrupt(number), -number)
            self.assertEqual(os.listdir(self.folder), ["trace"])
            shutil.rmtree(self.folder / "trace")


if __name__ == "__main__":
    cli_case.main(__doc__)
