# SPDX-License-Identifier: Apache-2.0
"""Completion in real shells; those that are not installed are skipped. Usage: completion_test.py RANGEFINDER REPOSITORY"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

RANGEFINDER, REPOSITORY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FOLDER = f"{REPOSITORY}/tools/completion"
BASH = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rangefinder; '
        'printf "%s\\n" "${COMPREPLY[@]}"')
# compadd and _files print instead of filling a menu.
ZSH = ('compadd() { print -l -- "${@[(ie)--]:+${@[${@[(ie)--]}+1,-1]}}" }; _files() { print -l "files$*"; }; '
       '_call_program() { shift; eval "$@" }; '
       'run() { source "$1"; }; file=$1; shift; words=("$@"); CURRENT=$#; run "$file"')
FISH = 'set PATH (dirname $argv[2]) $PATH; source $argv[1]; complete "--do-complete="(string join -- " " rangefinder $argv[3..])'


def program(*words: str) -> list[str]:
    """What the program offers for the last word."""
    done = subprocess.run([RANGEFINDER, "__complete", *words], capture_output=True, text=True, check=True, timeout=30)
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def in_shell(shell: str, *words: str) -> list[str]:
    """What the shell offers in a folder with the folder `trace` and the file `trace.log`."""
    script, file = {"bash": (BASH, "rangefinder.bash"), "zsh": (ZSH, "_rangefinder"),
                    "fish": (FISH, "rangefinder.fish")}[shell]
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(f"{home}/trace")
        open(f"{home}/trace.log", "w", encoding="utf-8").close()
        command = [shell, "-c", script] + {"fish": [], "bash": ["bash"], "zsh": ["zsh"]}[shell]
        done = subprocess.run([*command, f"{FOLDER}/{file}", RANGEFINDER, *words], capture_output=True, text=True,
                              timeout=60, cwd=home, env=dict(os.environ, HOME=home))
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [line.split("\t")[0] for line in done.stdout.splitlines() if line]


class Words(unittest.TestCase):
    def test_the_first_word_is_a_verb(self):
        self.assertEqual(program("rep"), ["report"])
        self.assertTrue({"run", "report", "diff", "validate", "doctor", "help"} <= set(program("")))
        self.assertEqual(program("help", "val"), ["validate"])

    def test_a_dash_offers_the_verbs_own_options(self):
        self.assertEqual(program("report", "--iteration"), ["--iterations", "--iteration-range"])
        self.assertIn("--fail-over", program("diff", "--"))
        self.assertNotIn("--fail-over", program("report", "--"))
        self.assertNotIn("--probe-answer", program("doctor", "--probe-"))

    def test_values_come_from_the_same_table_as_the_options(self):
        self.assertTrue({"modules", "kernels", "memcpy", "idle"} <= set(program("report", "--section", "")))
        self.assertEqual(program("report", "--section", "mem"), ["memcpy", "memory"])
        self.assertEqual(program("export", "trace", "--to", "s"), ["speedscope", "sqlite"])
        self.assertEqual(program("export", "--to=s"), ["--to=speedscope", "--to=sqlite"])
        self.assertEqual(program("run", "--graphs", ""), ["nodes", "whole"])
        self.assertEqual(program("run", "--counters", ""), ["off", "sampled", "exact", "gpm", "auto"])
        self.assertEqual(program("attach", "--counters", ""), ["off", "sampled", "exact"])
        self.assertEqual(program("metrics", "--set", "co"), ["compute", "coalescing"])
        self.assertEqual(program("report", "--example", ""), ["rtdetr", "decoder"])
        self.assertEqual(program("demo", ""), ["rtdetr", "decoder"])
        self.assertEqual(program("lake", "re"), ["remove"])

    def test_nothing_is_offered_for_files_and_for_the_program_of_run(self):
        for words in (("report", "--html", ""), ("report", "--html="), ("validate", ""), ("run", "--", ""),
                      ("run", "--", "report", "--to")):
            self.assertEqual(program(*words), [], words)

    def test_a_slash_stands_for_folders(self):
        for words in (("report", ""), ("report", "tra"), ("report", "--json", ""), ("finalize", "a", ""),
                      ("export", "--to", "csv", ""), ("doctor", "--out", "")):
            self.assertEqual(program(*words), ["/"], words)

    def test_a_text_is_the_first_sentence_of_the_option(self):
        for verb in sorted(set(program("")) - {"help"}):
            done = subprocess.run([RANGEFINDER, "__complete", verb, "--"], capture_output=True, text=True, check=True)
            self.assertNotIn("\t\n", done.stdout, verb)
            for text in (line.split("\t")[1] for line in done.stdout.splitlines()):
                self.assertEqual(text, text.rstrip(".:;, "), verb)
                self.assertEqual((text.count("("), text.count("[")), (text.count(")"), text.count("]")), f"{verb}: {text}")
                self.assertNotIn(". ", text, verb)
        texts = dict(line.split("\t") for line in subprocess.run(
            [RANGEFINDER, "__complete", "diff", "--save"], capture_output=True, text=True, check=True).stdout.splitlines())
        self.assertIn("in this .json file", texts["--save"])


class Shells(unittest.TestCase):
    def check(self, shell: str):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")
        self.assertEqual(in_shell(shell, "rep"), ["report"])
        self.assertEqual(in_shell(shell, "export", "--to", "s"), ["speedscope", "sqlite"])
        self.assertEqual(in_shell(shell, "report", "--iteration"), ["--iterations", "--iteration-range"])
        offered = in_shell(shell, "report", "tr")
        self.assertIn(offered[0].rstrip("/"), ("trace", "files-"))
        self.assertEqual(len(offered), 1, offered)
        return in_shell(shell, "run", "--", "/bi")

    def test_bash(self):
        self.assertIn("/bin", self.check("bash"))
        self.assertEqual(in_shell("bash", "export", "--to", "=", "s"), ["speedscope", "sqlite"])
        self.assertIn("csv", in_shell("bash", "export", "--to", "="))

    def test_zsh(self):
        self.assertEqual(self.check("zsh"), ["files"])

    def test_fish(self):
        self.assertTrue(any(word.startswith("/bin") for word in self.check("fish")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
