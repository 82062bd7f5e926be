# SPDX-License-Identifier: Apache-2.0
"""Links between documents, and the documents that code and text name."""
import os
import re

import repository

LINK = re.compile(r"\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"\bdocs/[\w/-]+\.md\b")
HEADING = re.compile(r"(?m)^#+ +(.*)$")
FENCED = re.compile(r"(?ms)^ *```.*?^ *```")


def anchors(text):
    """What `#…` may name in a document, as GitHub makes it."""
    titles = [re.sub(r"[`*]", "", title).strip().lower() for title in HEADING.findall(FENCED.sub("", text))]
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


def links(files):
    for path in files.files():
        if path.startswith("tests/rules/") or not (path.endswith(".md") or files.language(path)):
            continue
        text = files.text(path)
        for name in sorted(set(NAMED.findall(text))):
            if not os.path.exists(os.path.join(files.root, name)):
                yield path, f"names {name}, which does not exist"
        if not path.endswith(".md"):
            continue
        for target, anchor in LINK.findall(FENCED.sub("", text)):
            found = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.exists(os.path.join(files.root, found)):
                yield path, f"links to {target}, which does not exist"
            elif anchor and anchor not in anchors(files.text(found)):
                yield path, f"links to {target}#{anchor}: there is no such heading"


if __name__ == "__main__":
    repository.run({"links": links})
