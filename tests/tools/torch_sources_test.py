# SPDX-License-Identifier: Apache-2.0
"""Source lines of modules: one mark at the first call of each, in its range."""
import functools
import os
import types
import unittest

import fake_torch as torch
from fake_torch import cases
from rangefinder.torch import hooks, sources

HERE = os.path.abspath(__file__)


def line_of(function):
    return f"{HERE}:{function.__code__.co_firstlineno}"


class Leaf(torch.nn.Module):
    def forward(self, x):
        return torch.op("conv", x, self.weight)


class Net(torch.nn.Module):
    def forward(self, x):
        return self.second(self.first(x))  # the call of both


class SourcesTest(unittest.TestCase):
    def setUp(self):
        torch.launches.clear()
        torch.stacks.clear()
        torch.set_grad_enabled(False)
        self.marks = []  # (path, lines of the message)
        nvtx = vars(torch._C._nvtx)
        self.hooks = hooks.Hooks(torch, types.SimpleNamespace(**nvtx, domainMarkA=self.mark))
        self.hooks.install()
        self.addCleanup(self.hooks.uninstall)

    def mark(self, domain, text):
        self.assertEqual(sources.DOMAIN, domain)
        self.marks.append(("/".join(torch._stack()), text.split("\n")))

    def call_of(self, path):
        return next(lines[1] for at, lines in self.marks if at == path)

    def test_each_module_is_marked_once_in_its_own_range(self):
        net = Net(first=Leaf(), second=Leaf())
        for _ in range(3):
            net(torch.Tensor())

        at_call = f"{HERE}:{Net.forward.__code__.co_firstlineno + 1}"
        self.assertEqual([("step/first", [line_of(Leaf.forward), at_call, "first"]),
                          ("step/second", [line_of(Leaf.forward), at_call, "second"])], self.marks)

    def test_names_are_those_of_all_modules_around_it(self):
        Net(first=Net(first=Leaf(), second=Leaf()), second=Leaf())(torch.Tensor())

        self.assertEqual(["first", "second"], dict(self.marks)["step/first/second"][2:])

    def test_a_module_of_pytorch_has_only_the_line_of_its_call(self):
        class Outer(torch.nn.Module):
            def forward(self, x):
                return self.block(x)

        # Classes in the fake's own folder are PyTorch's; a container of PyTorch's calls its parts itself.
        Outer(block=cases.Block(layers=torch.ModuleList(cases.Layer())))(torch.Tensor())

        at_call = f"{HERE}:{Outer.forward.__code__.co_firstlineno + 1}"
        self.assertEqual(["", at_call], dict(self.marks)["step/block"][:2])
        self.assertEqual(["", at_call], dict(self.marks)["step/block/layers/0"][:2])

    def test_the_line_of_a_decorated_forward_is_its_own(self):
        def decorator(function):
            @functools.wraps(function)
            def wrapper(*args):
                return function(*args)
            return wrapper

        def forward(self, x):
            return torch.op("conv", x)

        wrapped = type("Wrapped", (torch.nn.Module,), {"forward": decorator(forward)})
        Net(first=wrapped(), second=Leaf())(torch.Tensor())

        self.assertEqual(line_of(forward), dict(self.marks)["step/first"][0])

    def test_a_class_whose_forward_cannot_be_read_keeps_its_call(self):
        class Meta(type):
            def __getattribute__(cls, name):
                if name == "forward":
                    raise KeyError(name)
                return super().__getattribute__(name)

        class Odd(torch.nn.Module, metaclass=Meta):
            def forward(self, x):
                return torch.op("conv", x)

        Net(first=Odd(), second=Leaf())(torch.Tensor())

        self.assertTrue(self.hooks.active)
        self.assertEqual("", dict(self.marks)["step/first"][0])
        self.assertIn(HERE, self.call_of("step/first"))

    def test_code_without_a_file_and_a_file_whose_name_is_no_text(self):
        for file, shown in (("<stdin>", "<stdin>:2"), ("/tmp/\udcff.py", "/tmp/?.py:2")):
            scope = {"torch": torch}
            exec(compile("class Made(torch.nn.Module):\n def forward(self, x): return torch.op('conv', x)", file,
                         "exec"), scope)
            self.marks.clear()
            Net(first=scope["Made"](), second=Leaf())(torch.Tensor())

            self.assertEqual(shown, dict(self.marks)["step/first"][0])

    def test_a_name_with_a_line_break_has_no_mark(self):
        net = Net(first=Leaf(), second=Leaf())
        net._modules["a\nb"] = odd = Leaf()
        net.forward = lambda x: odd(x)
        net(torch.Tensor())

        self.assertEqual([], self.marks)

    def test_a_module_without_a_range_of_its_own_has_no_mark(self):
        Net(first=Leaf(), second=torch.nn.Identity())(torch.Tensor())

        self.assertEqual(["step/first"], [path for path, _ in self.marks])


if __name__ == "__main__":
    unittest.main()
