# SPDX-License-Identifier: Apache-2.0
"""Modules of the fake."""
from . import Tensor

class Module:
    missing: "list[str]" = []  # names that __getattr__ did not find: TorchDynamo compiles it
    _compiled_call_impl = None
    __hash__ = None  # users may define __eq__ without __hash__

    def __eq__(self, other):
        return self is other

    def __init__(self, **children):
        self._modules = dict(children)
        self.weight = Tensor(requires_grad=True)

    def __getattr__(self, name):
        try:
            return self.__dict__["_modules"][name]
        except KeyError:
            Module.missing.append(name)
            raise AttributeError(name) from None

    def named_modules(self, memo=None, prefix=""):
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        memo.add(id(self))
        yield prefix, self
        for name, child in self._modules.items():
            yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def parameters(self):
        yield Tensor(place="cpu")

    def buffers(self):
        return iter(())

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def to(self, target):
        for tensor in self.parameters():
            tensor.to(target)
        return self

    def cuda(self, index=None):
        return self.to("cuda")


class ModuleList(Module):
    def __init__(self, *children):
        super().__init__(**{str(index): child for index, child in enumerate(children)})

    def __iter__(self):
        return iter(self._modules.values())


class Identity(Module):
    def forward(self, x):
        return x
