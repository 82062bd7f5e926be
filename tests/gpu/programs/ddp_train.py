# SPDX-License-Identifier: Apache-2.0
"""torchrun … ddp_train.py [--steps N]: DDP training of eight layers of a transformer, 100 million parameters.

Rank 0 prints the mean time of a step, without five of warm-up.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, WARM_UP = 1024, 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    steps = parser.parse_args().steps
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, 16, 4 * WIDTH, batch_first=True, dropout=0.0, device=device)
    model = DistributedDataParallel(nn.TransformerEncoder(layer, 8, enable_nested_tensor=False))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(16, 256, WIDTH, device=device)
    nvtx, begin = torch.cuda.nvtx, 0.0
    for step in range(WARM_UP + steps):
        if step == WARM_UP:
            torch.cuda.synchronize()
            dist.barrier()
            begin = time.monotonic()
        with nvtx.range("step"):
            with nvtx.range("forward"), torch.autocast("cuda", torch.bfloat16):
                loss = model(x).float().square().mean()
            with nvtx.range("backward"):
                loss.backward()
            with nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    ms_step = (time.monotonic() - begin) / steps * 1e3
    if dist.get_rank() == 0:
        print(json.dumps({"prog": "ddp_train", "ranks": dist.get_world_size(), "ms_step": ms_step}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
