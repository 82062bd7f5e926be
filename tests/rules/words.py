# SPDX-License-Identifier: Apache-2.0
"""Phrases that documents and user-visible strings must not hold: words.txt, a phrase a line.

Strings are the string literals in C++, CUDA, TypeScript and Python code outside tests/. Comments and
identifiers are not checked; reviewers check them.
"""
import os
import re

import repository

STRINGS = re.compile(r'R"\((.*?)\)"|"((?:\\.|[^"\\\n])*)"', re.DOTALL)
LINE_COMMENTS = re.compile(r"(?m)^\s*(?://|#(?!\s*include)).*$")
TEXT_IN_TAGS = re.compile(r">([^<>{}]*[a-z][^<>{}]*)<")
KEY = re.compile(r"\w+")  # of JSON, of a table
# Files that list the phrases, and the history.
NOT_SEARCHED = ("tests/rules/", "CHANGELOG.md")


def phrases(files):
    """The lines of words.txt, without comments. A phrase is matched as whole words, in any case."""
    lines = files.text("tests/rules/words.txt").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def visible_text(files, path):
    """The text of a file that a user may read; adjacent string literals are joined."""
    text = files.text(path)
    if path.endswith(".md"):
        return text
    language = files.language(path)
    if path.startswith("tests/") or language not in ("cpp", "cuda", "ts", "python"):
        return ""
    code = re.sub(r'"\s*\n\s*"', "", LINE_COMMENTS.sub("", text))
    found = [first or second for first, second in STRINGS.findall(code)]
    found = [string for string in found if not KEY.fullmatch(string)]
    if path.endswith(".tsx"):
        found += TEXT_IN_TAGS.findall(code)
    return "\n".join(found)


def plain_words(files):
    own = repository.Repository(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(re.escape(each) for each in phrases(own)) + r")(?!\w)", re.IGNORECASE)
    for path in files.files():
        if path.startswith(NOT_SEARCHED):
            continue
        for match in pattern.finditer(visible_text(files, path)):
            yield path, f"says `{match.group(0)}`: use the field's word (tests/rules/words.txt)"


if __name__ == "__main__":
    repository.run({"plain_words": plain_words})
