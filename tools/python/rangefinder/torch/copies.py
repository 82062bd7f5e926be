# SPDX-License-Identifier: Apache-2.0
"""The range `H2D`: a tensor or a module that is copied from the host to the GPU, by to() or cuda()."""


class Uploads:
    """Any thread, on the state of the calling thread. hooks: Hooks."""

    def __init__(self, hooks):
        self._hooks = hooks

    def install(self, replace):
        """replace(owner, name, make): of Hooks."""
        hooks, torch = self._hooks, self._hooks.torch

        def make(is_on_host, is_cuda_call):
            is_tensor = is_on_host is _tensor_on_host
            begin = hooks.guarded(lambda: hooks.begin_work(hooks.steps.begin))

            def of(original):
                def copy(self_, *args, **kwargs):
                    if not hooks.active or hooks.is_compiling() or not self._is_upload(
                            self_, is_on_host, is_cuda_call, args, kwargs):
                        return original(self_, *args, **kwargs)
                    thread = hooks.local.thread
                    if is_tensor:  # a module is moved before the first step
                        begin()
                    thread.in_h2d = True
                    try:
                        with hooks.range("H2D"):
                            return original(self_, *args, **kwargs)
                    finally:
                        thread.in_h2d = False
                return copy
            return of

        replace(torch.Tensor, "to", make(_tensor_on_host, False))
        replace(torch.Tensor, "cuda", make(_tensor_on_host, True))
        replace(torch.nn.Module, "to", make(_module_on_host, False))
        replace(torch.nn.Module, "cuda", make(_module_on_host, True))

    def _is_upload(self, source, is_on_host, is_cuda_call, args, kwargs):
        try:
            if self._hooks.local.thread.in_h2d:
                return False  # a tensor of the module that is being moved
            return (is_cuda_call or self._names_cuda(args, kwargs)) and is_on_host(source)
        except Exception as error:
            self._hooks.disable(error)
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
        if isinstance(target, self._hooks.torch.device):
            return target.type == "cuda"
        return isinstance(target, self._hooks.torch.Tensor) and target.is_cuda


def _tensor_on_host(tensor):
    return tensor.device.type == "cpu"


def _module_on_host(module):
    for tensor in module.parameters():
        return tensor.device.type == "cpu"
    for tensor in module.buffers():
        return tensor.device.type == "cpu"
    return False
