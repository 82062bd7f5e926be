#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_line_test.py RTDETR: messages and exit codes of the program if it cannot run. CUDA sees no device,
so that every machine gives the same answers."""
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
ENVIRONMENT = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
WRONG_USE, NO_GPU = 2, 3


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=False)


class CommandLine(unittest.TestCase):
    def refused(self, *arguments, naming):
        done = run(*arguments)
        self.assertEqual(done.returncode, WRONG_USE, done.stderr)
        self.assertIn(naming, done.stderr)

    def test_without_a_gpu_there_is_one_line_and_exit_code_3(self):
        done = run("--model", "r18")
        self.assertEqual(done.returncode, NO_GPU)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("no usable GPU", done.stderr)

    def test_help_lists_every_option(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for option in ("model", "weights", "seed", "dtype", "batch", "size", "iterations", "warmup", "graph", "image",
                       "threshold", "json", "draw", "dump", "force-topk", "attention", "deformable"):
            self.assertIn("--" + option, done.stdout)

    def test_wrong_values_are_named(self):
        self.refused("--model", "r51", naming="r51")
        self.refused("--dtype", "fp8", naming="fp8")
        self.refused("--size", "600x640", naming="multiples of 32")
        self.refused("--size", "640", naming="HEIGHTxWIDTH")
        self.refused("--size", "640x640x3", naming="HEIGHTxWIDTH")
        self.refused("--batch", "0", naming="--batch")
        self.refused("--iterations", "0", naming="--iterations")
        self.refused("--threshold", "1.5", naming="--threshold")
        self.refused("--graph", "maybe", naming="maybe")
        self.refused("--colour", naming="--colour")

    def test_a_file_that_is_not_there_is_named(self):
        for option in ("--weights", "--image", "--force-topk"):
            self.refused(option, "/nowhere/at.all", naming="/nowhere/at.all")

    def test_more_images_than_the_batch_holds_are_refused(self):
        with tempfile.NamedTemporaryFile(suffix=".png") as image:
            self.refused("--image", image.name, image.name, "--batch", "1", naming="2 images")
            self.assertEqual(run("--image", image.name, image.name, "--batch", "2").returncode, NO_GPU)


if __name__ == "__main__":
    unittest.main()
