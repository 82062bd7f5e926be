# SPDX-License-Identifier: Apache-2.0
"""Modules of the fake. They call global hooks in the order and under the conditions of torch.nn.Module."""
import types

from . import Handle, Tensor

_registry = types.SimpleNamespace()
_before, _after, _always = [], [], []


def _register_before(hook):
    return Handle(_before, hook)


def _register_after(hook, *, always_call=False):
    if not always_call:
        raise AssertionError("without always_call a range stays open when forward() raises")
    _always.append(hook)
    return Handle(_after, hook)


_registry.register_module_forward_pre_hook = _register_before
_registry.register_module_forward_hook = _register_after


class Module:
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

    def __call__(self, *args):
        result, ran = None, []
        try:
            for hook in list(_before):
                if hook(self, args) is not None:
                    raise AssertionError("a hook changed the input")
            result = self.forward(*args)
            for hook in list(_after):
                ran.append(hook)
                if hook(self, args, result) is not None:
                    raise AssertionError("a hook changed the output")
            return result
        except Exception:
            for hook in list(_after):
                if hook in _always and hook not in ran:
                    hook(self, args, result)
            raise

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
