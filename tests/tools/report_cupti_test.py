# SPDX-License-Identifier: Apache-2.0
"""What `rangefinder report` says of another tool that had CUPTI.
Usage: report_cupti_test.py RANGEFINDER REPOSITORY REPLAY"""
import cli_case
import export_case
from cli_case import CommandLine
from export_case import lines_of, recorded


class OtherTools(CommandLine):
    def test_the_report_says_when_another_tool_had_cupti(self):
        def lines_of(*gaps):
            made = [{"t": "gap", "start": start, "end": end, "cause": cause} for start, end, cause in gaps]
            return [*cli_case.TRACE, *made]

        def said(name, *gaps):
            trace = self.make_trace(lines_of(*gaps), name)
            self.check_code(self.call("validate", trace), 0)
            return [line for line in self.call("report", trace).stdout.splitlines() if "CUPTI" in line or "So it was" in line]

        json_of_one = self.report(self.make_trace(lines_of((5, 9, "torch.profiler")), "json"))
        self.assertEqual(json_of_one["gaps"], [{"start_ns": 5, "end_ns": 9, "cause": "torch.profiler"}])
        after = "kernels of that time are not in the trace."
        self.assertEqual(said("none"), [])
        self.assertEqual(said("one", (1_200_000_000, 3_400_000_000, "torch.profiler")),
                         [f"torch.profiler had CUPTI from 1.20 s to 3.40 s (2.20 s): {after}"])
        self.assertEqual(said("many", *[(10**9 * i, 10**9 * i + 1000, "yield") for i in range(1, 6)]),
                         [f"Another tool had CUPTI from {i}.00 s to {i}.00 s (1.00 us): {after}" for i in (1, 2, 3)] +
                         ["So it was 2 more times."])

    def test_pytorch_kernels_that_end_while_the_program_goes_on_give_one_line(self):
        def said(trace):
            return [line for line in self.call("report", trace, "--wide").stdout.splitlines() if "Kineto" in line]

        def without_work_after(name, middle):
            """The recording without GPU work from the middle on, with or without launches there."""
            lines = lines_of(recorded("hf_rtdetr_trace"))
            work = [line for line in lines if line["t"] in ("kernel", "memcpy", "memset")]
            stop = sorted(line["start"] for line in work)[len(work) // 2]
            gone = ("kernel", "memcpy", "memset") + (() if middle == "launches" else ("launch",))
            trace = self.make_trace([line for line in lines if line["t"] not in gone or line["start"] < stop], name)
            return max(line["end"] for line in work if line["start"] < stop), trace

        for name in ("hf_rtdetr_trace", "hf_rtdetr_sampled", "eval_rtdetr_exact"):
            self.assertEqual(said(recorded(name)), [], name)
        for left in ("launches", "ranges"):
            last_ns, trace = without_work_after(left, left)
            (line,) = said(trace)
            number, unit = line.removeprefix("No kernels after ").split()[:2]
            self.assertAlmostEqual(float(number) * {"s": 1e9, "ms": 1e6, "us": 1e3}[unit] / last_ns, 1, delta=0.01)
            self.assertIn("--torch-modules", line)


if __name__ == "__main__":
    export_case.main(__doc__)
