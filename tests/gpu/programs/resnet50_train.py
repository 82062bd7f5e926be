# SPDX-License-Identifier: Apache-2.0
"""Training steps of torchvision's ResNet-50 on synthetic data: fp32, SGD, no autocast.

Does not use NVTX. Prints one JSON line.
"""
import argparse
import json
import time

import torch
import torchvision
from torch.utils.data import DataLoader, TensorDataset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("resnet50_train: PyTorch sees no GPU")

    torch.manual_seed(0)
    model = torchvision.models.resnet50(weights=None).train().cuda()
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images = torch.rand(options.steps * options.batch, 3, 224, 224)
    labels = torch.randint(0, 1000, (options.steps * options.batch,))
    losses = []
    start = time.perf_counter()
    for image, label in DataLoader(TensorDataset(images, labels), batch_size=options.batch):
        optimizer.zero_grad()
        loss = criterion(model(image.to("cuda")), label.to("cuda"))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    torch.cuda.synchronize()
    milliseconds = (time.perf_counter() - start) * 1e3 / max(1, len(losses))
    print(json.dumps({"program": "resnet50_train", "steps": len(losses), "batch": options.batch,
                      "ms_per_step": round(milliseconds, 3), "last_loss": float(losses[-1])}), flush=True)


if __name__ == "__main__":
    main()
