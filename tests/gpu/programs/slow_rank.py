# SPDX-License-Identifier: Apache-2.0
"""torchrun … slow_rank.py CAUSE [--slow RANK] [--steps N] [--no-ranges]: DDP training in which one rank is late, for one reason.

Rank 0 prints what a profiler must find: the late rank, the module, the kind, and what the rank does more in an
iteration, in ms as measured by the rank itself: on the host with its clock, on the GPU with events around the same work.
"""
import argparse
import contextlib
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

SLEEP_S = 0.008
WIDTH, TOKENS, LAYERS = 1024, 4096, 4
ranges = True


def range_of(name):
    return torch.cuda.nvtx.range(name) if ranges else contextlib.nullcontext()


class Extra:
    """What the late rank does more. `ms`: how long it took."""
    CAUSES = {"none": ("", "none"), "host": ("step/data", "host"), "gpu": ("step/forward/extra", "gpu"),
              "layer": ("step/forward/layers/2/attention", "gpu"), "backward_host": ("step/backward", "host"),
              "backward_gpu": ("step/backward", "gpu"), "loader": ("", "host"), "copies": ("step/data", "copies"),
              "launches": ("step/forward/extra", "launching")}

    def __init__(self, cause, is_slow, device):
        self.cause, self.is_slow, self.ms = cause, is_slow, []
        self.matrix = torch.randn(4096, 4096, device=device)
        self.small = torch.zeros(16, device=device)
        self.pageable = torch.randn(8 << 20)

    def does(self, *causes):
        return self.is_slow and self.cause in causes

    def host(self):
        begin = time.perf_counter()
        time.sleep(SLEEP_S)
        self.ms.append((time.perf_counter() - begin) * 1e3)

    def gpu(self, work):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        self.ms.append((begin, end))

    def products(self):
        for _ in range(12):
            torch.mm(self.matrix, self.matrix)

    def launches(self):
        begin = time.perf_counter()
        for _ in range(2000):
            self.small.add_(1)
        self.ms.append((time.perf_counter() - begin) * 1e3)

    def median_ms(self):
        torch.cuda.synchronize()
        values = sorted(ms if isinstance(ms, float) else ms[0].elapsed_time(ms[1]) for ms in self.ms[len(self.ms) // 4:])
        return values[len(values) // 2] if values else 0.0


class InBackward(torch.autograd.Function):
    """The identity; does the extra work when the gradient comes."""
    extra = None

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        extra = InBackward.extra
        if extra.does("backward_host"):
            extra.host()
        if extra.does("backward_gpu"):
            extra.gpu(extra.products)
        return gradient


class Layer(nn.Module):
    def __init__(self, index, extra):
        super().__init__()
        self.index, self.extra = index, extra
        self.attention = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        with range_of(str(self.index)):
            with range_of("attention"):
                x = x + self.attention(x)
                if self.extra.does("layer") and self.index == 2:
                    self.extra.gpu(self.extra.products)
            with range_of("mlp"):
                return x + self.down(torch.relu(self.up(x)))


class Model(nn.Module):
    def __init__(self, extra):
        super().__init__()
        self.layers = nn.ModuleList(Layer(i, extra) for i in range(LAYERS))
        self.extra = extra

    def forward(self, x):
        with range_of("layers"):
            for layer in self.layers[:2]:
                x = layer(x)
            x = InBackward.apply(x)
            for layer in self.layers[2:]:
                x = layer(x)
        if self.extra.does("gpu", "launches"):
            with range_of("extra"):
                if self.extra.cause == "gpu":
                    self.extra.gpu(self.extra.products)
                else:
                    self.extra.launches()
        return x


class Batches(Dataset):
    def __init__(self, steps, extra):
        self.steps, self.extra = steps, extra

    def __len__(self):
        return self.steps

    def __getitem__(self, index):
        if self.extra.does("loader"):
            self.extra.host()
        return torch.full((), float(index))


def step(model, optimizer, batch, scale, extra):
    with range_of("step"):
        with range_of("data"):
            if extra.does("host"):
                extra.host()
            if extra.does("copies"):
                extra.gpu(lambda: extra.pageable.to(batch.device))
            x = batch * scale.to(batch.device)
        with range_of("forward"):
            loss = model(x).square().mean()
        with range_of("backward"):
            loss.backward()
        with range_of("optimizer"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cause", choices=Extra.CAUSES)
    parser.add_argument("--slow", type=int, default=1)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--no-ranges", action="store_true", help="NVTX ranges of NCCL only")
    arguments = parser.parse_args()
    global ranges  # pylint: disable=global-statement
    ranges = not arguments.no_ranges
    dist.init_process_group("nccl")
    rank, device = dist.get_rank(), torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    torch.backends.cuda.matmul.allow_tf32 = True
    extra = InBackward.extra = Extra(arguments.cause, rank == arguments.slow, device)
    model = DistributedDataParallel(Model(extra).to(device), device_ids=[device.index])
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    batch = torch.randn(TOKENS, WIDTH, device=device)
    for scale in DataLoader(Batches(arguments.steps, extra), batch_size=None):
        step(model, optimizer, batch, scale, extra)
    ms = torch.tensor([extra.median_ms()], device=device)
    dist.broadcast(ms, src=arguments.slow)
    if rank == 0:
        module, kind = Extra.CAUSES[arguments.cause]
        print(json.dumps({"cause": arguments.cause, "rank": arguments.slow, "module": module, "kind": kind,
                          "ms": ms.item(), "ranks": dist.get_world_size()}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
