# SPDX-License-Identifier: Apache-2.0
"""Runs build/bin/rtdetr: images in as PPM files of exactly the network's size, dumps out.

A PPM of the right size is not resized, so the network's input is exactly bytes / 255; the dump of pixel_values is
compared nevertheless.
"""
import json
import os
import subprocess

import torch
from safetensors.torch import load_file, save_file

TIMEOUT_S = 120


class ProgramFailed(Exception):
    """The program's last output, and its exit code."""

    def __init__(self, command, done):
        text = (done.stderr or done.stdout).strip().splitlines()
        super().__init__(f"{os.path.basename(command[0])} ended with {done.returncode}: {' '.join(text[-2:])}")
        self.exit_code = done.returncode
        self.stderr = done.stderr


def write_images(pixels, folder):
    """Writes `pixels` ((images, 3, height, width), bytes) as files; returns their paths."""
    paths = []
    for number, image in enumerate(pixels):
        height, width = image.shape[-2:]
        path = os.path.join(folder, f"input-{height}x{width}-{number}.ppm")
        with open(path, "wb") as file:
            file.write(f"P6\n{width} {height}\n255\n".encode())
            file.write(image.permute(1, 2, 0).contiguous().numpy().tobytes())
        paths.append(path)
    return paths


class Program:
    def __init__(self, path, folder):
        self.path = path
        self.folder = folder

    def run(self, *arguments):
        """The printed JSON: a line per image, then the run."""
        command = [self.path, "--json", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode != 0:
            raise ProgramFailed(command, done)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return lines[:-1], lines[-1]

    @staticmethod
    def arguments(model, weights, dtype, images, size):
        return ["--model", model, "--weights", weights, "--dtype", dtype, "--batch", len(images),
                "--size", f"{size[0]}x{size[1]}", "--image", *images]

    def detections(self, case, *arguments):
        """All detections of all images, as printed."""
        images, _ = self.run(*case, "--threshold", 0, *arguments)
        return [image["detections"] for image in images]

    def dumps(self, case, forced_top_k=None):
        path = os.path.join(self.folder, "dump.safetensors")
        arguments = [*case, "--iterations", 1, "--warmup", 0, "--graph", "off", "--dump", path]
        if forced_top_k is not None:
            forced = os.path.join(self.folder, "forced.safetensors")
            save_file({"topk_ind": forced_top_k.to("cpu", torch.int64).contiguous()}, forced)
            arguments += ["--force-topk", forced]
        self.run(*arguments)
        loaded = load_file(path, device="cuda")
        os.unlink(path)
        return loaded
