# SPDX-License-Identifier: Apache-2.0
"""Training steps of ResNet-50 on synthetic data: fp32, SGD, no autocast, three copies to the GPU a step.

The model is torchvision's; without torchvision, one of the same layers. Prints one JSON line.
--ranges: `backward` as a user would name it. Without it the program does not use NVTX.
"""
import argparse
import contextlib
import json
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or channels != 4 * width:
            self.downsample = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False),
                                            nn.BatchNorm2d(4 * width))

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet50(nn.Module):
    """The layers of torchvision's, under its names."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        channels = 64
        for number, (blocks, width, stride) in enumerate([(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)], 1):
            layer = []
            for block in range(blocks):
                layer.append(Bottleneck(channels, width, stride if block == 0 else 1))
                channels = 4 * width
            setattr(self, f"layer{number}", nn.Sequential(*layer))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(channels, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def make_model():
    try:
        import torchvision
    except ImportError:
        return ResNet50()
    return torchvision.models.resnet50(weights=None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--ranges", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("resnet50_train: PyTorch sees no GPU")

    torch.manual_seed(0)
    model = make_model().train().cuda()
    criterion = nn.CrossEntropyLoss(reduction="none")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.rand(options.steps * options.batch, 3, 224, 224)
    labels = torch.randint(0, 1000, (options.steps * options.batch,))
    weights = torch.rand(options.steps * options.batch)
    backward = torch.cuda.nvtx.range if options.ranges else lambda name: contextlib.nullcontext()
    losses = []
    start = time.perf_counter()
    for image, label, weight in DataLoader(TensorDataset(images, labels, weights), batch_size=options.batch):
        image, label, weight = image.to("cuda"), label.to("cuda"), weight.to("cuda")
        optimizer.zero_grad()
        loss = (criterion(model(image), label) * weight).mean()
        with backward("backward"):
            loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    torch.cuda.synchronize()
    milliseconds = (time.perf_counter() - start) * 1e3 / max(1, len(losses))
    print(json.dumps({"program": "resnet50_train", "steps": len(losses), "batch": options.batch,
                      "ms_per_step": round(milliseconds, 3), "last_loss": float(losses[-1])}), flush=True)


if __name__ == "__main__":
    main()
