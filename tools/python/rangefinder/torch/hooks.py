# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges for PyTorch programs, without a change of their code.

    install()                       what opens a range
    ├─ iterations                   step, prefill, decode      steps.py, generation.py
    ├─ every nn.Module forward      model/encoder/layers/0     modules.py, with its source lines: sources.py
    ├─ every backward pass          backward/model/encoder/…   autograd.py
    ├─ optimizer steps              optimizer/SGD
    ├─ data loading                 dataloader
    ├─ host-to-device copies        H2D                        copies.py
    └─ code of torch.compile        model/layers/0/mlp         compiled.py, with names from inductor.py

While torch.profiler runs, it has CUPTI (profiler.py). With RANGEFINDER_TORCH_MODULES=memory PyTorch's
allocations are recorded too (memory.py).

`rangefinder run --torch-modules -- python x.py` calls install() after the import of torch
(_start/sitecustomize.py). By hand: `rangefinder.torch.install()`.
An error in a hook removes all hooks, with one warning; the program continues without them.
"""
from __future__ import annotations

import atexit
import functools
import importlib
import os
import warnings

from .. import _ranges
from . import autograd
from . import compiled
from . import copies
from . import generation
from . import memory
from . import modules
from . import profiler
from . import sources
from . import steps

_installed = None


def install(teardown_is_ours: bool = False) -> None:
    """Opens a range around each module call, backward pass, optimizer step, batch, copy to the GPU, and iteration.

    Call it once, after `import torch` and before the model runs; further calls do nothing. Does nothing if PyTorch was
    built without CUDA. teardown_is_ours is for `rangefinder run`. Errors: ImportError without PyTorch. An error in the
    hooks later removes them with one RuntimeWarning, and the program continues.

    >>> import rangefinder.torch
    >>> rangefinder.torch.install()
    >>> rangefinder.torch.uninstall()
    """
    global _installed
    if _installed is not None:
        return
    import torch

    nvtx = getattr(getattr(torch, "_C", None), "_nvtx", None)
    if nvtx is None:
        return  # a build without CUDA
    hooks = Hooks(torch, modules.EXTENSION or nvtx, teardown_is_ours)
    _installed = hooks
    try:
        hooks.install()
    except Exception as error:
        hooks.disable(error)


def uninstall() -> None:
    """Removes the hooks. Graph nodes that were already hooked keep an inactive hook.

    >>> import rangefinder.torch
    >>> rangefinder.torch.uninstall()      # without install() it does nothing
    """
    global _installed
    hooks, _installed = _installed, None
    if hooks is not None:
        hooks.uninstall()


class Hooks:
    def __init__(self, torch, nvtx, teardown_is_ours=False):
        self.torch = torch
        self.push, self.pop = nvtx.rangePushA, nvtx.rangePop
        self.memory = None
        if os.environ.get("RANGEFINDER_TORCH_MODULES") == "memory":
            self.memory = memory.AllocationLog(torch, self.push, self.pop)
            self.push, self.pop = self.memory.push, self.memory.pop
        self.active = True
        self._undo = []
        compiler = getattr(torch, "compiler", None)
        self.is_compiling = getattr(compiler, "is_compiling", lambda: False)
        self.sources = sources.Sources(torch, getattr(nvtx, "domainMarkA", _ranges.mark))
        self.modules = modules.ModuleRanges(self.push, self.pop, self._opaque_name, getattr(torch.nn, "Identity", None),
                                            self.sources.note, self.disable)
        self.local = self.modules.local
        self.backward = autograd.BackwardRanges(torch, self.push, self.pop, self.local, self.disable)
        self.steps = steps.Steps(self.push, self.pop, torch.is_grad_enabled)
        self.compiled = compiled.CompiledRanges(torch, self.push, self.pop, self.modules, self.steps,
                                                self.sources, self.is_compiling, self.disable)
        self.generation = generation.Generation(self.push, self.pop, self.local)
        self.handover = profiler.ProfilerHandover(torch, teardown_is_ours)

    def _opaque_name(self, module):
        """Name of the one range of a module whose kernels we cannot name, else None."""
        if isinstance(module, self.torch.jit.ScriptModule):
            return modules.class_name(module)
        if "_orig_mod" in getattr(module, "_modules", ()) or getattr(module, "_compiled_call_impl", None) is not None:
            why = self.compiled.unnamed(module)
            return f"(compiled {modules.class_name(module)}: {why})" if why else None
        return None

    def guarded(self, function):
        """Wraps a hook: it does nothing when disabled, and an error in it disables all hooks."""
        def hook(*args):
            if self.active:
                try:
                    return function(*args)
                except Exception as error:
                    self.disable(error)
            return None
        return hook

    def disable(self, error):
        if self.active:
            self.uninstall()
            message = f"rangefinder: ranges on PyTorch modules end here: {error!r}"
            warnings.warn(message, RuntimeWarning)

    def uninstall(self):
        self.active = self.backward.active = False
        thread = self.local.thread
        self.compiled.close()
        self.modules.close()
        self.generation.close(thread)
        self.backward.close_thread(0)
        while thread.optimizers:
            self._close_optimizer(thread.optimizers[-1])
        self.steps.close(thread)
        if self.memory is not None:
            self.memory.stop()
        while self._undo:
            try:
                self._undo.pop()()
            except Exception:
                pass  # the hook is inactive anyway

    def install(self):
        self._hook_modules()
        self._hook_optimizers()
        self._patch_backward()
        self._patch_dataloader()
        copies.Uploads(self).install(self._replace)
        self._patch_nvtx()
        self.compiled.install(self._replace, self._undo, self.torch.nn.Module.__call__)
        self.generation.install(self._replace, self._undo)
        self.handover.install(self._replace)
        if self.memory is not None:
            self.memory.install(self._replace)
        at_exit = self.guarded(self._end)
        atexit.register(at_exit)
        self._undo.append(lambda: atexit.unregister(at_exit))

    def _end(self):
        """At the program's end."""
        self.steps.close(self.local.thread)  # the last one has no next one that would end it
        if self.memory is not None:
            self.memory.finish()

    # Hooks that PyTorch offers.

    def _hook_optimizers(self):
        optimizer = importlib.import_module(f"{self.torch.__name__}.optim.optimizer")  # not an attribute of torch.optim
        enter, leave = self.guarded(self._enter_optimizer), self.guarded(self._leave_optimizer)
        before = optimizer.register_optimizer_step_pre_hook
        after = optimizer.register_optimizer_step_post_hook
        self._undo.append(before(lambda optimizer, args, kwargs: enter(optimizer, args, kwargs)).remove)
        self._undo.append(after(lambda optimizer, args, kwargs: leave(optimizer)).remove)

        def make(original):
            def initialise(self_, *args, **kwargs):
                self.steps.optimizer_made()
                return original(self_, *args, **kwargs)
            return initialise

        self._replace(optimizer.Optimizer, "__init__", make)

    def _enter_optimizer(self, optimizer, args, kwargs):
        """Returns what PyTorch calls step() with: None for the same arguments."""
        if self.is_compiling():
            return None
        self._close_optimizer(optimizer)  # if its last step raised, its range is still open
        thread = self.local.thread
        thread.trains = True
        self.begin_work(self.steps.begin_optimizer, optimizer)
        thread.optimizers.append(optimizer)
        self._open_optimizer(optimizer)
        return self._with_own_closure(args, kwargs)

    def _open_optimizer(self, optimizer):
        self.push("optimizer")
        self.push(type(optimizer).__name__)

    def _with_own_closure(self, args, kwargs):
        """A closure is the forward and the backward pass, as Lightning's: no part of the optimizer."""
        if callable(kwargs.get("closure")):
            return args, {**kwargs, "closure": self._beside_optimizers(kwargs["closure"])}
        if len(args) > 1 and callable(args[1]):  # behind the optimizer
            return (args[0], self._beside_optimizers(args[1]), *args[2:]), kwargs
        return None

    def _beside_optimizers(self, closure):
        @functools.wraps(closure)
        def run(*args, **kwargs):
            thread = self.local.thread
            opened, thread.optimizers = thread.optimizers, []
            for _ in opened:
                self.pop()
                self.pop()
            try:
                return closure(*args, **kwargs)
            finally:
                if self.active:
                    thread.optimizers = opened
                    for optimizer in opened:
                        self._open_optimizer(optimizer)
        return run

    def _leave_optimizer(self, optimizer):
        if self.is_compiling():
            return
        self._close_optimizer(optimizer)
        self.steps.optimizer_stepped(self.local.thread, optimizer)

    def _close_optimizer(self, optimizer):
        opened = self.local.thread.optimizers
        while any(each is optimizer for each in opened):
            opened.pop()
            self.pop()
            self.pop()

    def begin_work(self, begin, *what):
        """Begins a step if one is due, and no range of ours is open."""
        thread = self.local.thread
        if len(thread.stack) == 1 and not thread.optimizers and not thread.tasks:
            begin(thread, *what)

    # Functions without hooks, which are replaced.

    def _replace(self, owner, name, make):
        """Sets owner.name = make(original), with the original's signature. uninstall() undoes it."""
        original = getattr(owner, name, None)
        if original is None:
            return  # not in this version of PyTorch
        own = name in vars(owner)
        replacement = functools.wraps(original)(make(original))

        def undo():
            if vars(owner).get(name) is not replacement:
                return  # replaced again: ours is called by that, and is inactive
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)  # it was inherited

        setattr(owner, name, replacement)
        self._undo.append(undo)

    def _hook_modules(self):
        steps, grad_enabled = self.steps, self.torch.is_grad_enabled
        # Cheaper than is_compiling(): in each module call. Where the two differ, ranges do no harm.
        is_compiling = getattr(getattr(self.torch, "compiler", None), "is_dynamo_compiling", self.is_compiling)

        def begin(thread, module):
            if self.memory is not None:
                self.memory.start()
            thread.marking = grad_enabled()
            steps.begin_forward(thread, module)

        def make(original):
            return self.modules.replacement(original, is_compiling, begin, steps.end_forward, self.backward)

        self._replace(self.torch.nn.Module, "__call__", make)

    def _patch_backward(self):
        def make(original):
            def run_backward(outputs, *args, **kwargs):
                if not self.active or self.is_compiling():
                    return original(outputs, *args, **kwargs)
                opened = self._begin_backward(outputs)
                try:
                    return original(outputs, *args, **kwargs)
                finally:
                    # `backward`, and ranges left on this thread, if the pass ended on another or with an error
                    self.backward.close_thread(opened)
            return run_backward

        self._replace(self.torch.autograd, "_engine_run_backward", make)

    def _begin_backward(self, outputs):
        thread = self.local.thread
        opened = len(thread.tasks)
        try:
            thread.trains = thread.trains or not thread.tasks
            self.begin_work(self.steps.begin_backward)
            # Nodes that no module created, as those of a loss function: `backward` alone.
            self.backward.mark(thread, self.modules.root, (outputs,))
            self.backward.begin_pass(thread)
            self.steps.backward_called(thread)
        except Exception as error:
            self.disable(error)
        return opened

    def _patch_dataloader(self):
        dataloader = importlib.import_module(f"{self.torch.__name__}.utils.data.dataloader")
        begin = self.guarded(self._begin_batch)
        no_batch = self.guarded(lambda step: self.steps.end_without_work(self.local.thread, step))

        def make(original):
            def next_batch(iterator):
                step = self.local.thread.step
                begin(iterator)
                try:
                    with self.range("dataloader"):
                        return original(iterator)
                except StopIteration:
                    no_batch(step)
                    raise
            return next_batch

        self._replace(dataloader._BaseDataLoaderIter, "__next__", make)

    def _begin_batch(self, iterator):
        try:
            is_last = iterator._num_yielded >= len(iterator)
        except (AttributeError, TypeError):
            is_last = False  # the data set has no length
        self.begin_work(self.steps.end if is_last else self.steps.begin)

    def _patch_nvtx(self):
        """Notes which ranges the program opens by itself."""
        nvtx = importlib.import_module(f"{self.torch.__name__}.cuda.nvtx")
        pushed, popped = self.guarded(self._program_pushed), self.guarded(self._program_popped)

        def make_push(original):
            def range_push(msg):
                if self.is_compiling():
                    return original(msg)
                level = original(msg)
                pushed(msg)
                return level
            return range_push

        def make_pop(original):
            def range_pop():
                if self.is_compiling():
                    return original()
                level = original()
                popped()
                return level
            return range_pop

        self._replace(nvtx, "range_push", make_push)
        self._replace(nvtx, "range_pop", make_pop)

    def _program_pushed(self, name):
        self.steps.program_pushed(self.local.thread, name)
        if self.memory is not None:
            self.memory.opened(name)

    def _program_popped(self):
        self.steps.program_popped(self.local.thread)
        if self.memory is not None:
            self.memory.closed()

    def range(self, name):
        return _Range(self, name)


class _Range:
    """A range around a block. Closes what it opened, also if the hooks are removed in between."""

    __slots__ = ("_hooks", "_name", "_open")

    def __init__(self, hooks, name):
        self._hooks, self._name, self._open = hooks, name, False

    def __enter__(self):
        if self._hooks.active:
            self._hooks.push(self._name)
            self._open = True

    def __exit__(self, *exception):
        if self._open:
            self._hooks.pop()
