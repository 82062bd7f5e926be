# SPDX-License-Identifier: Apache-2.0
"""Documents have no misspelling that codespell knows. Without codespell the rule is skipped."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import repository
from pages import FENCED

PROGRAM = "codespell"
FOUND = re.compile(r"(?m)^(.+?):(\d+): (.+)$")
SKIPPED = 77


def spelling(files):
    """Outputs in fenced blocks are not checked: they cut words. Raises RuntimeError if the program fails."""
    with tempfile.TemporaryDirectory() as folder:
        for path in files.files():
            if not path.endswith(".md"):
                continue
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(FENCED.sub(lambda block: "\n" * block.group().count("\n"), files.text(path)))
        done = subprocess.run([PROGRAM, "."], cwd=folder, capture_output=True, text=True, check=False)
    found = FOUND.findall(done.stdout)
    if done.returncode != 0 and not found:
        raise RuntimeError(f"{PROGRAM} failed ({done.returncode}): {done.stderr[:500]}")
    for path, line, change in found:
        yield os.path.normpath(path), f"line {line}: {change}"


if __name__ == "__main__":
    if shutil.which(PROGRAM) is None:
        print(f"skipped: there is no {PROGRAM} (tools/setup --all)")
        sys.exit(SKIPPED)
    repository.run({"spelling": spelling})
