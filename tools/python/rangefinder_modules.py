# SPDX-License-Identifier: Apache-2.0
"""Names of nn.Modules, and the ranges open on each thread while they are called.

    model(x)                  stack of the thread               NVTX ranges
      backbone(x)             (root, "backbone")                backbone
        layers.0(h)           (root, "backbone", "layers", "0") backbone > layers > 0

A frame pushes the components that its name adds to the name of its caller, one range each. So a
ModuleList is a level although it is never called. A module without a known name is a root: the
names of its submodules are relative to it. A root adds no component, unless it has no submodules.
A module called inside one it is not registered in adds the name of its class.
"""
import threading
import weakref

_roots = 0


class Names:
    """Name of a module: a tuple of the number of its root and the components. Any thread."""

    def __init__(self):
        self._entries = {}  # id(module) -> (weak reference, name); by id, since modules may be unhashable
        self._lock = threading.Lock()

    def of(self, module):
        entry = self._entries.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def name_root(self, module):
        """Names `module` as a root, and all modules below it that have no name from another root."""
        global _roots
        with self._lock:
            _roots += 1
            root = (_roots,)
            below = list(module.named_modules())
            # A submodule called before its parent became a root itself: the parent's name replaces that.
            replaced = {name[0] for name in map(self.of, (m for _, m in below)) if name and len(name) == 1}
            for dotted, part in below:
                known = self.of(part)
                if known is None or known[0] in replaced:
                    self._set(part, root + _components(dotted))
        return root

    def name_below(self, parent, parent_name):
        """Names modules that were added below `parent` after it was named."""
        with self._lock:
            for dotted, part in parent.named_modules():
                if self.of(part) is None:
                    self._set(part, parent_name + _components(dotted))

    def _set(self, module, name):
        key = id(module)
        self._entries[key] = (weakref.ref(module, lambda _: self._entries.pop(key, None)), name)


def _components(dotted):
    # torch.compile's wrapper holds the module as _orig_mod, which is not a level of the model
    return tuple(part for part in dotted.split(".") if part and part != "_orig_mod")


class Frame:
    """A module call in progress. `path`: display names, outermost first; `pushed`: number of its own ranges."""

    __slots__ = ("module", "name", "path", "pushed")

    def __init__(self, module, name, path, pushed):
        self.module = module
        self.name = name
        self.path = path
        self.pushed = pushed


class Thread(threading.local):
    """Open calls and ranges of a thread."""

    def __init__(self):
        self.frames = []
        self.recording = None  # outermost call's ([sequence numbers], [paths]); None: no gradients
        self.optimizers = []
        self.in_h2d = False


class ModuleRanges:
    """Pushes and pops ranges for module calls."""

    def __init__(self, push, pop, opaque, sequence_number, grad_enabled, mark_graph):
        self._push, self._pop = push, pop
        self._opaque = opaque                    # module -> a wrapper that hides what runs inside
        self._sequence_number = sequence_number  # number of the next autograd node of this thread
        self._grad_enabled = grad_enabled
        self._mark_graph = mark_graph            # (output, numbers, paths) at the end of an outermost call
        self.names = Names()
        self.thread = Thread()

    def enter(self, module):
        frames = self.thread.frames
        parent = frames[-1] if frames else None
        name = self.names.of(module)
        if name is None and parent is not None:
            self.names.name_below(parent.module, parent.name)
            name = self.names.of(module)
        if name is None:
            name = self.names.name_root(module)
        added = self._added(module, name, parent)
        frame = Frame(module, name, (parent.path if parent else ()) + added, 0)
        if parent is None:
            self.thread.recording = ([], []) if self._grad_enabled() else None
        frames.append(frame)
        for component in added:
            self._push(component)
            frame.pushed += 1
        self._note(frame.path)

    def _added(self, module, name, parent):
        if parent is None:
            if len(name) > 1:
                return name[1:]
            children = getattr(module, "_modules", None)
            return () if children and not self._opaque(module) else (_class_name(module),)
        depth = len(parent.name)
        if name == parent.name:
            return ()  # the module in torch.compile's wrapper, or a module that calls itself
        if len(name) > depth and name[:depth] == parent.name:
            return name[depth:]
        return (_class_name(module),)

    def leave(self, module, output):
        frames = self.thread.frames
        if not any(frame.module is module for frame in frames):
            return  # its call started before the hooks were installed
        while True:
            frame = frames.pop()
            for _ in range(frame.pushed):
                self._pop()
            if frame.module is module:
                break
        if frames:
            self._note(frames[-1].path)
            return
        recording, self.thread.recording = self.thread.recording, None
        if recording is not None and output is not None:
            self._mark_graph(output, *recording)

    def close_thread(self):
        """Closes all ranges of this thread, because removed hooks no longer do."""
        while self.thread.frames:
            for _ in range(self.thread.frames.pop().pushed):
                self._pop()
        self.thread.recording = None

    def _note(self, path):
        """From this sequence number on, autograd nodes belong to `path`."""
        recording = self.thread.recording
        if recording is not None:
            recording[0].append(self._sequence_number())
            recording[1].append(path)


def _class_name(module):
    inner = getattr(module, "_orig_mod", module)
    return getattr(inner, "original_name", None) or type(inner).__name__
