# SPDX-License-Identifier: Apache-2.0
"""`rangefinder report` from outside: every section in every format, with a real recording.
Usage: report_test.py RANGEFINDER REPOSITORY REPLAY"""
import csv
import io
import json
import os
import pty
import shutil
import subprocess

import cli_case
import export_case
from cli_case import CommandLine
from export_case import lines_of, recorded

SECTIONS = ["overview", "modules", "layers", "kernels", "memcpy", "memory", "launches", "sync", "streams", "gpu", "idle", "iterations",
            "graphs", "monitor", "overhead", "loss", "findings"]


class Sections(CommandLine):
    def test_every_section_of_a_real_trace_has_text_json_csv_and_markdown(self):
        trace = recorded("hf_rtdetr_trace")
        for section in SECTIONS:
            with self.subTest(section=section):
                text = self.call("report", trace, "--section", section)
                self.check_code(text, 0)
                self.assertEqual(text.stderr, "")
                wide = [line for line in text.stdout.splitlines()[5:] if len(line) > 120]
                self.assertTrue(section == "findings" or not wide, wide)  # a title may contain a long path
                self.assertIn("loss", self.report(trace, "--section", section))
                self.check_code(self.call("report", trace, "--section", section, "--md"), 0)
                table = self.call("report", trace, "--section", section, "--csv").stdout
                rows = list(csv.reader(io.StringIO(table)))
                self.assertTrue(all(len(row) == len(rows[0]) for row in rows if row), rows[:3])

    def test_findings_say_what_they_save_and_what_they_lacked_and_set_up_comes_on_request(self):
        trace = recorded("case_transpose")
        usual, everything = (self.report(trace, "--section", "findings", *words) for words in ([], ["--all"]))
        first = usual["findings"][0]
        self.assertEqual((first["id"], first["where"], first["experimental"]),
                         ("uncoalesced_stores", "transpose/naive", False))
        self.assertIn("`transpose/naive` stores words that are far apart", first["title"])
        self.assertIn({"id": "launch_bound", "needs": "a run without exact counters: --counters off or sampled"},
                      usual["cannot_tell"])
        self.assertEqual(everything["findings"][:len(usual["findings"])], usual["findings"])
        self.assertTrue(all(one["outside_of_iterations"] for one in everything["findings"][len(usual["findings"]):]))
        self.assertGreater(len(everything["findings"]), len(usual["findings"]))

    @staticmethod
    def move_into_the_iterations(lines, outer):
        """What runs in the path `outer` begins in the fifth instance of `iteration`."""
        paths = {outer}
        for line in lines:
            if line["t"] == "path" and line["parent"] in paths:
                paths.add(line["id"])
        iteration = next(line["id"] for line in lines if line["t"] == "path" and line["name"] == "iteration")
        starts = sorted(line["start"] for line in lines if line["t"] == "range" and line["path"] == iteration)
        moved = [line for line in lines if line["t"] != "path" and line.get("path") in paths and "start" in line]
        by = starts[4] - min(line["start"] for line in moved if line["t"] == "range")
        for line in moved:
            line["start"] += by
            line["end"] += by

    def test_the_default_report_has_the_layers_after_the_modules_if_there_are_any(self):
        """A recorded inference, with the paths of a training: `warmup` is its backward pass, `iteration` its steps."""
        lines = lines_of(recorded("rtdetr_exact"))
        iteration = next(line["id"] for line in lines if line["t"] == "path" and line["name"] == "iteration")
        warmup = next(line["id"] for line in lines if line["t"] == "path" and line["name"] == "warmup")
        for line in lines:
            if line["t"] == "path" and line["id"] == warmup:
                line["name"] = "backward"
            if line["t"] == "path" and line["name"] == "model" and line["parent"] == iteration:
                line["parent"] = 0
        self.move_into_the_iterations(lines, warmup)
        trace = self.make_trace(lines)
        titles = ("\nmodule ", "\nForward and backward pass of each layer\nlayer ")
        text, modules = self.call("report", trace).stdout, self.call("report", trace, "--section", "modules").stdout
        self.assertEqual([text.count(title) for title in titles], [1, 1])
        self.assertLess(text.index(titles[0]), text.index(titles[1]))
        self.assertNotIn(titles[1], modules)
        self.assertNotIn(titles[1], self.call("report", recorded("rtdetr_exact")).stdout)
        layers = self.report(trace, "--section", "layers")["layers"]
        self.assertEqual(layers, self.report(trace)["layers"])
        for words in (["--csv", "--table", "layers"], ["--section", "layers", "--csv"]):
            table = self.call("report", trace, *words).stdout
            self.assertEqual([row["path"] for row in csv.DictReader(io.StringIO(table))],
                             [layer["path"] for layer in layers])
        self.assertIn("| layer |", self.call("report", trace, "--md").stdout)
        self.check_code(self.call("report", trace, "--section", "layers", "--sort", "backward", "--top", "3"), 0)
        self.check_code(self.call("report", trace, "--sort", "self", "--flat"), 0)

    def test_the_report_says_that_kernels_overlap(self):
        """Sums of durations count overlapping time twice. An exact run of the same program has no overlap."""
        overlapping = self.call("report", recorded("rtdetr_sampled")).stdout
        exact = self.call("report", recorded("rtdetr_exact")).stdout
        (line,) = [line for line in overlapping.splitlines() if line.startswith("Kernels overlap")]
        modules = self.report(recorded("rtdetr_sampled"), "--depth", "1")["modules"]
        summed_ms = sum(row["gpu_ns"] for row in modules) / 1e6
        self.assertRegex(line, f"with {summed_ms:.3g} ms of kernels")
        self.assertNotIn("Kernels overlap", exact)

    def test_work_without_kernels_does_not_overlap(self):
        for words in (["copy_storm"], ["rtdetr_sampled", "--window", "0s:1ns"]):
            self.assertNotIn("Kernels overlap", self.call("report", recorded(words[0]), *words[1:]).stdout)

    def test_kernels_without_any_range_give_one_hint_on_nvtx(self):
        hint = "No NVTX range was recorded."
        without = [{k: v for k, v in line.items() if k not in ("path", "range")}
                   for line in cli_case.TRACE if line["t"] not in ("path", "range")]
        trace = self.folder / "without"
        trace.mkdir()
        (trace / "trace-00000.ndjson").write_text("".join(json.dumps(line) + "\n" for line in without))
        text = self.call("report", trace).stdout
        self.assertEqual(text.count(hint), 1)
        self.assertIn("NVTX_INJECTION64_PATH", text)
        self.assertNotIn(hint, self.call("report", recorded("hf_rtdetr_trace"), "--range", "iteration/**").stdout)
        self.assertNotIn(hint, self.call("report", recorded("copy_storm")).stdout)

    def test_a_series_of_numbered_ranges_is_one_module_and_can_be_selected(self):
        lines = [cli_case.HEADER, *cli_case.TRACE[3:5]]
        for i in range(4):
            lines += [{"t": "path", "id": i + 1, "parent": 0, "name": f"infer_{i}"},
                      {**cli_case.TRACE[6], "start": 1000 * i + 100, "end": 1000 * i + 200, "corr": i + 1,
                       "path": i + 1, "range": i + 1},
                      {"t": "range", "id": i + 1, "start": 1000 * i, "end": 1000 * i + 900, "thread": 5, "path": i + 1}]
        trace = self.folder / "numbered"
        trace.mkdir()
        (trace / "trace-00000.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
        plain, given = self.report(trace), self.report(trace, "--iteration-range", "infer_*")
        self.assertEqual([row["path"] for row in plain["modules"]], [f"infer_{i}" for i in range(4)])
        self.assertEqual([(row["path"], row["calls"]) for row in given["modules"]], [("infer_*", 4)])
        iterations = self.report(trace, "--section", "iterations", "--iteration-range", "infer_?")
        self.assertEqual(iterations["iteration_rule"], "given")
        self.assertEqual(len(iterations["iterations"]), 4)
        chosen = self.report(trace, "--iteration-range", "infer_*", "--iterations", "1:3")
        self.assertEqual(chosen["modules"][0]["calls"], 2)

    def test_the_example_is_a_trace_that_comes_with_the_program(self):
        for words, program, row in (((), "hf_rtdetr.py", r"    decoder +8\.33 ms"),
                                    (("rtdetr",), "hf_rtdetr.py", r"    decoder +8\.33 ms"),
                                    (("decoder",), "decoder.py", r"  layer 23 ")):
            done = self.call("report", "--depth", "3", "--example", *words)
            self.check_code(done, 0)
            self.assertIn(program, done.stdout.splitlines()[0])
            self.assertRegex(done.stdout, f"(?m)^{row}")
            after = self.call("report", "--example", *words, "--depth", "3")
            self.assertEqual((after.returncode, after.stdout), (0, done.stdout))

    def test_the_example_takes_the_place_of_a_folder(self):
        for words in (("x", "--example"), ("--example", "decoder", "x")):
            done = self.call("report", *words)
            self.check_code(done, 2)
            self.assertIn("--example and DIR exclude each other", done.stderr)
        self.assertIn("DIR is required", self.call("report").stderr)

    def test_an_unknown_example_is_wrong_use_and_the_names_are_listed(self):
        done = self.call("report", "--example", "bert")
        self.check_code(done, 2)
        self.assertIn("bert is not rtdetr or decoder", done.stderr)

    def test_the_fit_needs_the_modules(self):
        self.assertIn("byte_fit", self.report(recorded("rtdetr_exact"), "--section", "modules", "--fit"))
        self.check_code(self.call("report", recorded("rtdetr_exact"), "--section", "kernels", "--fit"), 2)

    def test_no_level_of_modules_is_wrong_use(self):
        for option in ("--depth", "--top"):
            done = self.call("report", recorded("copy_storm"), option, "0")
            self.check_code(done, 2)
            self.assertRegex(done.stderr, f"{option}: must be at least 1")
        self.check_code(self.call("report", recorded("copy_storm"), "--depth", "x"), 2)

    def test_unattributed_bytes_have_that_name_everywhere(self):
        trace = recorded("rtdetr_sampled")
        self.assertRegex(self.call("report", trace, "--top", "1").stdout, r"(?m)^\(unattributed\) ")
        self.check_code(self.call("export", trace, "--to", "speedscope", "--out", "out.json"), 0)
        frames = {frame["name"] for frame in json.loads((self.folder / "out.json").read_text())["shared"]["frames"]}
        self.assertIn("(unattributed)", frames)

    def test_one_kernel_is_shown_in_full(self):
        done = self.call("report", recorded("rtdetr_rotated"), "--section", "kernel", "--kernel", "attention")
        self.check_code(done, 0)
        self.assertIn("attention", done.stdout)
        self.check_code(self.call("report", recorded("rtdetr_rotated"), "--section", "kernel"), 2)

    def test_csv_of_modules_has_the_numbers_of_json(self):
        trace = recorded("rtdetr_exact")
        rows = csv.DictReader(io.StringIO(self.call("report", trace, "--csv").stdout))
        keys = ("path", "gpu_ns", "l2_bytes")
        modules = self.report(trace)["modules"]
        self.assertEqual([[row[key] for key in keys] for row in rows],
                         [[str(module.get(key, "")) for key in keys] for module in modules])

    def test_one_iteration_of_ten_has_a_tenth_of_the_kernels(self):
        trace = recorded("rtdetr_exact")

        def kernels(*options):
            modules = self.report(trace, "--range", "iteration", *options)["modules"]
            return {module["path"]: module["kernels"] for module in modules}["iteration"]

        self.assertEqual(kernels("--iterations", "3:4") * 10, kernels())


class CarryOver(CommandLine):
    """Exact bytes have carry-over, sampled ones an error."""
    def test_exact_modules_have_carry_over_and_no_error(self):
        trace = recorded("rtdetr_exact")
        l2_bytes = self.report(trace)["gpus"][0]["l2_bytes"]
        summary = json.loads((trace / "summary.json").read_text(encoding="utf-8"))
        self.assertEqual(summary["version"], "1.3")
        exact = [row for row in self.report(trace)["modules"] if row.get("bytes_source") == "exact"]
        self.assertGreater(len(exact), 100)
        written = {row["path"]: row for row in summary["modules"]}
        for row in exact:
            borders = min(row["calls"] or row["measured_launches"], row["measured_launches"])
            self.assertEqual(row["carry_over_bytes"], min(borders * l2_bytes, row["dram_write_bytes"]), row["path"])
            self.assertEqual(row["carry_over_bytes"], written[row["path"]]["carry_over_bytes"])
            self.assertNotIn("bytes_error_pct", row)
            self.assertNotIn("bytes_error_pct", written[row["path"]])
        rows = csv.DictReader(io.StringIO(self.call("report", trace, "--csv").stdout))
        self.assertIn("carry_over_bytes", rows.fieldnames)

    def test_text_marks_carry_over_and_explains_it_once(self):
        trace = recorded("rtdetr_exact")
        text = self.call("report", trace, "--section", "modules").stdout
        marked = [line for line in text.splitlines() if "†" in line]
        self.assertEqual(sum(line.startswith("†: ") for line in marked), 1)
        self.assertRegex(text, r"(?m)^iteration .* \d+ MB† ")
        self.assertNotIn("±", text)
        self.assertNotIn("carry-over ", text.splitlines()[4])
        self.assertIn("carry-over", self.call("report", trace, "--section", "modules", "--wide").stdout.splitlines()[4])
        copies = self.call("report", recorded("known_bytes_exact"), "--range", "known_bytes/copy_kernel/**").stdout
        self.assertNotRegex(copies, r"1GiB .*†")  # carry-over is 3 %

    def test_a_copy_that_wrote_back_the_data_of_others_is_not_compared_with_its_declared_bytes(self):
        trace = recorded("rtdetr_exact")
        text = self.call("report", trace, "--range", "D2H", "--wide").stdout
        (copy,) = [line for line in text.splitlines() if line.startswith("D2H")]
        self.assertRegex(copy, r"\d MB† .* –")
        self.assertNotIn("22,8", copy)
        self.assertIn("DRAM / declared is omitted where carry-over may exceed the declared bytes.", text)
        (row,) = self.report(trace, "--range", "D2H")["modules"]
        self.assertGreater(row["dram_amplification"], 1000)

    def test_sampled_modules_have_an_error_of_at_most_100_percent_or_no_number(self):
        trace = recorded("rtdetr_sampled")
        lines = self.call("report", trace, "--section", "modules", "--wide").stdout.splitlines()
        (title,) = [line for line in lines if line.startswith("module ")]
        modules = self.report(trace)["modules"]
        self.assertFalse([row for row in modules if "carry_over_bytes" in row])
        end = title.index("DRAM ±") + len("DRAM ±")
        errors = [line[:end].split("  ")[-1].strip() for line in lines[lines.index(title) + 1:] if len(line) > end]
        percents = [float(error.rstrip(" %")) for error in errors if error.endswith("%")]
        self.assertGreater(len(percents), 10)
        self.assertLessEqual(max(percents), 100)
        too_short = [row for row in modules if row.get("bytes_error_pct", 0) > 100]
        self.assertEqual(errors.count("too short"), len(too_short))
        self.assertIn("–", "".join(lines))
        self.assertNotIn("†", "".join(lines))


class Progress(CommandLine):
    def test_long_reading_shows_a_progress_line_and_clears_it(self):
        """The trace becomes short once the progress line appeared."""
        trace, lines = self.make_long_trace()
        header = self.folder / "header"
        header.write_text(json.dumps(cli_case.HEADER, separators=(",", ":")) + "\n")
        terminal, stderr = pty.openpty()
        process = subprocess.Popen([cli_case.RANGEFINDER, "report", "--section", "modules", trace], stdout=subprocess.PIPE, stderr=stderr,
                                   env=cli_case.clean_environment(TERM="xterm"))
        os.close(stderr)
        shown = b""
        while b"reading" not in shown:
            shown += os.read(terminal, 1024)
        header.rename(lines)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        shown += cli_case.rest_of_terminal(terminal)
        os.close(terminal)
        self.assertRegex(shown, rb"reading  \d+ %  .* of ")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)


class CutTraces(CommandLine):
    """Traces that lost more than a killed program leaves unwritten, made from a real recording."""

    NAMES = ("gpu", "context", "stream", "thread", "domain", "category", "name", "path", "module_source", "kernel_name", "config",
             "payload_schema", "metric_set", "frame", "stack")
    EVENTS = ("kernel", "memcpy", "memset", "launch", "sync", "alloc", "free", "event_record", "stream_wait",
              "overhead", "hold", "range", "mark")

    def copied(self, name="hf_rtdetr_trace", segments=1):
        """A copy of the recording in `segments` segments; each repeats the names."""
        folder = self.folder / f"trace-{len(list(self.folder.iterdir()))}"
        shutil.copytree(recorded(name), folder)
        header, *lines = lines_of(recorded(name))
        names = [line for line in lines if line["t"] in self.NAMES]
        others = [line for line in lines if line["t"] not in self.NAMES]
        size = -(-len(others) // segments)
        for number in range(segments):
            part = [{**header, "segment": number}, *names, *others[number * size:(number + 1) * size]]
            (folder / f"trace-{number:05}.ndjson").write_text(
                "".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in part))
        self.assertEqual(self.validated(folder)[0], 0)
        return folder

    def validated(self, folder, *options):
        done = self.call("validate", folder, *options)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def check_incomplete(self, folder, *words):
        code, text = self.validated(folder)
        self.assertEqual(code, 1, text)
        self.assertRegex(text.splitlines()[-1], "incomplete: [0-9,]+ problem")
        self.assertNotIn("later work is missing", text)
        (trace,) = json.loads(self.validated(folder, "--json")[1])["traces"]
        self.assertEqual((trace["valid"], trace["incomplete"]), (False, True))
        problems = [problem["text"] for problem in trace["problems"] if problem["kind"] == "incomplete"]
        for word in words:
            self.assertIn(word, problems[0])
        report = self.call("report", folder)
        self.check_code(report, 3)
        self.assertEqual(len(report.stderr.splitlines()), 1, report.stderr)
        self.assertIn("is incomplete: ", report.stderr)
        self.assertIn("The trace is incomplete: ", report.stdout)
        self.assertNotIn("No end line", report.stdout)

    @staticmethod
    def cut(file, share):
        text = file.read_bytes()
        file.write_bytes(text[:int(len(text) * share)])

    def summary(self, folder, **changes):
        file = folder / "summary.json"
        summary = {**json.loads(file.read_text()), **changes}
        file.write_text(json.dumps(summary))
        return summary

    def counts(self, folder):
        """Event lines and kernels in whole lines."""
        text = (folder / "trace-00000.ndjson").read_text(encoding="utf-8")
        kinds = [json.loads(line)["t"] for line in text.split("\n")[:-1]]
        return sum(kind in self.EVENTS for kind in kinds), kinds.count("kernel")

    def test_a_trace_that_was_cut_to_a_quarter_is_incomplete(self):
        trace = self.copied()
        records, kernels = self.counts(trace)
        self.assertEqual(self.summary(trace)["records"], records)
        self.cut(trace / "trace-00000.ndjson", 0.25)
        left, kernels_left = self.counts(trace)

        self.check_incomplete(trace, "no end line", f"{left:,} of {records:,} event lines",
                              f"{kernels_left:,} of {kernels:,} kernels")

    def test_a_trace_whose_end_line_alone_is_gone_is_incomplete(self):
        trace = self.copied()
        lines = (trace / "trace-00000.ndjson").read_text(encoding="utf-8").splitlines(keepends=True)
        (trace / "trace-00000.ndjson").write_text("".join(lines[:-1]), encoding="utf-8")

        self.check_incomplete(trace, "no end line")

    def test_the_trace_of_a_killed_program_is_incomplete_if_it_lacks_lines_that_its_summary_counts(self):
        trace = self.copied()
        self.cut(trace / "trace-00000.ndjson", 0.5)
        records, _ = self.counts(trace)

        self.summary(trace, final=False, records=records)
        code, text = self.validated(trace)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"no end line: the program was killed or is still running; what ended in the first "
                               r"[0-9.]+ m?s is here, later work is missing")
        self.check_code(self.call("report", trace), 0)
        self.summary(trace, records=records, loss={"lines_not_written": 7})
        self.cut(trace / "trace-00000.ndjson", 0.5)
        self.assertEqual(self.validated(trace)[0], 0, "the ledger counts them")
        self.summary(trace, loss={})
        self.check_incomplete(trace, f"of {records:,} event lines")

    def test_a_trace_without_a_segment_is_incomplete(self):
        for number, words in ((0, "lacks segment 0"), (2, "lacks segment 2"), (4, "no end line")):
            with self.subTest(segment=number):
                trace = self.copied(segments=5)
                (trace / f"trace-{number:05}.ndjson").unlink()
                self.check_incomplete(trace, words)

    def test_fix_counts_the_lines_that_are_missing(self):
        trace = self.copied()
        records, _ = self.counts(trace)
        self.cut(trace / "trace-00000.ndjson", 0.25)
        left, _ = self.counts(trace)

        code, text = self.validated(trace, "--fix", "--force")

        self.assertEqual(code, 0, text)
        end = json.loads((trace / "trace-00000.ndjson").read_text(encoding="utf-8").splitlines()[-1])
        self.assertEqual(end["loss"]["lines_not_written"], records - left)
        self.assertEqual(self.validated(trace, "--strict")[0], 0)


if __name__ == "__main__":
    export_case.main(__doc__)
