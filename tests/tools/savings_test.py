# SPDX-License-Identifier: Apache-2.0
"""Printed savings beside what the fix gained, in recordings of one program without and with it.
Usage: savings_test.py RANGEFINDER REPOSITORY REPLAY. With UPDATE=1 in the environment it writes the table of
docs/internals/savings.md anew."""
import json
import os

import cli_case
import export_case
from cli_case import CommandLine
from export_case import recorded

PAGE = "docs/internals/savings.md"
MARK = "<!-- table -->\n"


class Pair:
    """`gain`: of the two reports, in ns an iteration, or in the run if there are none."""

    def __init__(self, fix, without, fixed, findings, gain):
        self.fix, self.without, self.fixed, self.findings, self.gain = fix, without, fixed, findings, gain


def wall(before, after):
    return before["opening"]["wall_ns"] - after["opening"]["wall_ns"]


def gpu_time(suffixes, *others):
    """GPU time of the modules with these ends, an iteration."""
    def gained(before, after):
        def each(report, ends):
            rows = [row for row in report["modules"] if row["path"].endswith(ends) and not row["path"].startswith("warmup")]
            return sum(row["gpu_ns"] for row in rows) / max(1, report["opening"].get("iteration", {}).get("total", 1))
        return each(before, suffixes) - each(after, others or suffixes)
    return gained


PAIRS = [
    Pair("fused attention", "case_attention", "case_attention", ["attention_scores"],
         gpu_time(("attention/unfused",), "attention/fused")),
    Pair("fused attention in RT-DETR", "rtdetr_r18_unfused", "rtdetr_r18", ["attention_scores"],
         gpu_time(("self_attn",))),
    Pair("mixed precision for BERT", "case_bert_fp32", "case_bert_amp", ["fp32_math"], wall),
    Pair("TF32 for a GEMM", "case_gemm_1024_fp32", "case_gemm_1024_tf32", ["fp32_math"], wall),
    Pair("eight loaders, pinned memory", "case_starved_one", "case_starved_pinned",
         ["idle_in_range", "pageable_or_synchronous_copies"], wall),
    Pair("coalesced transpose", "case_transpose", "case_transpose", ["uncoalesced_stores"],
         gpu_time(("transpose/naive",), "transpose/padded")),
    Pair("a CUDA graph for RT-DETR", "rtdetr_r18", "rtdetr_r18_graph", [], wall),
]


def milliseconds(ns):
    return f"{ns / 1e6:.3g} ms"


class Savings(CommandLine):
    def report(self, name):
        report = json.loads(self.call("report", str(recorded(name)), "--json").stdout)["traces"][0]
        instances = json.loads(self.call("report", str(recorded(name)), "--section", "iterations", "--json").stdout)
        report["opening"].setdefault("iteration", {})["total"] = max(1, len(instances["traces"][0]["iterations"]))
        return report

    def test_savings_are_upper_bounds_and_their_cause_is_first(self):
        rows, close = [], 0
        for pair in PAIRS:
            before, after = self.report(pair.without), self.report(pair.fixed)
            gain = pair.gain(before, after)
            found = before["findings"]
            saving = sum(one.get("saving_per_iteration_ns", one.get("prize_ns", 0)) for one in found if one["id"] in pair.findings)
            printed = milliseconds(saving) if saving else "none"
            rows.append(f"| {pair.fix} | `{pair.without}`, `{pair.fixed}` | {' + '.join(f'`{one}`' for one in pair.findings) or 'none'} "
                        f"| {printed} | {milliseconds(gain)} | {f'{saving / gain:.2f}' if saving else ''} |")
            if not pair.findings:
                continue
            close += saving <= 2 * gain
            with self.subTest(fix=pair.fix):
                self.assertEqual(found[0]["id"], pair.findings[0])
                self.assertGreaterEqual(saving, gain)
                self.assertLessEqual(saving, before["opening"]["wall_ns"])
        self.assertGreaterEqual(close, 5)
        head = "| fix | recordings | finding | printed saving | gained | ratio |\n|---|---|---|---|---|---|\n"
        page = cli_case.REPOSITORY / PAGE
        text = page.read_text(encoding="utf-8")
        now = text.partition(MARK)[0] + MARK + head + "\n".join(rows) + "\n"
        if "UPDATE" in os.environ:
            page.write_text(now, encoding="utf-8")
        self.assertEqual(text if "UPDATE" not in os.environ else now, now)


if __name__ == "__main__":
    export_case.main(__doc__)
