# SPDX-License-Identifier: Apache-2.0
"""--help of every verb: usage, groups, width, defaults.

    help_test.py RANGEFINDER REPOSITORY
"""
import re

import cli_case
from cli_case import CommandLine

WIDTH = 100
MOST_UNGROUPED = 8  # options under the heading "Options"
USAGE = {
    "": "rangefinder VERB [OPTIONS]",
    "run": "rangefinder run [OPTIONS] -- PROGRAM [ARGS...]",
    "attach": "rangefinder attach [OPTIONS] [PROCESS]",
    "top": "rangefinder top [OPTIONS] [PROCESS]",
    "demo": "rangefinder demo [OPTIONS] [EXAMPLE]",
    "report": "rangefinder report [OPTIONS] DIR...",
    "diff": "rangefinder diff [OPTIONS] BEFORE AFTER",
    "validate": "rangefinder validate [OPTIONS] DIR|FILE...",
    "finalize": "rangefinder finalize [OPTIONS] DIR...",
    "lake": "rangefinder lake [OPTIONS] ACTION DIR...",
    "sql": "rangefinder sql [OPTIONS] DIR QUERY",
    "export": "rangefinder export [OPTIONS] --to FORMAT DIR...",
    "serve": "rangefinder serve [OPTIONS] [DIR...]",
    "metrics": "rangefinder metrics [OPTIONS]",
    "doctor": "rangefinder doctor [OPTIONS]",
}


class Help(CommandLine):
    def help_of(self, verb):
        done = self.call(*verb.split(), "--help")
        self.check_code(done, 0)
        return done.stdout

    def verbs(self):
        text = self.help_of("")
        return re.findall(r"^  ([a-z]+) ", text.split("\nVerbs:\n")[1].split("\n\n")[0], re.MULTILINE)

    def groups(self, verb):
        """Options by heading."""
        heading, out = None, {}
        for line in self.help_of(verb).splitlines():
            if re.fullmatch(r"[A-Z][A-Za-z ]+:", line):
                heading = line[:-1]
            option = re.match(r"  (?:-[a-z], )?(--[a-z-]+)", line)
            if option:
                out.setdefault(heading, []).append(option.group(1))
        return out

    def test_the_usage_says_what_a_verb_takes(self):
        self.assertEqual(set(self.verbs()), set(USAGE) - {""})
        for verb, usage in USAGE.items():
            self.assertIn("\nUsage: " + usage + "\n", self.help_of(verb))

    def test_no_line_is_wider_than_100_columns(self):
        for verb in USAGE:
            for line in self.help_of(verb).splitlines():
                self.assertLessEqual(len(line), WIDTH, f"{verb}: {line}")
                self.assertEqual(line, line.rstrip(), f"{verb}: a space ends the line")

    def test_descriptions_have_a_column_of_their_own(self):
        for verb in USAGE:
            for line in re.sub(r"\nUsage:.*?\n\n", "", self.help_of(verb), flags=re.DOTALL).splitlines():
                if line.startswith("   "):
                    self.assertRegex(line, r"^ {27,}", f"{verb}: {line}")

    def test_many_options_are_in_named_groups(self):
        for verb in USAGE:
            groups = self.groups(verb)
            self.assertNotIn(None, groups, verb)
            self.assertEqual(groups["Help"], ["--help"], verb)
            plain = groups.get("Options", [])
            self.assertLessEqual(len(plain), MOST_UNGROUPED, verb)
            if len(groups) > 2:
                self.assertEqual(plain, [], f"{verb}: some options have no group")
        self.assertIn("--exact-at", self.groups("run")["Counters"])
        self.assertIn("--torch-modules", self.groups("run")["What is recorded"])

    def test_values_have_names_of_their_own(self):
        for verb in USAGE:
            self.assertNotRegex(self.help_of(verb), r" (TEXT|INT|UINT|FLOAT|REQUIRED)\b", verb)

    def test_the_default_of_run_is_the_one_in_use(self):
        text = " ".join(self.help_of("run").split())
        self.assertIn("does not wait) [auto]", text)
        self.assertIn("[rangefinder-%p]", text)

    def test_choices_stand_below_their_option(self):
        self.assertRegex(self.help_of("report"), r"\n {28}modules +\S")
        self.assertRegex(self.help_of("export"), r"\n {28}perfetto +\S")


if __name__ == "__main__":
    cli_case.main(__doc__)
