#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `run --torch-modules` costs a transformer under autocast, on a GPU with PyTorch: ms a training step.

torch_hooks_speed.py RANGEFINDER [PAIRS]   RANGEFINDER: the program; PAIRS: [8]

plain, recorded, with hooks: alternating processes of the same program. Exit code 1: the median of recorded / hooks is
below 0.97.
"""
import statistics
import subprocess
import sys
import tempfile

STEPS, WARM_UP, LIMIT = 60, 20, 0.97


def train():
    import time

    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False).cuda()
    head = torch.nn.Linear(768, 30522).cuda()
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-4, fused=True)
    tokens = torch.randn(8, 128, 768, device="cuda")
    for number in range(WARM_UP + STEPS):
        if number == WARM_UP:
            torch.cuda.synchronize()
            start = time.perf_counter()
        with torch.autocast("cuda", torch.bfloat16):
            loss = head(model(tokens)).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    print("ms a step:", (time.perf_counter() - start) * 1000 / STEPS)


def measure(prefix):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*prefix(folder), sys.executable, __file__, "train"], capture_output=True, text=True,
                              check=False)
    for line in done.stdout.splitlines():
        if line.startswith("ms a step:"):
            return float(line.split()[-1])
    sys.exit(f"{' '.join(done.args)}\n{done.stdout}{done.stderr}")


def main():
    program, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8

    def recorded(*options):
        return lambda folder: [program, "run", "--quiet", "--counters", "off", "--out", f"{folder}/trace", *options, "--"]

    kinds = {"plain": lambda folder: [], "recorded": recorded(), "hooks": recorded("--torch-modules")}
    times = {kind: [] for kind in kinds}
    print("".join(f"{kind:>12}" for kind in kinds) + "   recorded / hooks")
    for pair in range(pairs):
        for kind in (list(kinds) if pair % 2 == 0 else list(kinds)[::-1]):
            times[kind].append(measure(kinds[kind]))
        print("".join(f"{times[kind][-1]:12.3f}" for kind in kinds) + f"{times['recorded'][-1] / times['hooks'][-1]:19.3f}",
              flush=True)
    speed = statistics.median(recorded / hooks for recorded, hooks in zip(times["recorded"], times["hooks"]))
    print("".join(f"{statistics.median(times[kind]):12.3f}" for kind in kinds) + f"{speed:19.3f}   medians")
    return 0 if speed >= LIMIT else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        train()
    else:
        sys.exit(main())
