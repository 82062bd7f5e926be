#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script with node: run_with_node.py SCRIPT ARGUMENT…

Without node: prints the reason and exits with code 77, which skips the tests of the page.
"""
import os
import shutil
import sys

node = shutil.which("node")
if node is None:
    print("skipped: no node; tools/setup --web reports what the tests of the page need")
    sys.exit(77)
os.execv(node, [node, *sys.argv[1:]])
