#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `run --torch-modules` costs programs whose bound is launches, on a GPU with PyTorch: ms a step.

torch_hooks_speed.py RANGEFINDER [PAIRS [PROGRAM]]   RANGEFINDER: the program; PAIRS: [8]; PROGRAM: BERT or RT-DETR alone

Training of Hugging Face's BERT under autocast, and its RT-DETR without compilation (programs/). Without transformers:
training of an encoder of BERT's shape alone. Recorded without hooks, with the least that hooks can be (one range of a
constant name around each module call, no backward pass), and with ours: processes of the same program in turn. Exit code
1: the median of recorded / hooks is below 0.97 for one of the programs.
"""
import importlib.util
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile

STEPS, WARM_UP, LIMIT = 60, 20, 0.97
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
COUNTS = [str(STEPS), "--warmup", str(WARM_UP)]
# name: (the program's words, milliseconds of its line of JSON)
PROGRAMS = {
    "BERT, autocast": ([f"{FOLDER}/bert_train.py", "--autocast", "--steps", *COUNTS],
                       lambda line: 1000 / line["steps_per_s"]),
    "RT-DETR, eager": ([f"{FOLDER}/hf_rtdetr.py", "--iterations", *COUNTS], lambda line: line["ms_per_forward"]),
}
WITHOUT_TRANSFORMERS = {"encoder, autocast": ([__file__, "train"], lambda line: line["ms_per_step"])}


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
    print(json.dumps({"ms_per_step": (time.perf_counter() - start) * 1000 / STEPS}))


def run_with_least_hooks(words):
    import torch

    original, nvtx = torch.nn.Module.__call__, torch._C._nvtx

    def call(module, *args, **kwargs):
        nvtx.rangePushA("module")
        try:
            return original(module, *args, **kwargs)
        finally:
            nvtx.rangePop()

    torch.nn.Module.__call__ = call
    sys.argv = words
    sys.path.insert(0, os.path.dirname(words[0]))
    runpy.run_path(words[0], run_name="__main__")


def measure(program, *prefix):
    """Milliseconds a step."""
    words, milliseconds = program
    done = subprocess.run([*prefix, sys.executable, *words], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{' '.join(done.args)}\n{done.stdout}{done.stderr}")
    return milliseconds(json.loads(lines[-1]))


def recorded(rangefinder, program, kind):
    words, milliseconds = program
    with tempfile.TemporaryDirectory() as folder:
        run = [rangefinder, "run", "--quiet", "--counters", "off", "--out", f"{folder}/trace"]
        if kind == "hooks":
            run.append("--torch-modules")
        if kind == "least":
            words = [__file__, "least", *words]
        return measure((words, milliseconds), *run, "--")


def speed(rangefinder, program, pairs):
    """The median of recorded / hooks."""
    times = {"recorded": [], "least": [], "hooks": []}
    ratios = {"least": [], "hooks": []}
    for pair in range(pairs):
        for kind in (list(times) if pair % 2 == 0 else list(times)[::-1]):
            times[kind].append(recorded(rangefinder, program, kind))
        for kind, of in ratios.items():
            of.append(times["recorded"][-1] / times[kind][-1])
        print("".join(f"{of[-1]:12.3f}" for of in (*times.values(), *ratios.values())), flush=True)
    print("".join(f"{statistics.median(of):12.3f}" for of in (*times.values(), *ratios.values())) + "   medians", flush=True)
    for kind, of in ratios.items():
        print(f"recorded / {kind}: {statistics.median(of):.3f} ({min(of):.3f} to {max(of):.3f})", flush=True)
    return statistics.median(ratios["hooks"])


def main():
    rangefinder, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8
    programs = PROGRAMS
    if importlib.util.find_spec("transformers") is None:
        print("transformers is not installed: BERT and RT-DETR are skipped (pip install transformers)")
        programs = WITHOUT_TRANSFORMERS
    if len(sys.argv) > 3:
        programs = {name: program for name, program in programs.items() if name.startswith(sys.argv[3])}
    speeds = []
    for name, program in programs.items():
        print(f"{name}: {measure(program):.3f} ms a step without Rangefinder, one run")
        print("    recorded       least       hooks   rec/least   rec/hooks")
        speeds.append(speed(rangefinder, program, pairs))
    return 0 if min(speeds) >= LIMIT else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["train"]:
        train()
    elif sys.argv[1:2] == ["least"]:
        run_with_least_hooks(sys.argv[2:])
    else:
        sys.exit(main())
