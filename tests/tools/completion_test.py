# SPDX-License-Identifier: Apache-2.0
"""Completion in a real bash. Usage: completion_test.py RANGEFINDER REPOSITORY"""
import subprocess
import sys
import unittest

RANGEFINDER, REPOSITORY = sys.argv[1], sys.argv[2]


def offered(*words: str) -> list[str]:
    """The completions of the last word after `rangefinder`."""
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rangefinder; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", f"{REPOSITORY}/tools/completion/rangefinder.bash",
                           RANGEFINDER, *words], capture_output=True, text=True, check=True, timeout=30)
    return done.stdout.split()


class Completion(unittest.TestCase):
    def test_the_first_word_is_a_verb(self):
        self.assertEqual(offered("rep"), ["report"])
        self.assertTrue({"run", "report", "diff", "validate", "doctor"} <= set(offered("")))

    def test_a_dash_offers_the_verbs_own_options(self):
        self.assertEqual(offered("report", "--iteration"), ["--iterations", "--iteration-range"])
        self.assertIn("--fail-over", offered("diff", "--"))
        self.assertNotIn("--fail-over", offered("report", "--"))

    def test_sections_come_from_the_help(self):
        sections = offered("report", "--section", "")
        self.assertTrue({"modules", "kernels", "memcpy", "idle"} <= set(sections), sections)
        self.assertEqual(offered("report", "--section", "mem"), ["memcpy", "memory"])

    def test_modes_of_counters_come_from_the_help(self):
        self.assertEqual(offered("run", "--counters", ""), ["off", "sampled", "exact", "auto"])
        self.assertEqual(offered("attach", "--counters", ""), ["off", "sampled", "exact"])

    def test_after_two_dashes_files_are_offered(self):
        self.assertIn("/bin", offered("run", "--", "/bi"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
