# SPDX-License-Identifier: Apache-2.0
"""`rangefinder diff` from outside, with pairs of real recordings.
Usage: diff_test.py RANGEFINDER REPOSITORY REPLAY"""
import json
import random

import cli_case
import export_case
from cli_case import CommandLine
from export_case import lines_of, recorded

RECORDINGS = ("case_starved_one", "case_starved_pinned", "case_transpose", "graph_replay", "hf_rtdetr_trace",
              "rtdetr_sampled", "rtdetr_unfused")


def verdicts(whole):
    """Of the iteration's rows, by quantity."""
    return {row["quantity"]: row["verdict"] for row in whole["iteration"]}


ANY_SIZE = ("--min-change", "0")  # kernels of made runs take some 10 us


class Diff(CommandLine):
    def make_run(self, name, kernel_ns, seed):
        """30 iterations with one kernel each, whose duration is kernel_ns with a deviation of 3 %."""
        noise = random.Random(seed)
        return self.make_run_of(name, [round(kernel_ns * noise.gauss(1, 0.03)) for _ in range(30)])

    def make_run_of(self, name, durations):
        """One iteration and kernel for each duration."""
        lines = [dict(line) for line in cli_case.TRACE[:5]]
        now = 1000
        for i, duration in enumerate(durations):
            end = now + duration
            lines += [{**cli_case.TRACE[6], "start": now, "end": end, "corr": i + 1, "range": i + 1},
                      {**cli_case.TRACE[7], "id": i + 1, "start": now, "end": end}]
            now = end + 100
        return self.make_trace(lines, name)

    def diff(self, before, after, *options):
        """Of two recordings, as JSON."""
        done = self.call("diff", recorded(before), recorded(after), "--json", *options)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)

    def test_a_slow_down_fails_a_pipeline_and_noise_does_not(self):
        before, same = self.make_run("before", 10_000, 1), self.make_run("same", 10_000, 2)
        slower = self.make_run("slower", 12_000, 3)
        self.check_code(self.call("diff", before, same, "--fail-over", "5%"), 0)
        done = self.call("diff", before, slower, "--fail-over", "5%", *ANY_SIZE)
        self.check_code(done, 1)
        self.assertIn("2 rows are worse", done.stdout)
        # The iteration counts, its module does not: 2 us are below 10 us.
        self.assertIn("1 row is worse", self.call("diff", before, slower, "--fail-over", "5%").stdout)
        self.assertIn("2 rows are worse", self.call("diff", before, slower, "--fail-over", "5%", "--min-change", "1us").stdout)
        self.check_code(self.call("diff", before, slower, "--fail-over", "50%"), 0)
        self.check_code(self.call("diff", slower, before, "--fail-over", "5%"), 0)

    def test_json_has_the_interval_and_the_verdict(self):
        before, slower = self.make_run("before", 10_000, 1), self.make_run("slower", 12_000, 3)
        whole = json.loads(self.call("diff", before, slower, "--json", "--fail-over", "5%", *ANY_SIZE).stdout)
        (row,) = whole["modules"]
        self.assertEqual((row["path"], row["quantity"], row["verdict"]), ("model", "gpu_ns", "worse"))
        self.assertAlmostEqual(row["relative"], 0.2, delta=0.04)
        self.assertLess(row["relative_interval"], 0.05)
        self.assertTrue(whole["failed"])

    def test_ratios_of_kernels_and_of_iterations_are_in_words(self):
        fp32, amp = self.make_run("fp32", 20_000, 1), self.make_run("amp", 10_000, 2)
        segment = amp / "trace-00000.ndjson"
        segment.write_text(segment.read_text().replace("void k<int>(int)", "nvjet_sm90_hsh_64x64_64x13_2x4_h_bz_NNT"))
        whole = json.loads(self.call("diff", fp32, amp, "--json", *ANY_SIZE).stdout)
        self.assertAlmostEqual(whole["ratios"]["kernels"], 2, delta=0.1)
        (wall,) = (row for row in whole["iteration"] if row["quantity"] == "wall_ns")
        self.assertAlmostEqual(whole["ratios"]["iterations"], wall["a"] / wall["b"])
        self.assertRegex(whole["ratios"]["text"],
                         r"^Kernels (2\.0|1\.9)\dx as fast, iterations (2\.0|1\.9)\dx as fast\.$")
        for form in ((), ("--md",)):
            self.assertIn(whole["ratios"]["text"] + "\n", self.call("diff", fp32, amp, *form).stdout)
        # The kernels have other names, and no row for both. The module has.
        self.assertEqual({row["verdict"] for row in whole["kernels"]}, {"new", "gone"})
        (module,) = whole["modules"]
        self.assertEqual((module["path"], module["verdict"]), ("model", "better"))
        self.assertAlmostEqual(module["a"] / module["b"], whole["ratios"]["kernels"], delta=0.02)

    def test_ratios_of_recordings_are_those_of_their_rows(self):
        whole = self.diff("case_starved_one", "case_starved_pinned")
        (wall,) = (row for row in whole["iteration"] if row["quantity"] == "wall_ns")
        self.assertAlmostEqual(whole["ratios"]["iterations"], wall["a"] / wall["b"])
        self.assertAlmostEqual(whole["ratios"]["kernels"], 1, delta=0.02)
        self.assertEqual(self.diff("copy_storm", "copy_storm", "--iteration-range", "copy_storm")["ratios"],
                         {"iterations": 1, "text": "Iterations 1.00x as fast."})  # it has no kernel
        alone = self.make_trace(cli_case.TRACE[:2] + cli_case.TRACE[3:5], "without_iterations")
        self.assertNotIn("ratios", json.loads(self.call("diff", alone, alone, "--json").stdout))

    def test_a_recording_against_itself_shows_no_change(self):
        for name in RECORDINGS:
            with self.subTest(name=name):
                whole = self.diff(name, name)
                self.assertEqual(whole["modules"] + whole["kernels"], [])
                self.assertLessEqual(set(verdicts(whole).values()), {"same", "untested", "too few"})

    def test_iterations_are_those_of_the_section(self):
        for name in RECORDINGS:
            with self.subTest(name=name):
                section = self.report(recorded(name), "--section", "iterations")
                median = {row["statistic"]: row for row in section["iterations_summary"]}["median"]
                whole = self.diff(name, name)
                of_diff = {row["quantity"]: row["a"] for row in whole["iteration"]}
                if whole["a"]["counters"] == "exact":  # has no times but that of its kernels
                    self.assertEqual(list(of_diff)[0], "gpu_busy_ns")
                    of_diff |= {key: median[key] for key in ("wall_ns", "host_ns")}
                for quantity in ("wall_ns", "host_ns", "gpu_busy_ns", "launches", "kernels"):
                    self.assertEqual(of_diff[quantity], median[quantity], quantity)

    def test_an_iteration_that_starves_is_slower_and_its_kernels_are_the_same(self):
        slower = self.diff("case_starved_pinned", "case_starved_one")
        faster = self.diff("case_starved_one", "case_starved_pinned")
        changed = {"wall_ns": "slower", "gpu_idle_ns": "more", "gpu_idle_copies_ns": "more", "gpu_idle_host_ns": "more",
                   "host_ns": "slower"}
        same = {"gpu_busy_ns": "same", "launches": "same", "kernels": "same", "wall_p95_ns": "untested",
                "gpu_memory_bytes": "untested"}
        self.assertEqual(verdicts(slower), {**changed, **same})
        changed = {"wall_ns": "faster", "gpu_idle_ns": "less", "gpu_idle_copies_ns": "less", "gpu_idle_host_ns": "less",
                   "host_ns": "faster"}
        self.assertEqual(verdicts(faster), {**changed, **same})
        self.assertAlmostEqual(slower["iteration"][0]["relative"], 7.0, delta=0.1)

    def test_idle_time_by_what_the_host_did_adds_up(self):
        for name in ("case_starved_one", "hf_rtdetr_sampled", "rtdetr_sampled", "decoder_sampled"):
            with self.subTest(name=name):
                row = {row["quantity"]: row["a"] for row in self.diff(name, name)["iteration"]}
                causes = sum(value for key, value in row.items() if key.startswith("gpu_idle_") and key != "gpu_idle_ns")
                # Medians do not add up exactly, and causes below 1 % of the wall time have no row.
                self.assertAlmostEqual(causes, row["gpu_idle_ns"], delta=0.02 * row["wall_ns"])

    def test_an_unclear_change_is_not_called_none(self):
        before = self.make_run_of("before", [10_000 + i for i in range(9)])
        noisy = self.make_run_of("noisy", [10_000, 10_001, 40_000, 10_002, 41_000, 10_003, 42_000, 10_004, 43_000])
        done = self.call("diff", before, noisy, "--fail-over", "iteration=5%")
        self.check_code(done, 4)
        self.assertRegex(done.stdout, r"^Unclear, the spread is too large: an iteration takes .* 8 and 8 iterations\)")
        self.assertIn("\nIterations spread too much: --fail-over could not check the limits.\n", done.stdout)

    def test_calls_outside_of_iterations_are_compared_by_call(self):
        calls = {}
        for name in ("rtdetr_sampled", "rtdetr_exact"):
            for line in self.report(recorded(name), "--section", "modules")["modules"]:
                calls.setdefault(line["path"], []).append(line)
        whole = self.diff("rtdetr_sampled", "rtdetr_exact", "--all")
        rows = {(row["path"], row["quantity"]): row for row in whole["calls"]}
        of_a, of_b = calls["warmup/model/encoder"]
        row = rows["warmup/model/encoder", "gpu_ns"]
        self.assertEqual((row["a"], row["b"]), (of_a["gpu_ns"] / of_a["calls"], of_b["gpu_ns"] / of_b["calls"]))
        self.assertEqual((row["n_a"], row["n_b"], row["verdict"]), (3, 3, "untested"))
        inside = {row["path"] for row in whole["modules"]}
        self.assertEqual(inside & {row["path"] for row in whole["calls"]}, set())
        self.assertIn(("H2D", "host_ns"), rows)

    def test_the_largest_memory_is_a_row(self):
        row = next(row for row in self.diff("rtdetr_unfused", "rtdetr_sampled")["iteration"]
                   if row["quantity"] == "gpu_memory_bytes")
        summary = self.report(recorded("rtdetr_sampled"), "--section", "memory")
        self.assertEqual((row["b"], row["verdict"]), (summary["memory"][0]["peak_bytes"], "untested"))

    def test_counters_of_other_modes_have_no_verdict_on_time(self):
        for before, after, line in (
                ("rtdetr_sampled", "rtdetr_exact", r"A has counters sampled, B exact, and exact counters run launches one at "
                 r"a time\. DRAM bytes of \d+ modules: \d+ more, \d+ less\. L2 bytes of \d+ modules: \d+ more, \d+ less\."),
                ("decoder_sampled", "decoder_exact", r"A has counters sampled, B exact, and .* DRAM bytes of \d+ modules?: .*"),
                ("hf_rtdetr_trace", "hf_rtdetr_sampled",
                 r"A has counters off, B sampled, which changes the times\. No module has bytes on both sides\.")):
            with self.subTest(before=before, after=after):
                done = self.call("diff", recorded(before), recorded(after), "--fail-over", "5%")
                self.check_code(done, 4)
                self.assertRegex(done.stdout.splitlines()[0], "^No verdict on time: " + line + "$")
                self.assertNotIn("wall time", done.stdout.split("±: half")[0])
                self.assertIn("\nThe counters' modes differ, so times do: --fail-over could not check the limits.\n", done.stdout)
                self.check_code(self.call("diff", recorded(before), recorded(after), "--fail-over", "5%",
                                          "--allow-unchecked"), 0)
                whole = self.diff(before, after, "--all")
                self.assertEqual(whole["verdict"]["result"], "other_counters")
                unchecked = self.diff(before, after, "--fail-over", "5%", "--allow-unchecked")
                self.assertEqual(("failed" in unchecked, unchecked["unchecked"]),
                                 (False, "The counters' modes differ, so times do"))
                self.assertEqual({row["verdict"] for row in whole["modules"] if row["quantity"] == "gpu_ns"} -
                                 {"new", "gone"}, {"untested"})

    def test_exact_counters_compare_kernels_and_bytes(self):
        done = self.call("diff", *[recorded("rtdetr_exact")] * 2, "--fail-over", "5%")
        self.check_code(done, 0)
        self.assertRegex(done.stdout, r"^No change: the kernels of an iteration take .* and .* \(0\.0 %\)\.")
        self.assertNotIn("wall time", done.stdout.split("±: half")[0])

    def test_other_programs_have_no_verdict(self):
        done = self.call("diff", recorded("hf_rtdetr_trace"), recorded("case_bert_fp32"), "--fail-over", "module=5%")
        self.check_code(done, 4)
        self.assertRegex(done.stdout, r"^No verdict: the programs differ, hf_rtdetr\.py and bert\.py, ")

    def test_bytes_of_replayed_graphs_are_those_of_the_counted_iterations(self):
        opening = self.report(recorded("decoder_sampled"))["opening"]
        decode = next(row for row in self.diff("decoder_sampled", "decoder_sampled", "--all")["modules"]
                      if (row["path"], row["quantity"]) == ("decode", "dram_bytes"))
        both = opening["dram_read_bytes"] + opening["dram_write_bytes"]
        self.assertAlmostEqual(decode["a"] / both, 1, delta=0.02)

    def test_a_limit_without_a_unit_is_a_share(self):
        for limit in ("5", "50", "iteration=3"):
            done = self.call("diff", *[recorded("case_starved_one")] * 2, "--fail-over", limit)
            self.check_code(done, 2)
            self.assertIn("give a share such as 5% or 0.05", done.stderr)

    def test_metrics_are_compared(self):
        whole = self.diff("case_transpose_metrics", "case_gemm_metrics", "--all")
        self.assertNotIn("metrics", whole)  # no kernel in common
        rows = self.diff("case_transpose_metrics", "case_transpose_metrics", "--all")["metrics"]
        self.assertEqual({row["verdict"] for row in rows}, {"same"})
        self.assertIn("load_bytes_used", {row["metric"] for row in rows})
        self.assertEqual({row["kind"] for row in rows}, {"module", "kernel"})

    def first_line(self, before, after):
        done = self.call("diff", recorded(before), recorded(after))
        self.check_code(done, 0)
        return done.stdout.splitlines()[0]

    def test_the_first_line_is_the_verdict(self):
        for before, after, line in (
                ("case_starved_pinned", "case_starved_one",
                 r"Slower: an iteration takes 48\.0 ms instead of 6\.00 ms \(\+700\.4 %\)\. "
                 r"Largest change: GPU idle \+42\.0 ms, mostly outside of CUDA calls\."),
                ("case_starved_one", "case_starved_pinned",
                 r"Faster: an iteration takes 6\.00 ms instead of 48\.0 ms \(-87\.5 %\)\. "
                 r"Largest change: GPU idle -42\.0 ms, mostly outside of CUDA calls\."),
                ("rtdetr_sampled", "rtdetr_sampled", r"No change: an iteration takes 2\.05 ms and 2\.05 ms \(0\.0 %\)\."),
                ("rtdetr_unfused", "rtdetr_sampled",
                 r"No verdict on time: A has counters exact, B sampled, and exact counters run launches one at a time\. "
                 r"Too few iterations to compare bytes\."),
                ("case_transpose", "case_transpose",
                 r"Too few iterations to test: .*1 and 1 iterations, 5 a side are needed\)\.")):
            with self.subTest(before=before, after=after):
                self.assertRegex(self.first_line(before, after), "^" + line + "$")

    def test_a_slower_iteration_fails_though_no_module_is_slower(self):
        pair = recorded("case_starved_pinned"), recorded("case_starved_one")
        for limits, code in (("5%", 1), ("0.05", 1), ("800%", 0), ("iteration=5%", 1), ("iteration=800%", 0),
                             ("module=5%", 0), ("dram=1%", 4), ("module=5%,iteration=3%", 1)):
            with self.subTest(limits=limits):
                self.check_code(self.call("diff", *pair, "--fail-over", limits), code)
                alike = 4 if "dram" in limits else 0  # neither side has bytes
                self.check_code(self.call("diff", *reversed(pair), "--fail-over", limits), alike)
                self.check_code(self.call("diff", pair[0], pair[0], "--fail-over", limits), alike)
        done = self.call("diff", *pair, "--fail-over", "5%").stdout
        self.assertIn("1 row is worse by more than 5%; the first: the iteration", done)

    def test_dram_bytes_have_their_own_limit(self):
        more = [{**line, "dram_read_bytes": 2 * line["dram_read_bytes"]} if "dram_read_bytes" in line else line
                for line in lines_of(recorded("rtdetr_exact"))]
        pair = recorded("rtdetr_exact"), self.make_trace(more, "more")
        worse = [row for row in json.loads(self.call("diff", *pair, "--json").stdout)["modules"]
                 if row["verdict"] == "worse" and row["quantity"] == "dram_bytes" and "relative" in row]
        most = max(row["relative"] for row in worse)
        self.check_code(self.call("diff", *pair, "--fail-over", f"dram={most * 0.99}"), 1)
        self.check_code(self.call("diff", *pair, "--fail-over", f"dram={most * 1.01}"), 0)

    def test_what_differs_between_the_runs_is_below_the_verdict(self):
        done = self.call("diff", recorded("case_starved_pinned"), recorded("case_starved_one")).stdout.splitlines()
        self.assertEqual(done[1], "Set-ups differ: arguments --workers 8 --copy pinned and --workers 1 --copy pageable")
        self.assertRegex(done[2], r"^Kernels \S+x as fast, iterations \S+x as fast\.$")
        self.assertEqual(self.call("diff", *[recorded("case_starved_one")] * 2).stdout.splitlines()[2], "")
        differ = self.diff("hf_rtdetr_trace", "rtdetr_sampled")["differences"]
        self.assertIn("Different programs: python3.12 and rtdetr", differ)
        self.assertIn("Different counters: off and sampled", differ)
        gpu = [{**line, "name": "Other GPU"} if line["t"] == "gpu" else line for line in cli_case.TRACE]
        done = self.call("diff", self.make_trace(name="one"), self.make_trace(gpu, name="other"), "--json")
        self.assertEqual(json.loads(done.stdout)["differences"], ["Different GPUs: Test GPU and Other GPU"])

    def test_json_has_the_verdict(self):
        for before, after, result in (("case_starved_pinned", "case_starved_one", "slower"),
                                      ("case_starved_one", "case_starved_pinned", "faster"),
                                      ("graph_replay", "graph_replay", "same"),
                                      ("case_transpose", "case_transpose", "too_few")):
            verdict = self.diff(before, after)["verdict"]
            self.assertEqual((verdict["result"], verdict["text"]), (result, self.first_line(before, after)))

    def test_markdown_fits_a_comment(self):
        def lines_of_comment(before, after, *options):
            done = self.call("diff", recorded(before), recorded(after), "--md", *options)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertLess(len(done.stdout), 10_000)
            return done.stdout.splitlines()
        lines = lines_of_comment("case_starved_pinned", "case_starved_one", "--fail-over", "5%")
        self.assertEqual(lines[0], f"**{self.first_line('case_starved_pinned', 'case_starved_one')}**")
        self.assertEqual(lines[2], "1 row is worse by more than 5%; the first: the iteration")
        self.assertEqual(lines[4], "Set-ups differ: arguments --workers 8 --copy pinned and --workers 1 --copy pageable")
        at = lines.index("| what | A | B | change | ± | verdict |")
        self.assertEqual(lines[at + 1:at + 3], ["|---|---:|---:|---:|---:|---|",
                                                "| wall time | 6.00 ms | 48.0 ms | +700.4 % | 1.3 % | slower |"])
        self.assertEqual(lines[-1].count(" iterations of `"), 2)
        lines = lines_of_comment("rtdetr_r18", "rtdetr_r18_unfused", "--fail-over", "5%")
        modules = [line for line in lines if line.startswith("| iteration")]
        self.assertIn("worse, over the limit", modules[0])
        verdicts_of = [line.split(" | ")[-1] for line in modules]
        self.assertEqual(verdicts_of, sorted(verdicts_of, key=lambda text: (not text.startswith("worse, over"),
                                                                              not text.startswith("worse"))))
        self.assertRegex("\n".join(modules), r"layers/\\\*/self\\_attn \(3\)")

    def test_without_iterations_the_verdict_is_about_modules(self):
        one = self.make_trace(name="one")
        renamed = [{**line, "name": "other"} if line["t"] == "path" else line for line in cli_case.TRACE]
        other = self.make_trace(renamed, name="other")
        self.assertIn("Too few iterations to test", self.call("diff", one, one).stdout)
        without = [line for line in cli_case.TRACE if line["t"] != "range"]
        whole = json.loads(self.call("diff", self.make_trace(without, "without"), other, "--json").stdout)
        self.assertEqual(whole["verdict"]["result"], "no_iterations")
        self.assertIn("2 modules are new or gone.", whole["verdict"]["text"])
        self.assertEqual(whole["iteration"], [])

    def test_kernels_of_one_trace_are_compared(self):
        done = self.call("diff", recorded("rtdetr_exact"), "--kernel", "attention_mma", "layer_norm_kernel")
        self.check_code(done, 0)
        self.assertRegex(done.stdout, r"mean time +4\.\d\d us +1\.\d\d us")
        done = self.call("diff", recorded("rtdetr_exact"), "--kernel", "attention_mma", "sigmoid_nothing")
        self.check_code(done, 3)
        self.assertIn("no kernel of the trace has a name that matches sigmoid_nothing", done.stderr)


if __name__ == "__main__":
    export_case.main(__doc__)
