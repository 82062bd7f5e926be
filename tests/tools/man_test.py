# SPDX-License-Identifier: Apache-2.0
"""Checks the manual pages of the build. Usage: man_test.py FOLDER REPOSITORY; exit code 77: there are none."""
import pathlib
import re
import sys
import unittest

FOLDER, REPOSITORY = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def verbs() -> set[str]:
    """The verbs that the program adds, those that read traces in program.cpp."""
    text = "".join((REPOSITORY / "tools/rangefinder" / name).read_text() for name in ("main.cpp", "program.cpp"))
    return set(re.findall(r"(?<!\.)add_(\w+)\(line, action", text)) - {"reading_verbs"}


class Man(unittest.TestCase):
    def test_every_verb_has_a_page_and_the_program_too(self):
        pages = {page.name for page in FOLDER.glob("*.1")}
        self.assertEqual(pages, {"rangefinder.1"} | {f"rangefinder-{verb}.1" for verb in verbs()})

    def test_a_page_is_titled_by_its_verb(self):
        for page in FOLDER.glob("*.1"):
            text = page.read_text()
            self.assertRegex(text, rf'(?m)^\.TH {page.stem.upper()} "1"', page.name)
            self.assertRegex(text, rf"(?m)^\.SH NAME\n{page.stem} \\- ", page.name)

    def test_a_page_has_a_name_line_and_the_options(self):
        report = (FOLDER / "rangefinder-report.1").read_text()
        self.assertIn(".SH NAME", report)
        self.assertIn("show the modules, kernels and findings of a trace", report)
        self.assertIn("\\fB\\-\\-section\\fR", report)


if __name__ == "__main__":
    if not FOLDER.is_dir():
        print("no manual pages: help2man is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
