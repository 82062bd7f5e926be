# SPDX-License-Identifier: Apache-2.0
"""What `rangefinder report DIR` begins with: one iteration, where its time went, findings, the upper modules.
Usage: report_overview_test.py RANGEFINDER REPOSITORY REPLAY"""
import json
import os
import pty
import re
import shlex
import subprocess

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

RECORDINGS = ("case_attention", "case_gemm_tensor", "case_starved_one", "case_starved_pinned", "case_transpose",
              "copy_storm", "decoder_exact", "decoder_sampled", "eval_rtdetr_exact", "graph_replay", "hazards_exact",
              "hf_rtdetr_sampled", "hf_rtdetr_trace", "known_bytes_exact", "managed_memory", "multi_stream",
              "nvtx_shapes", "rtdetr_exact", "rtdetr_rotated", "rtdetr_sampled", "rtdetr_unfused")


def iterations(count, us=1000):
    """Iterations of 0.1 ms: 10 us launching, 10 us own code, a kernel of 60 us, a copy of 20 us behind it."""
    lines = [*cli_case.TRACE[:2], {"t": "path", "id": 1, "parent": 0, "name": "iteration"}, *cli_case.TRACE[3:5]]
    for i in range(count):
        begin, place = 1_000_000 * (i + 1), {"path": 1, "range": i + 1}
        work = {"gpu": 0, "ctx": 1, "stream": 7, **place}
        for corr, start, api in ((2 * i + 1, 0, "cuLaunchKernel"), (2 * i + 2, 12, "cuMemcpyDtoHAsync")):
            lines.append({"t": "launch", "start": begin + start * us, "end": begin + (start + 2) * us, "thread": 5,
                          **place, "api": api, "corr": corr})
        lines[-2]["end"] = begin + 10 * us
        lines.append({"t": "kernel", "start": begin + 20 * us, "end": begin + 80 * us, "corr": 2 * i + 1, **work,
                      "name": 1, "config": 1})
        lines.append({"t": "memcpy", "start": begin + 80 * us, "end": begin + 100 * us, "corr": 2 * i + 2, **work,
                      "kind": "DtoH", "src": "device", "dst": "pinned", "bytes": 1000, "async": True})
        lines.append({"t": "range", "id": i + 1, "start": begin, "end": begin + 100 * us, "thread": 5, "path": 1})
    return lines


class Overview(CommandLine):
    def test_bytes_of_nvml_are_those_of_known_copies_by_module_and_iteration(self):
        known = 846_108_557_312  # bytes of a step: tests/replay/README.md
        trace = recorded("gpm_steps")
        rows = {row["path"]: row for row in self.report(trace, "--section", "modules")["modules"]}
        for path in ("step", "step/copy"):
            self.assertEqual(rows[path]["bytes_source"], "gpm")
            self.check_bound(rows[path], 8 * known)
        self.assertLess(rows["step"]["bytes_error_pct"], 6)
        self.assertNotIn("dram_bytes", rows["step/compute"], "it moves none, so no bound is below its bytes")
        self.assertNotIn("l2_bytes", rows["step"])
        iterations = self.report(trace, "--section", "iterations")["iterations"]
        with_bytes = [row for row in iterations if "dram_bytes" in row]
        self.assertGreaterEqual(len(with_bytes), 6)
        for row in with_bytes:
            self.check_bound(row, known)
            self.assertEqual(row["sm_mhz"], 1980)
        opening = self.report(trace)["opening"]
        self.assertAlmostEqual(opening["dram_bytes"] / known, 1, delta=0.01)

    def check_bound(self, row, known):
        self.assertLessEqual(abs(row["dram_bytes"] - known), row["dram_bytes"] * row["bytes_error_pct"] / 100, row)

    def test_the_time_of_an_iteration_is_shared_over_what_happened(self):
        trace = self.make_trace(iterations(8))

        opening = self.report(trace)["opening"]

        self.assertEqual(opening["wall_ns"], 100_000)
        self.assertEqual(opening["iteration"], {"path": "iteration", "rule": "named", "count": 7, "warm_up": 1,
                                                "mean_ns": 100_000, "longest_ns": 100_000})
        self.assertAlmostEqual(opening["gpu_busy_share"], 0.6)
        # 2 us of the second launch lie in the 20 us before the kernel.
        for cause, share in (("copies", 0.2), ("launching", 0.12), ("host_code", 0.08)):
            self.assertAlmostEqual(opening["idle_shares"][cause], share, 3, cause)
        text = self.call("report", trace).stdout
        self.assertRegex(text, r"one iteration +100 us   median of 7 of iteration, longest 100 us, without 1 of warm-up\n")
        self.assertRegex(text, r"GPU idle +40.0 %   only copies ran 20.0 %, host launching 12.0 %, host code 8.0 %\n")

    def test_a_saving_is_its_share_of_the_iteration_and_no_more(self):
        for name in RECORDINGS:
            report = self.report(recorded(name))
            opening = report["opening"]
            if "gpu_busy_share" not in opening:
                continue
            for finding in report["findings"]:
                with self.subTest(name, finding=finding["title"]):
                    if "saving_per_iteration_ns" in finding:
                        self.assertLessEqual(finding["share"], 1)
                        self.assertAlmostEqual(finding["saving_per_iteration_ns"] / opening["wall_ns"], finding["share"], 4)

    def test_iterations_are_busy_for_their_wall_time_at_most_and_add_up(self):
        for name in RECORDINGS:
            report = self.report(recorded(name), "--section", "iterations")
            rows = report["iterations"]
            for row in rows:
                with self.subTest(name, iteration=row["iteration"]):
                    self.assertLessEqual(row["gpu_busy_ns"], row.get("wall_ns", row["gpu_busy_ns"]))
            with self.subTest(name):
                for module in self.report(recorded(name), "--section", "modules")["modules"]:
                    if module["path"] == report.get("iteration_path") and "gpu_busy_ns" in module:
                        self.assertEqual(sum(row["gpu_busy_ns"] for row in rows), module["gpu_busy_ns"])

    def test_what_keep_last_left_is_shown_beside_the_whole_run(self):
        end = json.loads((recorded("copy_storm") / "trace-00000.ndjson").read_text().splitlines()[-1])
        trace = self.make_trace([*iterations(8), {**end, "at": 9_000_000, "loss": {"lines_over_max_size": 120}}])
        text = (trace / "trace-00000.ndjson").read_text().replace('"segment":0', '"segment":3')
        (trace / "trace-00003.ndjson").write_text(text)
        (trace / "trace-00000.ndjson").unlink()
        (trace / "summary.json").write_text(json.dumps({
            "final": True, "kernels": [{"name": "k", "count": 30, "total_ns": 1_800_000},
                                       {"name": "l", "count": 10, "total_ns": 200_000}],
            "memcpy": [{"kind": "DtoH", "count": 40, "bytes": 40_000}],
            "modules": [{"path": "iteration", "depth": 1, "dram_read_bytes": 3_000_000, "dram_write_bytes": 1_000_000},
                        {"path": "iteration/a", "depth": 2, "dram_read_bytes": 7, "dram_write_bytes": 7}],
            "outside": {"depth": 0, "dram_read_bytes": 500_000, "dram_write_bytes": 0}}))

        kept = self.report(trace)["kept_end"]

        self.assertEqual(kept, {"removed_segments": 3, "gpu_from_ns": 1_020_000, "totals": [
            {"of": "in the trace", "kernels": 8, "gpu_ns": 480_000, "copies": 8, "copied_bytes": 8_000},
            {"of": "whole run", "kernels": 40, "gpu_ns": 2_000_000, "copies": 40, "copied_bytes": 40_000,
             "dram_bytes": 4_500_000}]})
        for section in ((), ("--section", "kernels")):
            done = self.call("report", trace, *section)
            self.check_code(done, 0)
            self.assertEqual(done.stderr, "")
            self.assertRegex(done.stdout, r"Only the end of this run of 9.00 ms is in the trace: GPU work from 1.02 ms on\. "
                                          r"3 earlier\s+segments were removed")
            self.assertRegex(done.stdout, r"in the trace +8 +480 us +8 +8.00 kB *\nwhole run +40 +2.00 ms +40 +40.0 kB")
        selected = self.report(trace, "--range", "iteration")["kept_end"]
        self.assertEqual([row["of"] for row in selected["totals"]], ["whole run"])

    def test_a_whole_trace_is_not_called_an_end(self):
        trace = self.make_trace(iterations(8))
        self.assertNotIn("kept_end", self.report(trace))
        self.assertNotIn("Only the end", self.call("report", trace).stdout)

    def test_shares_of_every_recording_add_up(self):
        for name in RECORDINGS:
            with self.subTest(name):
                opening = self.report(recorded(name))["opening"]
                if name.endswith("exact") or "gpu_busy_share" not in opening:
                    self.assertFalse({"gpu_busy_share", "idle_shares"} & set(opening))
                    continue
                idle = opening["gpu_idle_share"]
                self.assertAlmostEqual(opening["gpu_busy_share"] + idle, 1)
                causes = opening.get("idle_shares", {})
                self.assertLessEqual(sum(causes.values()), idle + 1e-9)
                if causes:  # a cause below 0.1 % is not listed
                    self.assertGreater(sum(causes.values()), idle - 0.006)

    def test_the_text_of_every_recording_fits_100_columns(self):
        for name in RECORDINGS:
            trace = recorded(name)
            for line in self.call("report", trace, COLUMNS="100").stdout.splitlines():
                self.assertTrue(len(line) <= 100 or str(trace) in line, f"{name}: {line}")

    def test_columns_have_different_names_and_a_meaning(self):
        for name in ("rtdetr_exact", "rtdetr_sampled", "hf_rtdetr_trace"):
            text = self.call("report", recorded(name), "--wide").stdout
            (title,) = re.findall(r"(?m)^module .*$", text)
            columns = re.split(r" {2,}", title.strip())[1:]
            self.assertEqual(len(columns), len(set(columns)))
            (meanings,) = re.findall(r"(?m)^calls: .*$", text)
            self.assertEqual([meaning.split(":")[0] for meaning in meanings.split("; ")], columns)

    def test_iterations_come_first_and_what_was_before_them_is_left_out(self):
        trace = recorded("rtdetr_exact")
        text = self.call("report", trace, "--wide").stdout
        rows = text[text.index("\nmodule"):text.index("\n†")].splitlines()[2:]
        outermost = [row.split("  ")[0] for row in rows if not row.startswith(" ")]
        self.assertEqual(outermost[0], "iteration")
        self.assertEqual(outermost, ["iteration"])
        self.assertIn("\nModules: without set-up, warm-up, and what ran after the last iteration.\n", text)
        self.assertRegex(rows[0], "^iteration +9 ")  # of ten, the first warms up
        shares = [float(re.search(r"([\d.]+) %", row)[1]) for row in rows if not row.startswith(" ")]
        self.assertAlmostEqual(sum(shares), 100, delta=0.2)
        self.assertLessEqual(len(rows), 25 + 3)
        self.assertRegex(text, r"\nNot all of \d+ modules are shown. All:  rangefinder report \S+ --section modules\n")

    def test_layers_captured_before_the_replays_are_no_set_up(self):
        text = self.call("report", recorded("decoder_sampled")).stdout
        self.assertRegex(text, r"\ndecode .*\n  layer 0 ")
        self.assertRegex(text, r"one iteration +2.31 ms   median of 19 launches of graph 2,")
        self.assertRegex(text, r"GPU busy +98.5 %")

    def test_replays_are_marked_also_where_there_are_as_many_calls(self):
        text = self.call("report", recorded("graph_kinds_off")).stdout
        self.assertRegex(text, r"\n  even +9x .*\n  replay +18 .*\n  odd +10x ")

    def test_the_first_screen_ends_with_the_next_step(self):
        text = self.call("report", recorded("hf_rtdetr_trace"), COLUMNS="100").stdout
        self.assertRegex(text, r"\n\nNext: replay an iteration as a CUDA graph, or run fewer and larger kernels: [^.]*\.\n"
                               r"  model = torch\.compile\(.*\)\nEvidence, and all findings:\n"
                               r"  rangefinder report \S+ --section findings\n\Z")

    def test_the_printed_command_leads_to_the_evidence(self):
        for name in RECORDINGS:
            text = self.call("report", recorded(name)).stdout
            command = shlex.split(text.splitlines()[-1])
            with self.subTest(name, command=command):
                self.assertEqual(command[0], "rangefinder")
                if command[1] == "report":
                    shown = self.call(*command[1:]).stdout
                    first = re.search(r"^  1\. (.*)$", text, re.M)
                    self.assertIn("\n1. " + first[1][:60] if first else "GPU", shown)
                else:
                    self.assertEqual(command[1:], ["run", "--counters", "sampled", "--", "PROGRAM"])

    def test_a_folder_with_blanks_is_quoted_in_commands(self):
        trace = self.make_trace(iterations(8), "a trace")
        command = shlex.split(self.call("report", trace).stdout.splitlines()[-1])
        self.assertEqual(command, ["rangefinder", "report", str(trace), "--section", "findings"])

    def test_markdown_has_headline_and_findings_and_csv_says_that_it_has_not(self):
        text = self.call("report", recorded("hf_rtdetr_trace"), "--md").stdout
        self.assertRegex(text, r"\n\* one iteration \*\*23\.0 ms\*\*: median of 9 of step, .*\n\* GPU busy \*\*16\.8 %\*\*: .*\n\* GPU idle \*\*83\.2 %\*\*: host code ")
        self.assertRegex(text, r"\n1\. `step` makes the GPU wait .*\n2\. (.*\n)+\nNext: .*\n\n```\n.*\n.* --section findings\n```\n\n\| module ")
        self.assertIn("--csv has the modules only", self.call("report", recorded("hf_rtdetr_trace"), "--csv").stderr)

    def test_an_estimate_has_its_error_and_a_part_exceeds_the_whole_by_no_more(self):
        def written(iterations):
            rows = self.report(recorded("rtdetr_rotated"), "--section", "modules", "--iterations", iterations)["modules"]
            row = next(row for row in rows if row["path"] == "iteration")
            return row["dram_write_bytes"], row["dram_write_bytes"] * row["dram_write_error_pct"] / 100

        whole, part = written("0:"), written("1:")
        self.assertLess(part[0] - part[1], whole[0])
        text = " ".join(self.call("report", recorded("rtdetr_rotated")).stdout.split())
        self.assertRegex(text, r"DRAM bytes of the heaviest module may be wrong by \d+ %, so an estimate for fewer iterations may")

    def test_a_part_of_the_bytes_whose_bound_is_above_it_is_no_number(self):
        for name, shown in (("decoder_sampled", " read, – written, "), ("rtdetr_sampled", " read, 88.9 MB written, ")):
            text = self.call("report", recorded(name)).stdout
            (line,) = [line for line in text.splitlines() if line.startswith("  DRAM ")]
            self.assertIn(shown, line)

    def test_idle_time_without_a_finding_has_its_causes(self):
        text = self.call("report", recorded("case_gemm_tensor"), COLUMNS="200").stdout
        self.assertIn("\nNo rule fires, but the GPU is idle for 97.4 % of the run: host code 93.5 %, ", text)
        self.assertRegex(text, r"\nNext: see where the host is while the GPU waits\.\n  rangefinder report \S+ --section idle\n\Z")

    def test_launch_bound_and_the_capture_check_know_of_each_other(self):
        for name in ("hf_rtdetr_trace", "case_bert_amp"):
            finding = self.report(recorded(name))["findings"][0]
            check = self.call("report", recorded(name), "--section", "graphs", "--check", COLUMNS="200").stdout
            self.assertEqual(finding["id"], "launch_bound")
            calls = re.search(r"[\d,]+ calls of \d+ modules stand in the way", finding["why"])[0]
            self.assertIn(f"FAIL: {calls} of capture\n", check)
            self.assertIn(f"\nWhat a graph may save: {finding['title']}\n", check)

    def test_one_range_around_everything_is_no_iteration(self):
        text = self.call("report", recorded("case_gemm_tensor")).stdout
        self.assertIn("  whole run ", text)
        self.assertNotIn("one iteration", text)

    def test_the_cause_of_a_starved_program_is_in_the_first_lines(self):
        opening = self.report(recorded("case_starved_one"))["opening"]
        self.assertEqual(max(opening["idle_shares"], key=opening["idle_shares"].get), "host_code")
        lines = self.call("report", recorded("case_starved_one")).stdout.splitlines()
        self.assertIn("iteration/load", next(line for line in lines if line.startswith("  1. ")))

    def test_a_selection_and_the_options_of_modules_have_no_opening(self):
        for words in (["--range", "decoder"], ["--iterations", "2:"], ["--section", "modules"], ["--fit"]):
            self.assertNotIn("one iteration", self.call("report", recorded("rtdetr_exact"), *words).stdout)
        few = self.call("report", recorded("rtdetr_exact"), "--top", "3", "--depth", "9").stdout
        self.assertIn("one iteration", few)
        self.assertLess(len(few.splitlines()), 40)

    def test_a_computation_of_more_than_a_second_is_named_on_a_terminal(self):
        traces = 2 * [recorded("decoder_sampled")]
        terminal, stderr = pty.openpty()
        with subprocess.Popen([cli_case.RANGEFINDER, "report", *traces], stdout=subprocess.DEVNULL, stderr=stderr,
                              env=cli_case.clean_environment(TERM="xterm")) as process:
            os.close(stderr)
            shown = cli_case.rest_of_terminal(terminal)
        os.close(terminal)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"computing  (", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)


if __name__ == "__main__":
    export_case.main(__doc__)
