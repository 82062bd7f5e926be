# SPDX-License-Identifier: Apache-2.0
"""The steps of tools/ci/action.yml, run by bash as GitHub runs them, with recorded traces.
Usage: ci_action_test.py RANGEFINDER REPOSITORY REPLAY"""
import re
import subprocess
import sys

import cli_case
import export_case
from cli_case import CommandLine, clean_environment
from export_case import recorded

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(export_case.SKIPPED)


class Action(CommandLine):
    def setUp(self):
        super().setUp()
        self.action = yaml.safe_load((cli_case.REPOSITORY / "tools" / "ci" / "action.yml").read_text())
        self.files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}

    def act(self, **given):
        """Exit code of the first step that fails, or 0. `given`: inputs, with _ for -."""
        inputs = {name: str(of["default"]) for name, of in self.action["inputs"].items()}
        given = {"rangefinder": cli_case.RANGEFINDER, **{key.replace("_", "-"): str(value) for key, value in given.items()}}
        self.assertLessEqual(given.keys(), inputs.keys())
        inputs.update(given)
        self.said = ""
        for step in self.action["runs"]["steps"]:
            self.assertEqual(step["shell"], "bash")
            # Inputs come as variables: within a script their text would be run.
            self.assertNotIn("${{", step["run"])
            variables = {key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], value)
                         for key, value in step["env"].items()}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder,
                                  text=True, capture_output=True, timeout=120, check=False,
                                  env=clean_environment(**variables, **{key: str(path) for key, path in self.files.items()}))
            self.said += done.stdout + done.stderr
            if done.returncode != 0:
                return done.returncode
        return 0

    def comment(self, name="rangefinder-diff.md"):
        return (self.folder / name).read_text()

    def test_a_slower_program_fails_and_has_a_comment(self):
        code = self.act(baseline=recorded("case_starved_pinned"), trace=recorded("case_starved_one"))
        self.assertEqual(code, 1, self.said)
        verdict = self.comment().splitlines()[0]
        self.assertRegex(verdict, r"^\*\*Slower: an iteration takes 48\.0 ms instead of 6\.00 ms")
        self.assertEqual(self.files["GITHUB_STEP_SUMMARY"].read_text(), self.comment())
        self.assertEqual(self.files["GITHUB_OUTPUT"].read_text(), f"verdict={verdict}\n")

    def test_the_same_and_a_faster_program_pass(self):
        self.assertEqual(self.act(baseline=recorded("rtdetr_sampled"), trace=recorded("rtdetr_sampled"), comment="c.md"), 0)
        self.assertIn("**No change", self.comment("c.md"))
        self.assertEqual(self.act(baseline=recorded("case_starved_one"), trace=recorded("case_starved_pinned")), 0)

    def test_limits_are_inputs(self):
        pair = {"baseline": recorded("case_starved_pinned"), "trace": recorded("case_starved_one")}
        self.assertEqual(self.act(**pair, fail_over="iteration=800%,module=5%"), 0)
        self.assertEqual(self.act(**pair, fail_over="everything=1%"), 2)

    def test_a_saved_baseline_is_compared_with(self):
        self.assertEqual(self.act(trace=recorded("case_starved_pinned"), save="base.json"), 0, self.said)
        self.assertFalse((self.folder / "rangefinder-diff.md").exists())
        self.assertEqual(self.act(baseline="base.json", trace=recorded("case_starved_one")), 1, self.said)
        self.assertEqual(self.act(baseline="none.json", trace=recorded("case_starved_one")), 3)

    def test_a_command_is_recorded_first(self):
        # Without a GPU the trace has no work, but the command ran and its exit code is the step's.
        self.assertEqual(self.act(command="echo here >ran; exit 7"), 7, self.said)
        self.assertEqual((self.folder / "ran").read_text(), "here\n")

    def test_options_of_run_are_inputs(self):
        self.assertEqual(self.act(command="exit 7", run_options="--counters off --quiet"), 7, self.said)
        self.assertEqual(self.act(command="exit 7", run_options="--no-such-option"), 2, self.said)


if __name__ == "__main__":
    export_case.main(__doc__)
