#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a script with node: run_with_node.py SCRIPT ARGUMENT…

Exit code 77, and the reason, where node is not there: the tests of the page are skipped then.
"""
import os
import shutil
import sys

node = shutil.which("node")
if node is None:
    print("skipped: no node; tools/setup --web says what the tests of the page need")
    sys.exit(77)
os.execv(node, [node, *sys.argv[1:]])
