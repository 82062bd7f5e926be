# SPDX-License-Identifier: Apache-2.0
"""Ranges around autograd nodes: `backward`, then the path of the module that created the node.

    forward    nodes 17 18 19 20 21 22      numbered by PyTorch in the order of creation
               └conv1┘└─layer1/0──┘         the outermost module call records the first number of each
                                            module, so one walk at its end can assign paths to nodes
    backward   on autograd's threads: before a node runs, its range is opened

A range stays open until a node of another path runs on the thread, or the backward pass
ends. Gradients that meet at a node are summed between nodes, and those kernels count for
the module whose gradient came last. Node hooks do not change gradients, unlike module
backward hooks, which break in-place operations.
"""
import functools
import sys
import threading
from bisect import bisect_right

_MARK = "rangefinder_path"  # key in Node.metadata, a dict that lives as long as the node
_ACCUMULATE = (1 << 64) - 1  # sequence number of AccumulateGrad nodes, which exist before any call
_MAX_NODES = 200_000         # limit of the walk after a forward pass
_MAX_REST = 2_000            # limit of the walk before a backward pass
_MAX_OUTPUTS = 10_000


class _Task:
    """One backward pass on one thread."""

    __slots__ = ("id", "path")

    def __init__(self, task_id):
        self.id = task_id
        self.path = ()


class _Thread(threading.local):
    def __init__(self):
        self.tasks = []


class BackwardRanges:
    def __init__(self, torch, push, pop, guarded):
        self._tensor = torch.Tensor
        self._task_id = torch._C._current_graph_task_id
        self._engine = torch.autograd.Variable._execution_engine
        self._push, self._pop = push, pop
        self._guarded = guarded  # wraps what PyTorch calls: an error in it disables the hooks
        self._thread = _Thread()
        self._hooks = {}  # path -> its prehook

    # Forward pass: mark nodes.

    def mark_graph(self, output, numbers, paths):
        """Marks each node created since numbers[0] and reachable from `output` with the path of its number."""

        def path_of(number):
            return paths[max(0, bisect_right(numbers, number) - 1)]

        self._walk(self._nodes_of(output), path_of, numbers[0], _MAX_NODES)

    def mark_rest(self, outputs):
        """Marks nodes that no module created, as those of a loss function: `backward` alone. Stops at marked nodes."""
        self._walk(self._nodes_of(outputs), lambda number: (), None, _MAX_REST)

    def _walk(self, nodes, path_of, first, limit):
        """Hooks unmarked nodes. Does not enter nodes numbered below `first`; if `first` is None, marked nodes."""
        walk = [(node, ()) for node in nodes]
        seen = {}  # id -> node; the reference keeps the id unique
        while walk and len(seen) < limit:
            node, path = walk.pop()
            if id(node) in seen:
                continue
            seen[id(node)] = node
            try:
                metadata, number, following = node.metadata, node._sequence_nr(), node.next_functions
            except (AttributeError, RuntimeError):
                continue  # a custom function whose node was freed
            marked = metadata.get(_MARK)
            if number == _ACCUMULATE:
                if marked is None:
                    self._hook(node, metadata, path)  # path of the node that uses the parameter
                continue
            if marked is not None if first is None else number < first:
                continue
            path = marked
            if path is None:
                path = path_of(number)
                self._hook(node, metadata, path)
            walk.extend((after, path) for after, _ in following if after is not None)

    def _hook(self, node, metadata, path):
        hook = self._hooks.get(path)
        if hook is None:
            hook = self._hooks[path] = self._guarded(functools.partial(self._enter, ("backward",) + path))
        node.register_prehook(hook)
        metadata[_MARK] = path

    def _nodes_of(self, output):
        """grad_fn of every tensor in nested lists, tuples and dicts."""
        found, rest = [], [output]
        for _ in range(_MAX_OUTPUTS):
            if not rest:
                break
            item = rest.pop()
            if isinstance(item, self._tensor):
                if item.grad_fn is not None:
                    found.append(item.grad_fn)
            elif isinstance(item, dict):
                rest.extend(item.values())
            elif isinstance(item, (list, tuple, set)):
                rest.extend(item)
            elif hasattr(item, "__dict__") and hasattr(type(item), "__dataclass_fields__"):
                rest.extend(vars(item).values())
        return found

    # Backward pass: open and close ranges.

    def _enter(self, path, _gradients):
        tasks = self._thread.tasks
        task_id = self._task_id()
        if not tasks or tasks[-1].id != task_id:
            self._begin(tasks, task_id)
        task = tasks[-1]
        if task.path is not path:
            self._move(task, path)

    def _begin(self, tasks, task_id):
        while tasks and any(task.id == task_id for task in tasks):
            if tasks[-1].id == task_id:
                return
            self._close(tasks)
        # No Python frame below this hook means that no other node is running. So open ranges
        # are left from a pass that failed or ended on another thread.
        if tasks and not _called_from_python():
            self.close_thread(0)
        tasks.append(_Task(task_id))
        self._engine.queue_callback(self._guarded(functools.partial(self._end, task_id)))

    def _end(self, task_id):
        tasks = self._thread.tasks
        while any(task.id == task_id for task in tasks):
            self._close(tasks)

    def _move(self, task, path):
        """Closes the levels that differ, opens those of `path`."""
        old, common = task.path, 0
        while common < len(old) and common < len(path) and old[common] == path[common]:
            common += 1
        for _ in range(len(old) - common):
            self._pop()
        task.path = path[:common]
        for component in path[common:]:
            self._push(component)
        task.path = path

    def _close(self, tasks):
        for _ in range(len(tasks.pop().path)):
            self._pop()

    def open_on_thread(self):
        return len(self._thread.tasks)

    def close_thread(self, keep):
        """Closes all passes of this thread except the `keep` outermost."""
        while len(self._thread.tasks) > keep:
            self._close(self._thread.tasks)


def _called_from_python():
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("rangefinder_"):
        frame = frame.f_back
    return frame is not None
