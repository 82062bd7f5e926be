#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users give to the verbs that read, and should not: one sentence with the place, the right exit code.

    bad_input_test.py PATH_OF_RANGEFINDER REPOSITORY

`validate` ends with 1, the others with 3; what is odd but no fault ends with 0 everywhere. Needs no GPU.
"""
import json
import os

import cli_case
from bad_input_case import BadInputCase, END, FIRST, HOSTILE, write, second_segment
from cli_case import HEADER, TRACE


class BadInput(BadInputCase):
    def test_a_whole_trace_is_the_measure_of_all_this(self):
        self.accepted(self.whole())

    def test_an_empty_folder(self):
        (self.folder / "empty").mkdir()
        self.refused("empty", ["empty", "no trace"])

    def test_a_folder_with_a_summary_alone(self):
        folder = self.folder / "summary-only"
        folder.mkdir()
        (folder / "summary.json").write_text("{}")
        self.refused(folder, ["summary-only", "trace-*.ndjson"])

    def test_a_file_cut_before_its_first_line_was_whole(self):
        trace = self.make_trace()
        (trace / FIRST).write_text(json.dumps(HEADER)[:50])
        self.refused(trace, ["trace", "whole line"])

    def test_an_empty_segment(self):
        trace = self.make_trace()
        (trace / FIRST).write_text("")
        self.refused(trace, ["trace", "whole line"])

    def test_a_file_cut_by_a_kill_is_read_and_the_cut_is_named(self):
        trace = self.make_trace()
        with open(trace / FIRST, "a", encoding="utf-8") as file:
            file.write('{"t":"ker')
        self.accepted(trace)
        self.assertIn(f"{FIRST}:9: the last line is torn", self.call("validate", trace).stdout)
        self.assertIn("torn", self.call("report", trace).stdout)

    def test_a_segment_cut_with_others_behind_it(self):
        trace = self.make_trace()
        with open(trace / FIRST, "a", encoding="utf-8") as file:
            file.write('{"t":"ker')
        write(trace, second_segment(), 1)
        self.refused(trace, [f"{FIRST}:9", "cut here"])

    def test_a_line_that_cannot_be_read(self):
        trace = self.whole()
        lines = (trace / FIRST).read_text().splitlines(keepends=True)
        (trace / FIRST).write_text("".join([*lines[:7], '{"t":"kernel","start":\n', *lines[7:]]))
        self.refused(trace, [f"{FIRST}:8", "no JSON"])

    def test_a_version_that_is_too_new(self):
        self.refused(self.make_trace([dict(HEADER, version="2.0"), *TRACE[1:]]), [f"{FIRST}:1", "2.0"])

    def test_a_version_that_is_none(self):
        self.refused(self.make_trace([dict(HEADER, version="new"), *TRACE[1:]]), [f"{FIRST}:1", "MAJOR.MINOR"])

    def test_json_of_somebody_else(self):
        trace = self.make_trace([{"traceEvents": [{"ph": "X", "ts": 1}]}])
        self.refused(trace, [f"{FIRST}:1", "\"t\""])

    def test_json_lines_of_somebody_else(self):
        trace = self.make_trace([{"t": "header", "schema": "other.trace", "version": "1.0"}, {"t": "x"}])
        self.refused(trace, [f"{FIRST}:1", "no trace of Rangefinder"])

    def test_no_json_at_all(self):
        trace = self.make_trace()
        (trace / FIRST).write_bytes(bytes(range(256)) * 64)
        self.refused(trace, [f"{FIRST}:1"])

    def test_a_trace_without_its_header(self):
        self.refused(self.make_trace(TRACE[1:]), [FIRST, "header"])

    def test_nesting_that_has_no_end(self):
        trace = self.whole()
        lines = (trace / FIRST).read_text().splitlines(keepends=True)
        (trace / FIRST).write_text("".join([*lines[:7], "[" * 200_000 + "\n", *lines[7:]]))
        self.refused(trace, [f"{FIRST}:8"])

    def test_a_missing_segment(self):
        trace = self.make_trace()
        write(trace, second_segment(segment=2), 2)
        self.refused(trace, ["segment"])

    def test_a_missing_first_segment(self):
        folder = self.folder / "later"
        folder.mkdir()
        write(folder, second_segment(segment=3), 3)
        self.refused(folder, ["segment"])

    def test_two_traces_in_one_folder(self):
        trace = self.make_trace()
        write(trace, second_segment(pid=99), 1)
        self.refused(trace, ["trace-00001.ndjson:1", "99", "4711"])

    def test_a_segment_that_cannot_be_read(self):
        trace = self.make_trace()
        (trace / FIRST).unlink()
        (trace / FIRST).mkdir()
        (trace / FIRST / "x").write_text("")
        self.refused(trace, [FIRST, "cannot"])

    def test_a_segment_that_is_a_dangling_link(self):
        trace = self.make_trace()
        (trace / FIRST).unlink()
        (trace / FIRST).symlink_to("nowhere")
        self.refused(trace, [FIRST, "cannot open"])

    def test_a_segment_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        trace = self.make_trace()
        (trace / FIRST).chmod(0)
        self.refused(trace, [FIRST, "Permission denied"])

    def test_a_compressed_segment_that_is_not(self):
        trace = self.make_trace()
        (trace / FIRST).rename(trace / (FIRST + ".zst"))
        self.refused(trace, [FIRST + ".zst"])

    def test_times_out_of_order(self):
        bad = [dict(line) for line in TRACE]
        bad[6]["end"] = 1
        self.refused(self.make_trace([*bad, END]), [f"{FIRST}:7", "before its start"])

    def test_times_that_no_clock_gives(self):
        bad = [dict(line) for line in TRACE]
        bad[6]["end"] = 2**62
        self.refused(self.make_trace([*bad, END]), [f"{FIRST}:7", "4611686018427387903"])

    def test_no_kernels(self):
        lines = [line for line in TRACE if line["t"] not in ("kernel", "launch")]
        end = json.loads(json.dumps(END))
        end["records"] = {"range": 1}
        end["launches"]["kernel"] = {"launched": 0, "recorded": 0, "exact": 0, "lost": 0}
        self.accepted(self.make_trace([*lines, end]))

    def test_a_header_and_nothing_else(self):
        self.accepted(self.make_trace([HEADER]))

    def test_hostile_names(self):
        for number, name in enumerate(HOSTILE):
            lines = [dict(line) for line in TRACE]
            lines[0].update(host=name, executable=name, command=[name])
            lines[1]["name"] = name
            lines[2]["name"] = name
            lines[3].update(mangled=name, demangled=name)
            with self.subTest(name=name[:40]):
                self.accepted(self.make_trace([*lines, END], f"hostile-{number}"))

    def test_a_hostile_name_in_an_error(self):
        self.refused(self.make_trace([dict(HEADER, schema="\x1b[2Jx"), *TRACE[1:]]), [f"{FIRST}:1"])

    def test_a_folder_with_a_hostile_name(self):
        folder = self.folder / "tr\x1b[2Jace"
        folder.mkdir()
        write(folder, [dict(HEADER, version="9.0")])
        self.refused(folder, [FIRST])

    def test_a_place_that_is_not_there(self):
        for name, arguments in {**self.verbs("nowhere"), "validate": ["validate", "nowhere"]}.items():
            with self.subTest(verb=name):
                done = self.call(*arguments)
                self.check_texts(name, done)
                self.check_code(done, 3)
                self.assertIn("nowhere", done.stderr)


if __name__ == "__main__":
    cli_case.main(__doc__)
