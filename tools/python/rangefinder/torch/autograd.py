# SPDX-License-Identifier: Apache-2.0
"""Ranges around autograd nodes: `backward`, then the path of the module that created the node.

    forward    nodes 17 18 19 20 21 22      numbered by PyTorch in the order of creation
               └conv1┘└─layer1/0──┘         nodes between two boundaries belong to one module
                     ↑           ↑          the newest of each gets a prehook, which opens the range
    backward   22 21 20 19 18 17            on autograd's threads, newest first

Boundaries are the starts and ends of module calls. The newest nodes are those of the tensors that a
module gets and returns. One prehook stands for a stretch of nodes. What it cannot see: a stretch of
which neither is a part. Its kernels count for the module called after it.

A range stays open until a node of another path runs on the thread, or the backward pass
ends. Gradients that meet at a node are summed between nodes, and those kernels count for
the module whose gradient came last. Node hooks do not change gradients, unlike module
backward hooks, which break in-place operations.
"""
import sys

from .modules import EXTENSION, move

_MAX_DEPTH = 4       # of nested containers in a module's output
_MAX_VALUES = 1_000  # in one of them
_CONTAINERS = (list, tuple)


class _TaskMembers:
    __slots__ = ("id", "path")


_Members = object
if EXTENSION is not None:  # the members that the extension reads
    _TaskMembers, _Members = EXTENSION.Task, EXTENSION.Backward  # type: ignore[misc]


class _Task(_TaskMembers):
    """One backward pass on one thread. id: None until its first node runs here."""

    __slots__ = ()

    def __init__(self, task_id, path=()):
        self.id = task_id
        self.path = path


class BackwardRanges(_Members):
    def __init__(self, torch, push, pop, local, disable):
        self.tensor = torch.Tensor
        self.sequence_number = torch.autograd._get_sequence_nr  # number of the next node of this thread
        self._task_id = torch._C._current_graph_task_id
        self._engine = torch.autograd.Variable._execution_engine
        self._push, self._pop = push, pop
        self._native = EXTENSION is not None and push is EXTENSION.rangePushA
        self._local = local
        self._disable = disable  # takes an error of ours
        self.active = True

    # Forward pass: mark nodes.

    def mark(self, thread, call, values):
        """Hooks nodes of the tensors in `values` that were created since the last boundary: they are of `call`."""
        found = False
        for value in values:
            if isinstance(value, self.tensor):
                node = value.grad_fn
                if node is not None and self._mark_node(thread, call, node):
                    found = True
            elif isinstance(value, _CONTAINERS) and self.mark_within(thread, call, value, 1):
                found = True
        if found:
            thread.boundary = self.sequence_number()

    def mark_output(self, thread, call, output):
        """The same for what a module returns."""
        if isinstance(output, self.tensor):
            node = output.grad_fn
            found = node is not None and self._mark_node(thread, call, node)
        else:
            found = self.mark_within(thread, call, output, 0)
        if found:
            thread.boundary = self.sequence_number()

    def _mark_node(self, thread, call, node):
        try:
            number = node._sequence_nr()
            if number < thread.boundary or number == thread.hooked:
                return False
            node.register_prehook(call.hook or self.hook_of(call))
        except (AttributeError, RuntimeError):
            return False  # a custom function whose node was freed
        thread.hooked = number
        return True

    def mark_within(self, thread, call, container, depth):
        found = False
        for value in _values_of(container):
            if isinstance(value, self.tensor):
                node = value.grad_fn
                if node is not None and self._mark_node(thread, call, node):
                    found = True
            elif value is not None and depth < _MAX_DEPTH and self.mark_within(thread, call, value, depth + 1):
                found = True
        return found

    def hook_of(self, call):
        path = ("backward",) + call.path
        call.hook = self._prehook(path) if EXTENSION is None else self.node_hook(path)  # the same in C (node_hook.h)
        return call.hook

    # Backward pass: open and close ranges.

    def _prehook(self, path):
        local, task_id, begin, push, pop = self._local, self._task_id, self._begin, self._push, self._pop

        def enter(_gradients):
            if not self.active:
                return
            try:
                tasks, current = local.thread.tasks, task_id()
                task = tasks[-1] if tasks and tasks[-1].id == current else begin(tasks, current)
                if task.path is not path:
                    move(task, "path", path, push, pop)
            except Exception as error:
                self._disable(error)

        return enter

    def _begin(self, tasks, task_id):
        """The task of this pass, which is the innermost one."""
        if any(task.id == task_id for task in tasks):
            while tasks[-1].id != task_id:
                self._close(tasks)
            return tasks[-1]
        # No Python frame below this hook means that no other node is running. So open ranges
        # are left from a pass that failed or ended on another thread.
        if tasks and not _called_from_python():
            self.close_thread(0)
        if tasks and tasks[-1].id is None:
            tasks[-1].id = task_id  # the pass that this thread has called runs on it
        else:
            tasks.append(_Task(task_id))
        self._engine.queue_callback(lambda: self._end(task_id))
        return tasks[-1]

    def _end(self, task_id):
        tasks = self._local.thread.tasks
        while any(task.id == task_id for task in tasks):
            self._close(tasks)

    def _close(self, tasks):
        for _ in tasks.pop().path:
            self._pop()

    def begin_pass(self, thread):
        """The calling thread has `backward` open while its pass runs, here or on threads of the engine. Threads of
        the engine inherit it. close_thread() closes it."""
        if thread.program[-1:] == ["backward"]:
            return  # the program has named it
        self._push("backward")
        thread.tasks.append(_Task(None, ("backward",)))

    def close_thread(self, keep):
        """Closes all passes of this thread except the `keep` outermost."""
        tasks = self._local.thread.tasks
        while len(tasks) > keep:
            self._close(tasks)


def _values_of(container):
    if isinstance(container, dict):
        values = container.values()
    elif isinstance(container, (list, tuple)):
        values = container
    elif hasattr(type(container), "__dataclass_fields__") and hasattr(container, "__dict__"):
        values = vars(container).values()
    else:
        return ()
    return values if len(values) <= _MAX_VALUES else ()


def _called_from_python():
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("rangefinder."):
        frame = frame.f_back
    return frame is not None
