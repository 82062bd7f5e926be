# SPDX-License-Identifier: Apache-2.0
"""Pages that users read: how long they are, how long their sentences are, and that the index leads to each.

Words are those outside of fenced blocks. Each code span counts as one word of a sentence. A table's cells have
sentences too, but not those of which the median is taken: cells are short.

    tests/rules/pages.py --list      words, median and longest sentence of each page
"""
import fnmatch
import os
import re
import statistics
import sys

import repository
import words

# page: most words. The only such list; a page that it lacks fails.
PAGES = {
    "README.md": 700,
    "docs/README.md": 400,
    "docs/clickhouse.md": 500,
    "docs/coexistence.md": 700,
    "docs/counters.md": 500,
    "docs/cuda-graphs.md": 600,
    "docs/diff-and-ci.md": 600,
    "docs/examples/*.md": 300,
    "docs/exports-and-lake.md": 800,
    "docs/findings.md": None,  # by the rule: most_words_of_a_rule
    "docs/install.md": 500,
    "docs/live.md": 700,
    "docs/nsight-compute.md": 900,
    "docs/performance.md": 400,
    "docs/quickstart-cuda.md": 600,
    "docs/quickstart-jax.md": 400,
    "docs/quickstart-pytorch.md": 700,
    "docs/ranks.md": 800,
    "docs/reading-results.md": 800,
    "docs/security.md": 700,
    "docs/sizing.md": 500,
    "docs/stacks-and-conditions.md": 500,
    "docs/troubleshooting.md": 800,
    "docs/web.md": 500,
}
REFERENCE = ("docs/python-api.md",)  # made from docstrings
MOST_WORDS_OF_A_RULE = 80
LONGEST_SENTENCE = 35
LONGEST_MEDIAN = 16

FENCED = re.compile(r"(?ms)^( *)```.*?^\1```$")
COMMENT = re.compile(r"(?s)<!--.*?-->")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"(`+).+?\1", re.DOTALL)
ITEM = re.compile(r"^\s*(?:[*+-]|\d+\.) +")
SENTENCE_END = re.compile(r"(?<=[.!?])[)*\"”]*\s+(?=[\"“(*]*[A-Z0-9§…–])")
INDEX = "docs/README.md"
PROBLEMS = "docs/troubleshooting.md"
MESSAGE = re.compile(r'\*\*"(.*?)"', re.DOTALL)


def prose(text):
    return LINK.sub(r"\1", COMMENT.sub("", FENCED.sub("", text)))


def words_of(text):
    """Words of any text; a mark alone, as of a table, is none."""
    return [word for word in text.split() if re.search(r"\w", word)]


def blocks(text):
    """(text, is it a cell) of each paragraph, list item and table cell, on one line, without headings."""
    lines = []
    for line in [*prose(text).splitlines(), ""]:
        cells = line.strip().startswith("|")
        ends = cells or not line.strip() or line.startswith("#") or ITEM.match(line)
        if ends and lines:
            yield " ".join(lines), False
            lines = []
        if cells:
            yield from ((cell.strip(), True) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))
        elif line.strip() and not line.startswith("#"):
            lines.append(ITEM.sub("", line).strip())


def sentences(text):
    """(sentence, is it in a cell)."""
    for block, is_cell in blocks(text):
        for sentence in SENTENCE_END.split(CODE.sub("Code", block)):
            if words_of(sentence):
                yield sentence, is_cell


def most_words(path):
    """None: no page of users, or one without a limit."""
    return next((most for page, most in PAGES.items() if fnmatch.fnmatchcase(path, page)), None)


def is_page(path):
    return any(fnmatch.fnmatchcase(path, page) for page in PAGES)


def user_pages(files):
    return [path for path in files.files() if is_page(path)]


def page_words(files):
    """Lengths of pages, and of a rule's row in the page of findings."""
    for path in files.files():
        if os.path.dirname(path) == "docs" and path.endswith(".md") and not is_page(path) and path not in REFERENCE:
            yield path, "has no length: add it to PAGES in tests/rules/pages.py"
    for path in user_pages(files):
        found, most = len(words_of(prose(files.text(path)))), most_words(path)
        if most is not None and found > most:
            yield path, f"{found} words, {most} is the maximum: move what does not fit to docs/reference or docs/internals"
    for row in re.findall(r"(?m)^\| `\w.*$", files.text("docs/findings.md")):
        if len(words_of(row)) > MOST_WORDS_OF_A_RULE:
            what = f"{len(words_of(row))} words about {row[2:30]}…, {MOST_WORDS_OF_A_RULE} is the maximum"
            yield "docs/findings.md", what


def sentence_length(files):
    for path in user_pages(files):
        lengths = []
        for sentence, is_cell in sentences(files.text(path)):
            length = len(words_of(sentence))
            lengths += [] if is_cell else [length]
            if length > LONGEST_SENTENCE:
                yield path, f"{length} words in a sentence, {LONGEST_SENTENCE} is the maximum: {sentence[:60]}…"
        if lengths and statistics.median(lengths) > LONGEST_MEDIAN:
            yield path, f"the median sentence has {statistics.median(lengths)} words, {LONGEST_MEDIAN} is the maximum"


def page_index(files):
    """The index links to every document below docs/, once."""
    linked = re.findall(r"\]\(([^)#]+\.md)(?:#[^)]*)?\)", files.text(INDEX))
    folder = os.path.dirname(INDEX)
    found = [os.path.normpath(os.path.join(folder, link)) for link in linked]
    for path in files.files():
        if path.startswith("docs/") and path.endswith(".md") and path != INDEX and found.count(path) != 1:
            yield path, f"{INDEX} links to it {found.count(path)} times, not once"


def page_messages(files):
    """A message that the page of problems quotes is one that the code prints; `…` stands for what varies."""
    quoted = [" ".join(each.split()) for each in MESSAGE.findall(files.text(PROBLEMS))]
    if not quoted:
        yield PROBLEMS, 'quotes no message (**"…"**)'
    code = [path for path in files.code("cpp", "python") if not path.startswith("tests/")]
    printed = "\n".join(words.visible_text(files, path) for path in code)
    for message in quoted:
        for part in message.split("…"):
            if part.strip() not in printed:
                yield PROBLEMS, f'quotes "{message}", which nothing prints'


RULES = {"page_words": page_words, "sentence_length": sentence_length, "page_index": page_index,
         "page_messages": page_messages}


def show(files):
    for path in user_pages(files):
        own = [len(words_of(sentence)) for sentence, is_cell in sentences(files.text(path)) if not is_cell]
        longest = max(len(words_of(sentence)) for sentence, _ in sentences(files.text(path)))
        print(f"{path:32} {len(words_of(prose(files.text(path)))):5} of {most_words(path) or '–':>4}"
              f"   median {statistics.median(own):4}   longest {longest:3}")


if __name__ == "__main__":
    if "--list" in sys.argv:
        show(repository.Repository(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")))
    else:
        repository.run(RULES)
