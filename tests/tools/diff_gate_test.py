# SPDX-License-Identifier: Apache-2.0
"""`rangefinder diff --fail-over` as a gate, over 60 pairs of runs with a known answer: 20 of one program, which raise no
alarm; 20 of which one got slower by 2 to 10 %; 20 that cannot be compared. All are recorded, or made of recorded
iterations.
Usage: diff_gate_test.py RANGEFINDER REPOSITORY REPLAY"""
import itertools
import json

import export_case
from cli_case import CommandLine
from export_case import recorded
from resampled import halves, iterations_of

PROGRAMS = {"case_starved_one": "iteration", "case_starved_pinned": "iteration", "rtdetr_sampled": "iteration",
            "rtdetr_graph": "iteration"}
MODES = {"off": ("case_starved_one", "case_bert_fp32", "hf_rtdetr_trace"),
         "sampled": ("rtdetr_sampled", "hf_rtdetr_sampled", "decoder_sampled"),
         "exact": ("rtdetr_exact", "rtdetr_unfused", "decoder_exact", "case_transpose")}


class Gate(CommandLine):
    made = 0

    def write(self, lines):
        self.made += 1
        return self.make_trace(lines, f"made-{self.made}")

    def gate(self, before, after, *options):
        return self.call("diff", before, after, "--fail-over", "2%", *options)

    def slower(self, name, seed, part):
        """Two halves of a recorded run; in the second all kernels, or in turn the host, take longer by `part`."""
        iterations = iterations_of(name, PROGRAMS[name])
        before, after = halves(iterations, seed)
        names = {line["name"] for block in iterations.blocks for line in block if line["t"] == "kernel"}
        change = {"kernels": dict.fromkeys(names, 1 + part)} if seed % 2 else {"host": 1 + part}
        return self.write(iterations.run(before)), self.write(iterations.run(after, **change))

    def named(self, before, after):
        """Whether a row says that something got slower, and the gate fails."""
        done = self.gate(before, after, "--json")
        whole = json.loads(done.stdout)
        rows = [row for table in ("iteration", "modules") for row in whole[table] if row["quantity"].endswith("_ns")]
        return done.returncode == 1 and any(row["verdict"] in ("slower", "worse") for row in rows)

    def test_20_pairs_of_one_program_raise_no_alarm(self):
        recordings = ("case_bert_fp32", "rtdetr_r18", "case_starved_one", "hf_rtdetr_sampled", "hf_rtdetr_trace",
                      "rtdetr_exact", "rtdetr_graph", "rtdetr_sampled")
        pairs = [(recorded(name), recorded(name)) for name in recordings]
        for seed, name in zip(range(12), itertools.cycle(PROGRAMS)):
            iterations = iterations_of(name, PROGRAMS[name])
            pairs.append([self.write(iterations.run(half)) for half in halves(iterations, 100 + seed)])
        self.assertEqual(len(pairs), 20)
        for before, after in pairs:
            with self.subTest(before=before.name):
                self.check_code(self.gate(before, after), 0)

    def test_10_pairs_with_a_change_of_5_to_10_percent_are_all_named(self):
        missed = [(name, seed) for seed, name in zip(range(10), itertools.cycle(PROGRAMS))
                  if not self.named(*self.slower(name, seed, 0.055 + 0.004 * seed))]
        self.assertEqual(missed, [])

    def test_8_of_10_pairs_with_a_change_of_2_to_5_percent_are_named(self):
        missed = [(name, seed) for seed, name in zip(range(10), itertools.cycle(PROGRAMS))
                  if not self.named(*self.slower(name, seed, 0.024 + 0.0025 * seed))]
        self.assertLessEqual(len(missed), 2, missed)

    def test_20_pairs_that_cannot_be_compared_end_with_exit_code_4_and_the_reason_first(self):
        modes = [(recorded(a), recorded(b)) for first, second in itertools.combinations(MODES, 2)
                 for a, b in zip(MODES[first], MODES[second])]
        programs = [(recorded(a), recorded(b)) for a, b in itertools.combinations(
            ("case_bert_fp32", "hf_rtdetr_trace", "case_starved_one", "rtdetr_sampled"), 2)]
        few = [iterations_of("case_starved_pinned").run([0, *blocks]) for blocks in ((3, 4), (5, 6, 7), (8, 9, 10, 11))]
        few = [(self.write(lines), recorded("case_starved_pinned")) for lines in few]
        few += [(recorded(name), recorded(name)) for name in ("case_transpose", "rtdetr_unfused")]
        pairs = [(pair, "No verdict") for pair in modes + programs] + [(pair, "Too few iterations") for pair in few]
        self.assertEqual(len(pairs), 20)
        self.check_code(self.gate(*few[0], "--allow-unchecked"), 0)
        for (before, after), reason in pairs:
            with self.subTest(before=before.name, after=after.name):
                done = self.gate(before, after)
                self.check_code(done, 4)
                self.assertTrue(done.stdout.startswith(reason), done.stdout[:200])


if __name__ == "__main__":
    export_case.main(__doc__)
