# SPDX-License-Identifier: Apache-2.0
"""torchrun … collectives.py [--steps N]: collectives of known sizes overlapped with other work, one GPU per rank.

Rank 0 prints what a profiler must find in each rank: NCCL's operations with calls and bytes per call, as
NCCL counts them (bytes that one rank sends or receives).
"""
import argparse
import json
import os

import torch
import torch.distributed as dist

ELEMENTS = 1 << 22  # of 4 bytes: 16 MiB
BYTES = 4 * ELEMENTS


def step(rank, world, data, parts, matrix):
    with torch.cuda.nvtx.range("compute"):
        product = matrix @ matrix
    with torch.cuda.nvtx.range("gradients"):  # overlaps the next product
        pending = dist.all_reduce(data, async_op=True)
        product = product @ matrix
        pending.wait()
    with torch.cuda.nvtx.range("collect"):
        dist.all_gather_into_tensor(parts, data)
        dist.reduce_scatter_tensor(data, parts)
        dist.broadcast(data, src=0)
    with torch.cuda.nvtx.range("exchange"):
        other = torch.empty_like(data)
        calls = [dist.P2POp(dist.isend, data, (rank + 1) % world), dist.P2POp(dist.irecv, other, (rank - 1) % world)]
        for call in dist.batch_isend_irecv(calls):
            call.wait()
    return product


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=5)
    steps = parser.parse_args().steps
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    data = torch.ones(ELEMENTS, device=device)
    parts = torch.empty(world * ELEMENTS, device=device)
    matrix = torch.randn(4096, 4096, device=device, dtype=torch.bfloat16)
    for _ in range(steps):
        data.fill_(1.0)
        with torch.cuda.nvtx.range("step"):
            step(rank, world, data, parts, matrix)
    torch.cuda.synchronize()
    dist.barrier()
    dist.destroy_process_group()
    if rank == 0:
        print(json.dumps({
            "nccl": ".".join(map(str, torch.cuda.nccl.version())), "world": world, "steps": steps,
            "operations": {name: {"calls": steps, "bytes": BYTES} for name in
                           ("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Send", "Recv")},
        }), flush=True)


if __name__ == "__main__":
    main()
