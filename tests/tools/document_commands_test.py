# SPDX-License-Identifier: Apache-2.0
"""Commands in the documents: each block can be pasted into a shell, and the command line's own parser takes each command
of ours. Usage: document_commands_test.py RANGEFINDER REPOSITORY PARSE_COMMANDS

A block is unlabelled. Either its first word is a program: then all of it is commands. Or some lines begin with `$ `:
they are the commands, and the others their output.
"""
import functools
import os
import re
import shlex
import subprocess
import sys
import unittest

import cli_case
from cli_case import CommandLine

PARSE_COMMANDS = ""
FOLDERS = ("docs", "injection", "kernels", "profiler", "schema", "tests", "tools", "workloads")
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"\.?[\w.-]*(/[\w.+-]+)+")
PROGRAMS = {".", "apt", "clickhouse-client", "cmake", "ctest", "echo", "export", "jq", "man", "mpirun", "ninja", "pip", "podman",
            "prometheus", "python3", "rangefinder", "sqlite3", "srun", "sudo", "tar", "tee", "torchrun"}
# Of docker, cmake, tools/setup and tools/sql/clickhouse/load.py.
FOREIGN_OPTIONS = {"--all", "--cap-add", "--cluster", "--from", "--gpus", "--install", "--lake", "--prefix", "--viewer",
                   "--web"}
LAUNCHERS = {"mpirun", "podman", "srun", "sudo"}  # words behind them may be a command of ours
SEPARATORS = set("();&|")


def documents():
    out = [cli_case.REPOSITORY / name for name in ("README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md")]
    for folder in FOLDERS:
        out += sorted((cli_case.REPOSITORY / folder).rglob("*.md"))
    return [file for file in out if "node_modules" not in file.parts]


def blocks(text):
    """Unlabelled blocks, without their indentation."""
    for indent, label, block in FENCED.findall(text):
        if not label:
            yield re.sub(f"^{indent}", "", block, flags=re.MULTILINE)


def split(text):
    """Commands of shell text, as lists of words without assignments and redirections."""
    words = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="();&|<>")
    words.whitespace_split = True
    words.commenters = ""
    commands, skip = [[]], False
    for word in words:
        if skip or set(word) <= set("<>&") and set(word) & set("<>"):
            skip = not skip
        elif set(word) <= SEPARATORS:
            commands.append([])
        elif commands[-1] or not re.match(r"\w+=", word):
            commands[-1].append(word)
    return [command for command in commands if command]


def without_comments(text):
    return re.sub(r"(^|\s+)#.*", "", text)


def is_program(word):
    return word in PROGRAMS or PATH.fullmatch(word) is not None


def shell_text(block):
    """The commands of a block; empty: it has none."""
    lines = [without_comments(line) for line in block.splitlines()]
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    if prompted or not block.strip():
        return "\n".join(prompted)
    first = next((line for line in lines if line), "").split()
    while first and re.match(r"\w+=", first[0]):
        first = first[1:]
    return "\n".join(line for line in lines if line) if first and is_program(first[0].strip("`")) else ""


def all_text():
    """(document, shell text) of each block that has commands."""
    for file in documents():
        for block in blocks(file.read_text(encoding="utf-8")):
            if text := shell_text(block):
                yield file.relative_to(cli_case.REPOSITORY), text


def ours(command, verbs):
    """The arguments of `rangefinder` in this command; None: it is another program."""
    for at, word in enumerate(command):
        if word == "rangefinder" or word.endswith("/rangefinder"):
            if at == 0 or command[at + 1:at + 2] and (command[at + 1] in verbs or command[at + 1].startswith("-")):
                return command[at + 1:]
        if at == 0 and word not in LAUNCHERS:
            return None
    return None


class Documents(CommandLine):
    @functools.cache
    def offered(self, *words):
        return [line.split("\t")[0] for line in self.call("__complete", *words, "").stdout.splitlines()]

    def options(self, verb):
        return [line.split("\t")[0] for line in self.call("__complete", verb, "--").stdout.splitlines()]

    def commands(self):
        """(document, arguments) of each command of ours, those in output and in the help included."""
        for file, text in all_text():
            for command in split(text):
                if (words := ours(command, self.offered())) is not None:
                    yield file, words
        texts = {file.relative_to(cli_case.REPOSITORY): file.read_text(encoding="utf-8") for file in documents()}
        for file, text in {**texts, "--help": self.call("--help").stdout}.items():
            for line in "".join(blocks(text)).splitlines() if file != "--help" else text.splitlines():
                if re.match(r" +rangefinder \S", line):  # as in "Next: …"
                    yield file, split(re.split(r" {3,}", line.strip())[0])[0][1:]

    def test_blocks_can_be_pasted(self):
        for file, text in all_text():
            with self.subTest(document=file, text=text):
                done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertNotIn("…", text)
                for command in split(text):
                    self.assertTrue(is_program(command[0]), f"{command[0]} is no program")
                    script = cli_case.REPOSITORY / command[0]
                    self.assertTrue(os.access(script, os.X_OK) or not script.is_file(), f"{script} is not executable")
                for line in text.splitlines():
                    self.assertNotRegex(line.strip(), r"\S {2,}\S", "put what it does behind a #")

    def test_a_block_of_commands_alone_has_no_prompts(self):
        for file in documents():
            for block in blocks(file.read_text(encoding="utf-8")):
                lines = [line for line in block.splitlines() if line.strip()]
                if any(line.startswith("$ ") for line in lines):
                    self.assertFalse(all(line.startswith("$ ") for line in lines), f"{file}: {block}")

    def test_our_parser_takes_every_command(self):
        commands = [words for _, words in self.commands()]
        self.assertGreater(len(commands), 60)
        done = subprocess.run([PARSE_COMMANDS], input="".join("\t".join(words) + "\n" for words in commands), text=True,
                              capture_output=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_options_and_their_values_exist(self):
        for file, (verb, *words) in self.commands():
            own = words[:words.index("--")] if "--" in words else words
            with self.subTest(document=file, command=[verb, *words]):
                self.assertTrue(verb != "run" or words.index("--") < len(words) - 1)
                for option, value in zip(own, [*own[1:], ""]):
                    if option.startswith("--"):
                        self.assertIn(option, [*self.options(verb), "--help"])
                    choices = self.offered(verb, option) if option.startswith("--") else []
                    if choices not in ([], ["/"]) and not value.startswith("-"):
                        for part in value.split(","):
                            self.assertTrue(part in choices or not re.fullmatch(r"[a-z-]+", part), f"{option} {part}")

    def test_options_in_the_text_of_pages_exist(self):
        exist = {option for verb in self.offered() for option in self.options(verb)} | FOREIGN_OPTIONS
        pages = [file for file in documents() if file.parent == cli_case.REPOSITORY / "docs"]
        for file in pages:
            for span in re.findall(r"`([^`]+)`", FENCED.sub("", file.read_text(encoding="utf-8"))):
                for option in re.findall(r"(?<!\S)--[a-z][\w-]*", span) if span.split()[0] != "dcgmi" else []:
                    with self.subTest(page=file.name, text=span):
                        self.assertIn(option, exist)

    def test_the_parser_of_this_test_refuses_what_the_program_refuses(self):
        for text in ("report --no-such-option", "nosuch", "export trace", "diff a b c", "report --top none trace"):
            done = subprocess.run([PARSE_COMMANDS], input=text.replace(" ", "\t") + "\n", text=True, capture_output=True,
                                  timeout=60, check=False)
            self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, 1), text)
            self.check_code(self.call(*text.split()), 2)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    PARSE_COMMANDS = sys.argv.pop(3)
    cli_case.main(__doc__)
