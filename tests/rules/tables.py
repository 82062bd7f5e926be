# SPDX-License-Identifier: Apache-2.0
"""Tables in documents that are generated from the code. They must match the code.

    docs/reference/options.md  <!-- options --> … <!-- /options -->  print_options ◀ profiler/options/option_table.h
    schema/README.md           <!-- loss --> … <!-- /loss -->        print_loss_causes ◀ schema/loss.h

tests/rules/update_readme_tables writes them.
"""
import os
import re
import subprocess

import repository

TABLES = {"option_table": ("docs/reference/options.md", "options", "print_options"),
          "loss_table": ("schema/README.md", "loss", "print_loss_causes")}


def block(mark):
    return re.compile(rf"(<!-- {mark} -->\n)(.*?)(<!-- /{mark} -->)", re.DOTALL)


def printed(programs, program):
    return subprocess.run([os.path.join(programs, program)], capture_output=True, text=True, check=True).stdout


def replaced(text, mark, table):
    """`text` with `table` between the marks; None: there are no marks."""
    if not block(mark).search(text):
        return None
    return block(mark).sub(lambda match: match.group(1) + table + match.group(3), text)


def check(name):
    def rule(files, options):
        path, mark, program = TABLES[name]
        text = files.text(path)
        wanted = replaced(text, mark, printed(options.programs, program))
        if wanted is None:
            yield path, f"has no block <!-- {mark} --> … <!-- /{mark} -->"
        elif wanted != text:
            yield path, f"its table of {mark} is not what the code says: run tests/rules/update_readme_tables"
    return rule


if __name__ == "__main__":
    repository.run({name: check(name) for name in TABLES},
                   lambda parser: parser.add_argument("--programs", required=True))
