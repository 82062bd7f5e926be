#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the hooks of `run --torch-modules` add to a module call and to a training step, without a GPU.

With PyTorch installed: modules that do nothing, and a chain of small layers, on the CPU. Otherwise the fake of
tests/tools, whose call and graph nodes are bare Python: then only the difference counts. NVTX is replaced by
C functions that do nothing. Prints nanoseconds of CPU time a module call: plain, with the hooks, added.
"""
import collections
import importlib
import os
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
        return importlib.import_module("fake_torch"), False


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


def main():
    sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
    rangefinder_torch = importlib.import_module("rangefinder_torch")
    torch, real = the_torch()
    nothing = types.SimpleNamespace(rangePushA=collections.deque(maxlen=1).append, rangePop=int)
    print(f"{'PyTorch ' + torch.__version__ if real else 'fake torch'}, ns a module call: plain, with hooks, added")
    for name, (model, x, trains) in models(torch, real).items():
        plain = nanoseconds(torch, model, x, trains)
        hooks = rangefinder_torch._Hooks(torch, nothing)
        hooks.install()
        hooked = nanoseconds(torch, model, x, trains)
        hooks.uninstall()
        print(f"{name:22} {plain:8.0f} {hooked:8.0f} {hooked - plain:8.0f}")


if __name__ == "__main__":
    main()
