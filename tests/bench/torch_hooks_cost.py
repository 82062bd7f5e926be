#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hooks of `run --torch-modules` add to a module call and to a training step, without a GPU.

With PyTorch installed: modules that do nothing, and a chain of small layers, on the CPU. Otherwise the fake of
tests/tools, whose call and graph nodes are bare Python: then only the difference counts. NVTX is replaced by
C functions that do nothing. Prints nanoseconds of CPU time a module call: plain, with the hooks, added.

With --instructions: instructions, counted by callgrind. RANGEFINDER_PYTHON: the folder of the package, as
build/share/rangefinder/python, whose hooks are in C; a folder of version 0.2 too, to compare.
"""
import collections
import importlib
import os
import re
import subprocess
import sys
import time
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS, CALLS, ROUNDS = 100, 50, 15


def the_torch():
    try:
        return importlib.import_module("torch"), True
    except ImportError:
        sys.path.insert(0, os.path.join(ROOT, "tests", "tools"))
        fake = importlib.import_module("fake_torch")
        fake.compiler.is_dynamo_compiling = lambda: False  # as PyTorch's, which reads nothing
        return fake, False


def models(torch, real):
    """{name: (model, input, trains)}"""
    class Nothing(torch.nn.Module):
        def forward(self, x):
            return x

    class Layer(torch.nn.Module):
        def forward(self, x):
            return x * self.weight if real else torch.op("mul", x, self.weight)

    class Chain(torch.nn.Module):
        def forward(self, x):
            for part in self.parts:
                x = part(x)
            return x

    def chain(kind):
        parts = [kind() for _ in range(LAYERS)]
        if not real:
            return Chain(parts=torch.ModuleList(*parts))
        for part in parts:
            part.weight = torch.nn.Parameter(torch.ones(1))
        model = Chain()
        model.parts = torch.nn.ModuleList(parts)
        return model

    x = torch.ones(1) if real else torch.Tensor()
    return {"forward": (chain(Nothing), x, False), "forward and backward": (chain(Layer), x, True)}


def nanoseconds(torch, model, x, trains):
    """CPU time of one module call: the fastest round, since other programs only add."""
    times = []
    torch.set_grad_enabled(trains)
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        for _ in range(CALLS):
            y = model(x)
            if trains:
                torch.autograd._engine_run_backward((y,), *backward_arguments(torch))
        times.append((time.process_time_ns() - start) / CALLS / LAYERS)
        if hasattr(torch, "launches"):
            torch.launches.clear()
    return min(times)


def backward_arguments(torch):
    if hasattr(torch, "launches"):
        return ()
    return ((torch.ones(1),), False, False, (), True, True)


def new_hooks(torch):
    """Hooks with NVTX as programs have it; without the extension, with functions of C that do nothing."""
    sys.path.insert(0, os.environ.get("RANGEFINDER_PYTHON") or os.path.join(ROOT, "tools", "python"))
    nvtx = types.SimpleNamespace(rangePushA=collections.deque(maxlen=1).append, rangePop=int)
    try:
        hooks = importlib.import_module("rangefinder.torch.hooks")
    except ImportError:
        return importlib.import_module("rangefinder_torch")._Hooks(torch, nvtx)
    return hooks.Hooks(torch, hooks.modules.EXTENSION or nvtx)


def run_calls(name, hooked, rounds):
    """What --instructions counts."""
    torch, real = the_torch()
    model, x, trains = models(torch, real)[name]
    torch.set_grad_enabled(trains)
    if hooked:
        new_hooks(torch).install()
    for _ in range(rounds):
        y = model(x)
        if trains:
            torch.autograd._engine_run_backward((y,), *backward_arguments(torch))
        if not real:
            torch.launches.clear()


def instructions(name, hooked):
    """Of one module call: those of 150 passes less those of 50."""
    counts = []
    for rounds in (50, 150):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-B", __file__,
                   "calls", name, str(int(hooked)), str(rounds)]
        done = subprocess.run(command, capture_output=True, text=True, check=True,
                              env=dict(os.environ, PYTHONHASHSEED="0"))
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return (counts[1] - counts[0]) / 100 / LAYERS


def main():
    if sys.argv[1:2] == ["calls"]:
        run_calls(sys.argv[2], sys.argv[3] == "1", int(sys.argv[4]))
        return
    torch, real = the_torch()
    count = sys.argv[1:] == ["--instructions"]
    print(f"{'PyTorch ' + torch.__version__ if real else 'fake torch'}, {'instructions' if count else 'ns'} a module call: "
          "plain, with hooks, added")
    for name, (model, x, trains) in models(torch, real).items():
        if count:
            plain, hooked = instructions(name, False), instructions(name, True)
        else:
            plain = nanoseconds(torch, model, x, trains)
            hooks = new_hooks(torch)
            hooks.install()
            hooked = nanoseconds(torch, model, x, trains)
            hooks.uninstall()
        print(f"{name:22} {plain:8.0f} {hooked:8.0f} {hooked - plain:8.0f}")


if __name__ == "__main__":
    main()
