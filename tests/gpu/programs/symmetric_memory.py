# SPDX-License-Identifier: Apache-2.0
"""torchrun … symmetric_memory.py [--operation NAME] [--replays N]: all-reduces of PyTorch's symmetric memory in a graph.

One all-reduce outside of the graph, then a graph of ten, replayed. Rank 0 prints how many kernels of communication a
profiler must find in each rank: 1 + 10 x N.
"""
import argparse
import json
import os

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

IN_GRAPH = 10
ELEMENTS = 1 << 16  # of 2 bytes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--operation", choices=("two_shot_all_reduce_", "one_shot_all_reduce"),
                        default="two_shot_all_reduce_")
    parser.add_argument("--replays", type=int, default=200)
    options = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    group = dist.group.WORLD.group_name
    data = symmetric.empty(ELEMENTS, dtype=torch.bfloat16, device=device)
    symmetric.rendezvous(data, group)
    operation = getattr(torch.ops.symm_mem, options.operation)

    def reduce():
        operation(data.zero_(), "sum", group)

    reduce()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for layer in range(IN_GRAPH):
            with torch.cuda.nvtx.range(f"layer{layer}"):
                reduce()
    for _ in range(options.replays):
        with torch.cuda.nvtx.range("step"):
            graph.replay()
    torch.cuda.synchronize()
    if dist.get_rank() == 0:
        print(json.dumps({"prog": "symmetric_memory", "operation": options.operation, "ranks": dist.get_world_size(),
                          "replays": options.replays, "all_reduces": 1 + IN_GRAPH * options.replays}), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
