# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the PyTorch hooks: small models of the fake; installs and removes the hooks."""
import os
import sys
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.environ.get("RANGEFINDER_PYTHON") or os.path.join(_HERE, "..", "..", "..", "tools", "python"))

import fake_torch as torch
from rangefinder.torch import hooks


CALL = torch.nn.Module.__call__


class Layer(torch.nn.Module):
    """conv, then an in-place activation, as in ResNet."""

    def forward(self, x):
        launched = torch.op("conv", x, self.weight)
        return self.act(launched) if "act" in self._modules else launched


class Act(torch.nn.Module):
    def forward(self, x):
        return torch.op_("relu", x)


class Block(torch.nn.Module):
    """Residual: two layers and a sum, whose gradients meet at the input."""

    def forward(self, x):
        for layer in self.layers:
            out = layer(x)
        return torch.op("add", out, x)


class Model(torch.nn.Module):
    def forward(self, x):
        return self.head(self.block(self.stem(x)))


def make_model():
    shared = Act()
    block = Block(layers=torch.ModuleList(Layer(act=shared), Layer(act=shared)))
    return Model(stem=Layer(), block=block, head=Layer())


class FakeTest(unittest.TestCase):
    def setUp(self):
        torch.launches.clear()
        torch.pushes.clear()
        torch.stacks.clear()
        torch.set_grad_enabled(True)
        self.hooks = hooks.Hooks(torch, torch._C._nvtx)
        self.hooks.install()

    def tearDown(self):
        self.hooks.uninstall()
        self.assertEqual([], [stack for stack in torch.stacks.values() if stack], "ranges left open")
        self.assertEqual(([], []), (torch._before_step, torch._after_step), "hooks left in place")
        self.assertIs(CALL, torch.nn.Module.__call__, "a replacement left in place")

    def paths(self, label):
        return [path for path, launched in torch.launches if launched == label]
