#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/python-api.md, made from the docstrings of the package's public names.

python3 tools/python/python_api.py > docs/python-api.md
"""
import importlib
import inspect
import os
import re
import sys
import textwrap

HEAD = """\
# Python API

Made from the docstrings by `tools/python/python_api.py`. A start: [quickstart](quickstart-pytorch.md).
"""


def public_names(package):
    """(dotted name, object) of what has a docstring with an example."""
    torch = importlib.import_module("rangefinder.torch")
    # The class in Python, because the one in C has no types.
    ranges = importlib.import_module("rangefinder._ranges")
    yield "rangefinder.range", ranges.Range
    yield "rangefinder.enable", package.enable
    yield "rangefinder.window", package.window
    for name in torch.__all__:
        yield f"rangefinder.torch.{name}", getattr(torch, name)
    yield "rangefinder.control.yielded", package.control.yielded
    yield "rangefinder.injection_library", package.injection_library


def _signature(name, documented):
    parameters = [each for each in inspect.signature(documented).parameters.values() if each.name != "self"]
    text = f"{name}({', '.join(map(str, parameters))})"
    return re.sub(r": '([^']*)'", r": \1", text)  # types are texts


def page(package):
    parts = [HEAD]
    for name, documented in public_names(package):
        text = inspect.getdoc(documented)
        body, _, example = text.partition("\n>>>")
        example = textwrap.dedent(">>>" + example).strip()
        parts.append(f"## {name}\n\n```python\n{_signature(name, documented)}\n```\n\n{body.strip()}\n\n"
                     f"```pycon\n{example}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    print(page(importlib.import_module("rangefinder")), end="")
