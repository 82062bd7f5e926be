#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training of ResNet-50 on pictures that a DataLoader decodes: which function does the GPU wait for?

Pictures are JPEG files in memory (640 x 480), decoded and cut to 224 x 224 by Pillow. With --workers 0 the training
thread decodes; with --workers N it waits for N processes. No picture is read from a disk, no weight is downloaded.

    rangefinder run --stacks on --torch-modules -- loader.py --workers 1
    rangefinder run --stacks on --torch-modules -- loader.py --workers 8
    rangefinder diff FIRST SECOND

Prints one JSON object. Exit code 3: there is no GPU."""
import argparse
import io
import json
import sys
import time

import numpy
import torch
import torchvision
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

FILES, CLASSES = 32, 1000


def make_file(generator):
    """A JPEG of coarse random colours: it takes as long to decode as a photograph of its size."""
    coarse = Image.fromarray(generator.integers(0, 256, (60, 80, 3), dtype=numpy.uint8))
    file = io.BytesIO()
    coarse.resize((640, 480), Image.BICUBIC).save(file, "JPEG", quality=90)
    return file.getvalue()


def decode_image(file):
    return Image.open(io.BytesIO(file)).convert("RGB")


def crop(image):
    return image.resize((256, 256), Image.BILINEAR).crop((16, 16, 240, 240))


def to_tensor(image):
    pixels = torch.from_numpy(numpy.array(image)).permute(2, 0, 1)
    return pixels.float().div_(255).sub_(0.45).div_(0.225)


class Pictures(Dataset):
    def __init__(self, count):
        generator = numpy.random.default_rng(0)
        self.files = [make_file(generator) for _ in range(FILES)]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return to_tensor(crop(decode_image(self.files[number % FILES]))), number % CLASSES


def train(model, loader):
    """Milliseconds of each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    times, began = [], time.perf_counter()
    for images, labels in loader:
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("loader: PyTorch sees no GPU", file=sys.stderr)
        return 3
    torch.manual_seed(0)
    loader = DataLoader(Pictures(options.steps * options.batch), options.batch, num_workers=options.workers)
    model = torchvision.models.resnet50(weights=None).cuda().train()
    times = train(model, loader)
    print(json.dumps({"steps": options.steps, "batch": options.batch, "workers": options.workers,
                      "ms_step": round(sorted(times)[len(times) // 2], 3)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
