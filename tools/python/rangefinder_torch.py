# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges for PyTorch programs, without a change of their code.

    install()                       what opens a range
    ├─ every nn.Module forward      model/encoder/layers/0     rangefinder_modules.py
    ├─ every backward node          backward/model/encoder/…   rangefinder_autograd.py
    ├─ optimizer steps              optimizer/SGD
    ├─ data loading                 dataloader
    └─ host-to-device copies        H2D

`rangefinder run --torch-modules -- python x.py` calls install() after the import of torch
(sitecustomize.py). By hand: `import rangefinder_torch; rangefinder_torch.install()`.
An error in a hook removes all hooks, with one warning; the program continues without them.
"""
import functools
import importlib
import warnings

import rangefinder_autograd
import rangefinder_modules

_installed = None


def install():
    """Installs the hooks once. Does nothing if PyTorch has no NVTX."""
    global _installed
    if _installed is not None:
        return
    import torch

    nvtx = getattr(getattr(torch, "_C", None), "_nvtx", None)
    if nvtx is None:
        return  # a build without CUDA
    hooks = _Hooks(torch, nvtx)
    _installed = hooks
    try:
        hooks.install()
    except Exception as error:
        hooks.disable(error)


def uninstall():
    """Removes the hooks. Graph nodes that were already hooked keep an inactive hook."""
    global _installed
    hooks, _installed = _installed, None
    if hooks is not None:
        hooks.uninstall()


class _Hooks:
    def __init__(self, torch, nvtx):
        self.torch = torch
        self.push, self.pop = nvtx.rangePushA, nvtx.rangePop
        self.active = True
        self._undo = []
        compiler = getattr(torch, "compiler", None)
        self.is_compiling = getattr(compiler, "is_compiling", lambda: False)
        self.backward = rangefinder_autograd.BackwardRanges(torch, self.push, self.pop, self.guarded)
        self.modules = rangefinder_modules.ModuleRanges(
            self.push, self.pop, self._is_opaque, torch.autograd._get_sequence_nr, torch.is_grad_enabled,
            self.backward.mark_graph)
        self.thread = self.modules.thread

    def _is_opaque(self, module):
        return isinstance(module, self.torch.jit.ScriptModule) or "_orig_mod" in getattr(module, "_modules", ())

    def guarded(self, function):
        """Wraps a hook: it does nothing when disabled, and an error in it disables all hooks."""
        def hook(*args):
            if self.active:
                try:
                    function(*args)
                except Exception as error:
                    self.disable(error)
        return hook

    def disable(self, error):
        if self.active:
            self.uninstall()
            message = f"rangefinder: ranges on PyTorch modules end here: {error!r}"
            warnings.warn(message, RuntimeWarning)

    def uninstall(self):
        self.active = False
        self.modules.close_thread()
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
        self._patch_copies()

    # Hooks that PyTorch offers.

    def _hook_modules(self):
        register = self.torch.nn.modules.module
        is_compiling = self.is_compiling
        enter = self.guarded(self.modules.enter)
        leave = self.guarded(self.modules.leave)

        # is_compiling() first and alone: TorchDynamo traces these two functions and must find no other call.
        def before(module, args):
            if is_compiling():
                return None
            enter(module)
            return None

        def after(module, args, output):
            if is_compiling():
                return None
            leave(module, output)
            return None

        self._undo.append(register.register_module_forward_pre_hook(before).remove)
        # always_call: also if forward() raises, or the range would stay open
        self._undo.append(register.register_module_forward_hook(after, always_call=True).remove)

    def _hook_optimizers(self):
        register = importlib.import_module(f"{self.torch.__name__}.optim.optimizer")  # not an attribute of torch.optim
        enter, leave = self.guarded(self._enter_optimizer), self.guarded(self._leave_optimizer)
        before = register.register_optimizer_step_pre_hook
        after = register.register_optimizer_step_post_hook
        self._undo.append(before(lambda optimizer, args, kwargs: enter(optimizer)).remove)
        self._undo.append(after(lambda optimizer, args, kwargs: leave(optimizer)).remove)

    def _enter_optimizer(self, optimizer):
        if self.is_compiling():
            return
        self._leave_optimizer(optimizer)  # if its last step raised, its range is still open
        self.thread.optimizers.append(optimizer)
        self.push("optimizer")
        self.push(type(optimizer).__name__)

    def _leave_optimizer(self, optimizer):
        opened = self.thread.optimizers
        while any(each is optimizer for each in opened):
            opened.pop()
            self.pop()
            self.pop()

    # Functions without hooks, which are replaced.

    def _replace(self, owner, name, make):
        """Sets owner.name = make(original), with the original's signature. uninstall() undoes it."""
        original = getattr(owner, name, None)
        if original is None:
            return  # not in this version of PyTorch
        own = name in vars(owner)

        def undo():
            if own:
                setattr(owner, name, original)
            else:
                delattr(owner, name)  # it was inherited

        setattr(owner, name, functools.wraps(original)(make(original)))
        self._undo.append(undo)

    def _patch_backward(self):
        rest = self.guarded(self.backward.mark_rest)
        close = self.guarded(self.backward.close_thread)

        def make(original):
            def run_backward(outputs, *args, **kwargs):
                if not self.active or self.is_compiling():
                    return original(outputs, *args, **kwargs)
                rest(outputs)
                opened = self.backward.open_on_thread()
                try:
                    return original(outputs, *args, **kwargs)
                finally:
                    close(opened)  # ranges left on this thread, if the pass ended on another or with an error
            return run_backward

        self._replace(self.torch.autograd, "_engine_run_backward", make)

    def _patch_dataloader(self):
        dataloader = importlib.import_module(f"{self.torch.__name__}.utils.data.dataloader")

        def make(original):
            def next_batch(iterator):
                with self._range("dataloader"):
                    return original(iterator)
            return next_batch

        self._replace(dataloader._BaseDataLoaderIter, "__next__", make)

    def _patch_copies(self):
        def make(is_on_host, is_cuda_call):
            def of(original):
                def copy(self_, *args, **kwargs):
                    if self.active and not self.is_compiling() and self._is_upload(
                            self_, is_on_host, is_cuda_call, args, kwargs):
                        self.thread.in_h2d = True
                        try:
                            with self._range("H2D"):
                                return original(self_, *args, **kwargs)
                        finally:
                            self.thread.in_h2d = False
                    return original(self_, *args, **kwargs)
                return copy
            return of

        torch = self.torch
        self._replace(torch.Tensor, "to", make(_tensor_on_host, False))
        self._replace(torch.Tensor, "cuda", make(_tensor_on_host, True))
        self._replace(torch.nn.Module, "to", make(_module_on_host, False))
        self._replace(torch.nn.Module, "cuda", make(_module_on_host, True))

    def _is_upload(self, source, is_on_host, is_cuda_call, args, kwargs):
        try:
            if self.thread.in_h2d:
                return False  # a tensor of the module that is being moved
            return (is_cuda_call or self._names_cuda(args, kwargs)) and is_on_host(source)
        except Exception as error:
            self.disable(error)
            return False

    def _names_cuda(self, args, kwargs):
        """True if the arguments of to() name a GPU: as a device in any spelling, or as a tensor on one."""
        target = kwargs.get("device", kwargs.get("other", args[0] if args else None))
        if isinstance(target, str):
            return target.startswith("cuda")
        if isinstance(target, bool) or target is None:
            return False
        if isinstance(target, int):
            return True  # an index is a GPU
        if isinstance(target, self.torch.device):
            return target.type == "cuda"
        return isinstance(target, self.torch.Tensor) and target.is_cuda

    def _range(self, name):
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


def _tensor_on_host(tensor):
    return tensor.device.type == "cpu"


def _module_on_host(module):
    for tensor in module.parameters():
        return tensor.device.type == "cpu"
    for tensor in module.buffers():
        return tensor.device.type == "cpu"
    return False
