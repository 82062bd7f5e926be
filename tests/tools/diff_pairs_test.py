# SPDX-License-Identifier: Apache-2.0
"""Verdict, exit code and first line of `rangefinder diff` for pairs of runs with a known answer. They are recorded, or
made of recorded iterations.
Usage: diff_pairs_test.py RANGEFINDER REPOSITORY REPLAY"""
import json

import cli_case
import export_case
from cli_case import CommandLine
from export_case import lines_of, path_texts, recorded
from resampled import OF_ITERATIONS, Resampled, halves, iterations_of

PAIRS = 20


def transposed(variant, factor=1.0):
    """A run of one variant of the recorded transpose: each launch is an iteration. The launches whose bytes were
    counted; the program waits longer for other metrics."""
    lines = lines_of(recorded("case_transpose"))
    path = next(id for id, text in path_texts(lines).items() if text == "transpose/" + variant)
    kernel = next(line["name"] for line in lines if line["t"] == "kernel" and line["path"] == path)
    lines = [{**line, "name": "transpose", "parent": 0} if line["t"] == "path" and line["id"] == path else line
             for line in lines if line["t"] not in OF_ITERATIONS or line.get("path") == path]
    launches = range(1, 14) if variant == "naive" else range(16, 29)
    return Resampled(lines, path).run([launches[0], *launches], kernels={kernel: factor})


class Pairs(CommandLine):
    made = 0

    def write(self, lines):
        self.made += 1
        return self.make_trace(lines, f"made-{self.made}")

    def check_pair(self, before, after, line, codes):
        """`codes`: exit codes by --fail-over."""
        for limit, code in codes.items():
            with self.subTest(limit=limit):
                done = self.call("diff", before, after, "--fail-over", limit)
                self.check_code(done, code)
                self.assertRegex(done.stdout.splitlines()[0], "^" + line + "$")

    def changed(self, before, after):
        whole = json.loads(self.call("diff", before, after, "--json").stdout)
        return [row for table in ("iteration", "modules", "kernels") for row in whole[table]
                if row["verdict"] not in ("same", "untested", "unclear")]

    def test_halves_of_one_run_show_no_change(self):
        changed = []
        for name in ("case_starved_one", "case_starved_pinned", "rtdetr_sampled"):
            iterations = iterations_of(name)
            for seed in range(PAIRS):
                with self.subTest(name=name, seed=seed):
                    before, after = (self.write(iterations.run(half)) for half in halves(iterations, seed))
                    self.check_pair(before, after, r"No (significant )?change: an iteration takes [^.]*\.[^.]*\.[^:]*",
                                    {"2%": 0})
                    changed += [row["quantity"] for row in self.changed(before, after)]
        # One comparison in a hundred may show a row that changed, by chance.
        self.assertEqual(changed, ["gpu_idle_copies_ns"])

    def test_a_kernel_that_is_3_percent_slower(self):
        # The iteration waits for the loaders: it takes as long as before.
        iterations = iterations_of("case_starved_pinned")
        before, after = halves(iterations, 1)
        self.check_pair(self.write(iterations.run(before)), self.write(iterations.run(after, kernels={2: 1.03})),
                        r"No change: an iteration takes 6\.0\d ms and 6\.0\d ms \(.*\)\. "
                        r"Largest change: GPU time of iteration/step \+90\.0 us\.",
                        {"2%": 1, "module=2%": 1, "iteration=2%": 0, "5%": 0})

    def test_a_kernel_that_is_most_of_the_iteration_and_3_percent_slower(self):
        before, after = (self.write(transposed("naive", factor)) for factor in (1, 1.03))
        self.check_pair(before, after, r"Slower: the kernels of an iteration take 57\d us instead of 55\d us \(\+[23]\.\d %\)\. "
                        r"Largest change: GPU time of transpose \+1\d\.\d us\.",
                        {"2%": 1, "iteration=2%": 1, "module=2%": 1, "5%": 0})

    def test_a_host_that_is_10_percent_slower(self):
        for name, idle in (("case_starved_pinned", r"\+60\d us"), ("case_starved_one", r"\+4\.\d\d ms")):
            iterations = iterations_of(name)
            before, after = halves(iterations, 2)
            pair = self.write(iterations.run(before)), self.write(iterations.run(after, host=1.1))
            with self.subTest(name=name):
                self.check_pair(*pair, r"Slower: an iteration takes [\d.]+ ms instead of [\d.]+ ms "
                                rf"\(\+(9\.[5-9]|10\.\d) %\)\. Largest change: GPU idle {idle}, mostly outside of CUDA calls\.",
                                {"5%": 1, "iteration=5%": 1, "module=5%": 0, "15%": 0})
                self.check_pair(*reversed(pair), r"Faster: .* \(-[89]\.\d %\)\. Largest change: GPU idle -.*\.",
                                {"5%": 0})

    def test_a_tiled_transpose_is_faster(self):
        naive, padded = self.write(transposed("naive")), self.write(transposed("padded"))
        change = r"Largest change: GPU time of transpose {}48\d us\."
        self.check_pair(naive, padded, r"Faster: the kernels of an iteration take 7\d\.\d us instead of 55\d us \(-86\.\d %\)\. " +
                        change.format("-"), {"5%": 0})
        self.check_pair(padded, naive, r"Slower: the kernels of an iteration take 55\d us instead of 7\d\.\d us \(\+65\d\.\d %\)\. " +
                        change.format(r"\+"), {"5%": 1, "module=5%": 1, "800%": 0})

    def test_few_iterations_are_never_called_unchanged(self):
        iterations = iterations_of("case_starved_pinned")
        few = r"Too few iterations to test: an iteration takes .* and .* \(.*; 2 and 2 iterations, 5 a side are needed\)\."
        same = [self.write(iterations.run([0, *blocks])) for blocks in ((3, 4), (5, 6))]
        self.check_pair(*same, few, {"5%": 4})
        slower = self.write(iterations.run([0, 5, 6], kernels={2: 3}))
        self.check_pair(same[0], slower, few, {"iteration=5%": 4})
        two = self.write(iterations_of("hf_rtdetr_trace", "step").run([0, 3, 4]))
        self.check_pair(two, recorded("hf_rtdetr_trace"),
                        r"Too few iterations to test: .*; 2 and \d iterations, 5 a side are needed\)\.", {"5%": 4})
        # Five prove a large change.
        pair = [self.write(iterations_of(name).run([0, 3, 4, 5, 6, 7])) for name in ("case_starved_pinned", "case_starved_one")]
        self.check_pair(*pair, r"Slower: an iteration takes 4\d\.\d ms instead of 6\.\d\d ms .*", {"5%": 1})

    def test_a_check_without_enough_iterations_says_so(self):
        done = self.call("diff", *[recorded("rtdetr_unfused")] * 2, "--fail-over", "iteration=5%")
        self.check_code(done, 4)
        self.assertTrue(done.stdout.startswith("Too few iterations to test: "))
        self.assertIn("Too few iterations to test: --fail-over could not check the limits.", done.stdout)


if __name__ == "__main__":
    export_case.main(__doc__)
