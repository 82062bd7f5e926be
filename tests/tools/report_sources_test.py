# SPDX-License-Identifier: Apache-2.0
"""Source lines of modules in reports. Usage: report_sources_test.py RANGEFINDER REPOSITORY"""
import csv
import io
import json
import shutil

import cli_case
from cli_case import CommandLine

MODEL, TRAIN = "/app/project/model.py", "/app/project/train.py"


def source(path, class_line=0, call_line=0):
    line = {"t": "module_source", "path": path}
    if class_line:
        line |= {"class_file": MODEL, "class_line": class_line}
    if call_line:
        line |= {"call_file": TRAIN, "call_line": call_line}
    return line


def training(count=8):
    """Iterations of 1 ms in which step/layers/0 and step/layers/1 wait for the host; step/backward/… follows."""
    lines = [*cli_case.TRACE[:2], *cli_case.TRACE[3:5]]
    for number, (parent, name) in enumerate(
            ((0, "step"), (1, "layers"), (2, "0"), (2, "1"), (1, "backward"), (5, "layers"), (6, "0"), (6, "1")), 1):
        lines.append({"t": "path", "id": number, "parent": parent, "name": name})
    lines += [source(3, 214, 88), source(4, 214, 88), source(7, 214, 88), source(8, 0, 90)]
    corr = 0
    for i in range(count):
        begin = 1_000_000 * (i + 1)
        for n, path in enumerate((3, 4, 7, 8)):
            corr += 1
            at = begin + n * 250_000
            place = {"path": path, "range": corr}
            lines += [{"t": "launch", "start": at + 200_000, "end": at + 202_000, "thread": 5, **place,
                       "api": "cuLaunchKernel", "corr": corr},
                      {"t": "kernel", "start": at + 203_000, "end": at + 240_000, "gpu": 0, "ctx": 1, "stream": 7,
                       "corr": corr, **place, "name": 1, "config": 1},
                      {"t": "range", "id": corr, "start": at, "end": at + 249_000, "thread": 5, "path": path}]
        lines.append({"t": "range", "id": 10_000 + i, "start": begin, "end": begin + 1_000_000, "thread": 5, "path": 1})
    return lines


class Sources(CommandLine):
    def setUp(self):
        super().setUp()
        self.trace = self.make_trace(training())

    def text(self, *arguments):
        done = self.call("report", self.trace, *arguments, COLUMNS="110")
        self.check_code(done, 0)
        return done.stdout

    def test_the_first_screen_names_the_line_beside_the_module(self):
        text = self.text()

        self.assertRegex(text, r"`step/layers/\*` \(model\.py:214\) ")
        self.assertRegex(text, r"(?m)^ *0 .*model\.py:214$")
        self.assertLessEqual(max(map(len, text.splitlines())), 110)

    def test_findings_have_the_line_in_title_and_json(self):
        self.assertRegex(self.text("--section", "findings"), r"`step/layers/\*` \(model\.py:214\) ")

        findings = self.report(self.trace, "--section", "findings")["findings"]
        of_layers = [finding for finding in findings if finding.get("where") == "step/layers/*"]

        self.assertTrue(of_layers)
        for finding in of_layers:
            self.assertEqual((f"{MODEL}:214", f"{TRAIN}:88"), (finding["class_source"], finding["call_source"]))

    def test_a_module_of_pytorch_has_the_line_of_its_call(self):
        rows = {row["path"]: row for row in self.report(self.trace, "--section", "modules")["modules"]}

        self.assertEqual(f"{MODEL}:214", rows["step/layers/0"]["class_source"])
        self.assertNotIn("class_source", rows["step/backward/layers/1"])
        self.assertEqual(f"{TRAIN}:90", rows["step/backward/layers/1"]["call_source"])
        self.assertNotIn("call_source", rows["step"])
        self.assertRegex(self.text("--section", "modules"), r"(?m)^ *1 .*train\.py:90$")

    def test_the_section_layers_has_both(self):
        layers = {row["path"]: row for row in self.report(self.trace, "--section", "layers")["layers"]}

        self.assertEqual(f"{MODEL}:214", layers["step/layers/0"]["class_source"])
        self.assertRegex(self.text("--section", "layers"), r"(?m)^ *0 .*model\.py:214$")

    def test_csv_of_modules_layers_and_findings_has_both(self):
        for section in ("modules", "layers", "findings"):
            done = self.call("report", self.trace, "--section", section, "--csv")
            rows = csv.DictReader(io.StringIO(done.stdout))
            with self.subTest(section):
                self.assertIn((f"{MODEL}:214", f"{TRAIN}:88"),
                              [(row["class_source"], row["call_source"]) for row in rows])

    def test_the_completed_summary_has_both(self):
        folder = shutil.copytree(cli_case.REPOSITORY / "schema/examples", self.folder / "examples")

        self.check_code(self.call("finalize", folder), 0)

        modules = json.loads((folder / "summary.json").read_text())["modules"]
        self.assertEqual(["/opt/app/model.py:214 /opt/app/train.py:30"],
                         [f"{row['class_source']} {row['call_source']}" for row in modules if "class_source" in row])

    def test_a_trace_without_source_lines_has_no_column(self):
        plain = self.make_trace([line for line in training() if line["t"] != "module_source"], "plain")
        for section in ("modules", "layers", "findings"):
            done = self.call("report", plain, "--section", section, "--wide")
            self.assertNotIn("source", done.stdout)

    def test_numbered_iterations_share_their_source_lines(self):
        lines = [*cli_case.TRACE[:2], *cli_case.TRACE[3:5]]
        for i in range(4):
            outer, inner = 2 * i + 1, 2 * i + 2
            lines += [{"t": "path", "id": outer, "parent": 0, "name": f"iteration {i}"},
                      {"t": "path", "id": inner, "parent": outer, "name": "attn"}, source(inner, 7),
                      {**cli_case.TRACE[5], "corr": i, "path": inner}, {**cli_case.TRACE[6], "corr": i, "path": inner}]
        trace = self.make_trace(lines, "numbered")

        rows = {row["path"]: row.get("class_source") for row in self.report(trace, "--section", "modules")["modules"]}

        self.assertEqual(1, sum(value == f"{MODEL}:7" for value in rows.values()), rows)

    def test_validate_accepts_source_lines_and_refuses_those_of_no_path(self):
        self.assertNotIn("module_source", self.call("validate", self.trace, "--json").stdout)
        lines = training()
        lines.insert(3, source(77, 1))

        done = self.call("validate", self.make_trace(lines, "unknown"), "--json")

        problems = json.dumps(json.loads(done.stdout))
        self.assertIn("path 77 is not defined earlier in this segment", problems)


if __name__ == "__main__":
    cli_case.main(__doc__)
