# SPDX-License-Identifier: Apache-2.0
"""A small strict fake of PyTorch: only what tools/python uses, and an error for everything else.

Modules, an autograd graph whose nodes have _sequence_nr() and register_prehook(), an engine that
runs them on a thread of its own and adds up gradients between nodes, NVTX that fails on a pop
without a push.
`launches` lists (path, label) of every kernel, `pushes` (name, level) of every range.
"""
import sys
import threading
import types

_PACKAGE = sys.modules[__name__]
ACCUMULATE = (1 << 64) - 1

launches = []
pushes = []  # (name, level)
profiles = []  # what the profiler and graphs did
stacks = {}  # thread id -> open ranges, also of ended threads
_state = threading.local()


def _module(dotted):
    parent = _PACKAGE
    for index, part in enumerate(dotted.split(".")):
        if not hasattr(parent, part):
            module = types.ModuleType(".".join([__name__, *dotted.split(".")[:index + 1]]))
            module.__path__ = []
            sys.modules[module.__name__] = module
            setattr(parent, part, module)
        parent = getattr(parent, part)
    return parent


def _stack():
    return stacks.setdefault(threading.get_ident(), [])


def launch(label):
    launches.append(("/".join(_stack()), label))


def _push(name):
    if not isinstance(name, str) or not name:
        raise TypeError("rangePushA takes a text")
    _stack().append(name)
    pushes.append((name, len(_stack()) - 1))
    return len(_stack()) - 1


def _pop():
    if not _stack():
        raise AssertionError("pop without a push")
    _stack().pop()
    return len(_stack())


class Handle:
    def __init__(self, hooks, hook):
        self._hooks, self._hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def _next_number():
    _state.number = getattr(_state, "number", 0) + 1
    return _state.number - 1


class Node:
    __slots__ = ("label", "next_functions", "_number", "prehooks")

    def __init__(self, label, following=(), number=None):
        self.label, self.prehooks = label, []
        self.next_functions = tuple(following)
        self._number = _next_number() if number is None else number

    def _sequence_nr(self):
        return self._number

    def register_prehook(self, hook):
        return Handle(self.prehooks, hook)


class device:
    def __init__(self, name):
        self.type = name.split(":")[0]


class Tensor:
    def __init__(self, grad_fn=None, requires_grad=False, place="cuda"):
        self.grad_fn, self.requires_grad, self.device = grad_fn, requires_grad, device(place)
        self._accumulator = None
        self.is_cuda = place == "cuda"

    def edge(self):
        if self.grad_fn is not None:
            return (self.grad_fn, 0)
        if not self.requires_grad:
            return (None, 0)
        if self._accumulator is None:
            self._accumulator = Node("AccumulateGrad", number=ACCUMULATE)
        return (self._accumulator, 0)


class _Base(Tensor):  # the real Tensor inherits to() and cuda() too
    def to(self, target, non_blocking=False):
        launch("copy")
        return type(self)(place="cuda")

    def cuda(self, index=None):
        return self.to("cuda")


Tensor = type("Tensor", (_Base,), {})


def is_grad_enabled():
    return getattr(_state, "grad", True)


def set_grad_enabled(on):
    _state.grad = on


def op(label, *inputs):
    """An operation: launches a kernel, allocates and, with gradients on, creates a node."""
    launch(label)
    allocator.allocate(1024)
    edges = [tensor.edge() for tensor in inputs]
    if not is_grad_enabled() or all(node is None for node, _ in edges):
        return Tensor()
    return Tensor(Node(label + "Backward", edges))


def op_(label, tensor):
    """The same operation in place."""
    tensor.grad_fn = op(label, tensor).grad_fn
    return tensor


# autograd

class _Engine:
    def __init__(self):
        self._tasks = 0

    def queue_callback(self, callback):
        if _task_id() == -1:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        _state.callbacks.append(callback)

    def run_backward(self, outputs, on_this_thread=False):
        failures = []

        def run():
            outer = _task_id(), getattr(_state, "callbacks", None)
            self._tasks += 1
            _state.task, _state.callbacks = self._tasks, []
            try:
                self._run(outputs)
                for callback in _state.callbacks:
                    callback()
            except Exception as error:
                failures.append(error)
            _state.task, _state.callbacks = outer

        if on_this_thread:
            run()
        else:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        if failures:
            raise failures[0]

    @staticmethod
    def _run(outputs):
        roots = [tensor.edge()[0] for tensor in outputs]
        missing, walk = {}, list(roots)  # node -> gradients that it waits for
        for node in walk:
            for following, _ in node.next_functions:
                if following is not None:
                    missing[following] = missing.get(following, 0) + 1
                    if missing[following] == 1:
                        walk.append(following)
        ready, arrived = roots, set()
        while ready:
            ready.sort(key=lambda node: -node._sequence_nr())
            node = ready.pop(0)
            for hook in node.prehooks:
                if hook((None,)) is not None:
                    raise AssertionError("a hook changed the gradients")
            if node.label.startswith("failing"):
                raise RuntimeError("backward failed")
            launch(node.label)
            for following, _ in node.next_functions:
                if following is None:
                    continue
                if following in arrived:
                    launch("sum of gradients")  # between nodes, where no hook runs
                arrived.add(following)
                missing[following] -= 1
                if missing[following] == 0:
                    ready.append(following)


def _task_id():
    return getattr(_state, "task", -1)


autograd = _module("autograd")
autograd._get_sequence_nr = lambda: getattr(_state, "number", 0)
autograd.Variable = types.SimpleNamespace(_execution_engine=_Engine())


def _engine_run_backward(outputs, *args, **kwargs):
    return autograd.Variable._execution_engine.run_backward(outputs, *args, **kwargs)


autograd._engine_run_backward = _engine_run_backward


def backward(tensor, **options):
    autograd._engine_run_backward((tensor,), **options)


# optim, data, the rest

_optimizer = _module("optim.optimizer")
_before_step, _after_step = [], []
_optimizer.register_optimizer_step_pre_hook = lambda hook: Handle(_before_step, hook)
_optimizer.register_optimizer_step_post_hook = lambda hook: Handle(_after_step, hook)


class Optimizer:
    def __init__(self):
        self.state = {}


_optimizer.Optimizer = Optimizer


class SGD(Optimizer):
    def step(self, fail=False):
        for hook in _before_step:
            hook(self, (), {})
        launch("step")
        if fail:
            raise RuntimeError("step failed")
        for hook in _after_step:
            hook(self, (), {})


class _BaseDataLoaderIter:
    def __init__(self, batches, sized=True):
        self._batches, self._length, self._num_yielded = iter(range(batches)), batches if sized else None, 0

    def __iter__(self):
        return self

    def __len__(self):
        if self._length is None:
            raise TypeError("the data set has no length")
        return self._length

    def __next__(self):
        batch = next(self._batches)
        self._num_yielded += 1
        launch("batch")
        return batch


_module("utils.data.dataloader")._BaseDataLoaderIter = _BaseDataLoaderIter
from .modules import Identity, Module, ModuleList  # noqa: E402

_module("nn").Module, nn.Identity = Module, Identity
_module("jit").ScriptModule = type("ScriptModule", (Module,), {})
_module("compiler").is_compiling = lambda: getattr(_state, "compiling", False)
compiler.is_dynamo_compiling = compiler.is_compiling


def compiling(on):
    _state.compiling = on




class Allocator:
    """Its history has entries as PyTorch's, while it is recorded."""

    def __init__(self):
        self.entries, self.recorded, self.allocated, self.now_us = [], [], 0, 0

    def record(self, enabled="all", context="all", stacks="all", max_entries=None):
        self.recorded.append((enabled, context, max_entries))

    def tick(self):
        self.now_us += 1
        return self.now_us * 1000

    def allocate(self, size):
        self.allocated += size
        self.now_us += 1
        if self.recorded and self.recorded[-1][0] is not None:
            self.entries.append({"action": "alloc", "addr": self.now_us, "size": size, "stream": 0,
                                 "time_us": self.now_us})

    def free(self, address):
        entry = next(entry for entry in self.entries if entry["addr"] == address)
        self.allocated -= entry["size"]
        self.now_us += 1
        for action in ("free_requested", "free_completed"):
            self.entries.append(entry | {"action": action, "time_us": self.now_us})

    def snapshot(self):
        return {"segments": [{"device": 0, "allocated_size": self.allocated}], "device_traces": [self.entries]}


allocator = Allocator()
_memory = _module("cuda.memory")
_memory._record_memory_history = lambda *args, **kwargs: allocator.record(*args, **kwargs)
_memory._snapshot = lambda: allocator.snapshot()
cuda.is_initialized = lambda: True


class profile:
    """torch.autograd.profiler.profile, which torch.profiler uses too."""

    def __init__(self, use_device="cuda"):
        self.use_device = use_device

    def __enter__(self):
        self._prepare_trace()
        return self

    def _prepare_trace(self):
        profiles.append("prepared")

    def __exit__(self, *exception):
        profiles.append("ended")


class CUDAGraph:
    def capture_begin(self, pool=None, capture_error_mode="global"):
        profiles.append(f"captures in {capture_error_mode}")


_module("autograd.profiler").profile = profile
_module("cuda.graphs").CUDAGraph = CUDAGraph
cuda.synchronize = lambda: None
_nvtx = _module("cuda.nvtx")
_nvtx.range_push = lambda msg: _push(msg)
_nvtx.range_pop = lambda: _pop()
_C = _module("_C")
_C._nvtx = types.SimpleNamespace(rangePushA=_push, rangePop=_pop)
_C._current_graph_task_id = _task_id
