# SPDX-License-Identifier: Apache-2.0
"""Names of nn.Modules, and the ranges open on each thread while they are called.

    model(x)                  name of the module                NVTX ranges
      backbone(x)             (root, "backbone")                backbone
        layers.0(h)           (root, "backbone", "layers", "0") backbone > layers > 0

A call pushes the components that its name adds to the name of its caller, one range each. So a
ModuleList is a level although it is never called. A module without a known name is a root: the
names of its submodules are relative to it. A root adds no component, unless it has no submodules.
A module called inside one it is not registered in adds the name of its class.

Module.__call__ is replaced. Global forward hooks would cost more than the ranges: with one in place,
PyTorch leaves its short way through a call. What a call pushes is worked out the first time. Then it
is one look-up in the node of the caller:

    Call()  calls: id(model) -> Call(model)  calls: id(backbone) -> Call(backbone)  …
"""
import threading
import weakref

try:
    from .. import _range as EXTENSION
except ImportError:  # built without Python's headers
    EXTENSION = None

_roots = 0
_NO_NODE = 2**64 - 2  # a sequence number that no node has


class _Call:
    __slots__ = ("names", "calls", "hook")


class _Thread:
    __slots__ = ("stack", "tasks", "compiled", "marking", "boundary", "hooked")


if EXTENSION is not None:  # the members that the extension reads
    _Call, _Thread = EXTENSION.Call, EXTENSION.Thread  # type: ignore[misc]


class Call(_Call):
    """A module, called by a given chain of modules. Any thread."""

    __slots__ = ("module", "name", "path", "__weakref__")

    def __init__(self, module, name, names, path):
        self.module = module  # weak reference
        self.name = name
        self.names = names    # ranges that the call pushes
        self.path = path      # names, outermost module first
        self.calls = {}       # id of a module called in this call -> Call
        self.hook = None      # prehook of autograd nodes that this call creates


class Names:
    """Name of a module: a tuple of the number of its root and the components. Any thread."""

    def __init__(self):
        self._entries = {}  # id(module) -> (weak reference, name, callers); by id, since modules may be unhashable
        self._lock = threading.Lock()

    def of(self, module):
        entry = self._entries.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def by_id(self, number):
        """(module, name), or (None, None)."""
        entry = self._entries.get(number)
        module = entry[0]() if entry is not None else None
        return (module, entry[1]) if module is not None else (None, None)

    def called_by(self, module, parent):
        """`parent` forgets the module's Call when the module dies, since its id may be reused."""
        callers = self._entries[id(module)][2]
        callers.add(weakref.ref(parent, callers.discard))

    def name_root(self, module):
        """Names `module` as a root, and all modules below it that have no name from another root. Returns True if
        names changed."""
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
        return bool(replaced)

    def name_below(self, parent, parent_name):
        """Names modules that were added below `parent` after it was named."""
        with self._lock:
            for dotted, part in parent.named_modules():
                if self.of(part) is None:
                    self._set(part, parent_name + _components(dotted))

    def _set(self, module, name):
        key = id(module)
        callers = set()  # weak references. A WeakSet is Python code, which TorchDynamo would compile

        def forget(_):
            self._entries.pop(key, None)
            for call in [caller() for caller in callers]:
                if call is not None:
                    call.calls.pop(key, None)

        self._entries[key] = (weakref.ref(module, forget), name, callers)


def _components(dotted):
    # torch.compile's wrapper holds the module as _orig_mod, which is not a level of the model
    return tuple(part for part in dotted.split(".") if part and part != "_orig_mod")


class Thread(_Thread):
    """What the hooks have open on one thread."""

    __slots__ = ("optimizers", "in_h2d", "program", "step", "step_is_due", "step_is_forward", "trains", "function",
                 "is_aside", "generation")

    def __init__(self, root):
        self.stack = [root]           # calls in progress
        self.marking = False          # the outermost call builds an autograd graph
        self.boundary = 0             # sequence number: older nodes have their path already
        self.hooked = _NO_NODE        # sequence number of the node that was hooked last
        self.tasks = []               # backward passes
        self.optimizers = []
        self.in_h2d = False
        self.program = []             # names of the ranges that the program itself has open
        self.step = 0                 # number of the range `step` that is open. 0: none
        self.step_is_due = 0          # why the next work begins a new one (steps.py)
        self.step_is_forward = False  # it ends with the outermost module's forward pass
        self.trains = threading.get_ident() == threading.main_thread().ident  # steps are those of this thread
        self.compiled = None          # names that the compiled graph in progress has open. None: no such graph
        self.function = None          # the compiled function in progress
        self.is_aside = False         # kernels are being measured
        self.generation = None        # the call of transformers' generate() in progress


class Local(threading.local):
    """`thread`: the state of the calling thread."""

    def __init__(self, root):
        self.thread = Thread(root)


class ModuleRanges:
    """Pushes and pops ranges for module calls."""

    def __init__(self, push, pop, opaque_name, skipped, note_source, disable):
        self._push, self._pop = push, pop
        self._opaque_name = opaque_name  # of a module that hides what runs inside, else None
        self._skipped = skipped      # type of the modules that never launch work: no range
        self._note_source = note_source  # (call, module): at the first call, in its ranges
        self._disable = disable      # takes an error of ours. The program's call continues
        self.names = Names()
        self.root = Call(None, (), (), ())  # caller of the outermost modules
        self.local = Local(self.root)
        self.active = True

    def replacement(self, original, is_compiling, begin, end, backward):
        """Module.__call__ with ranges. begin(thread, module), end(thread): around calls of outermost modules.
        backward: BackwardRanges, which marks what a call has computed up to now."""
        if EXTENSION is not None:
            return self._native_replacement(original, is_compiling, begin, end, backward)
        mark, mark_output = backward.mark, backward.mark_output
        local, root, push, pop = self.local, self.root, self._push, self._pop
        new_call, unwind, disable, note_source = self._new_call, self._unwind, self._disable, self._note_source

        # is_compiling() first and alone: TorchDynamo traces this function and must find no other call of ours.
        def call_with_ranges(module, *args, **kwargs):
            if is_compiling():
                return original(module, *args, **kwargs)
            thread = local.thread
            stack = thread.stack
            parent = stack[-1]
            known = parent.calls.get(id(module))
            call = known or new_call(parent, module)
            if call is root:
                return original(module, *args, **kwargs)
            try:
                if parent is root:
                    begin(thread, module)
                if thread.marking:
                    mark(thread, parent, args)
                    if kwargs:
                        mark(thread, parent, kwargs.values())
                for name in call.names:
                    push(name)
                stack.append(call)
                if known is None:
                    note_source(call, module)
            except Exception as error:
                disable(error)
            try:
                output = original(module, *args, **kwargs)
            except BaseException:
                unwind(thread, call, end)
                raise
            if stack[-1] is not call:
                unwind(thread, call, end)
                return output
            try:
                if thread.marking:
                    mark_output(thread, call, output)
                for name in call.names:
                    pop()
                stack.pop()
                if parent is root:
                    end(thread)
            except Exception as error:
                disable(error)
            return output

        return call_with_ranges

    def _native_replacement(self, original, is_compiling, begin, end, backward):
        """The same, in C (module_call.h)."""
        native = self._push is EXTENSION.rangePushA
        run = EXTENSION.ModuleCalls(
            original=original, root=self.root, local=self.local, new_call=self._new_call, unwind=self._unwind,
            disable=self._disable, note_source=self._note_source, begin=begin, end=end, tensor=backward.tensor,
            mark_within=backward.mark_within, sequence_number=backward.sequence_number, hook_of=backward.hook_of,
            push=None if native else self._push, pop=self._pop).run

        def call_with_ranges(*args, **kwargs):
            if is_compiling():
                return original(*args, **kwargs)
            return run(args, kwargs)

        return call_with_ranges

    def _new_call(self, parent, module):
        """The Call of `module` in `parent`. The root: it gets no range."""
        if not self.active:
            return self.root
        try:
            name = self.names.of(module)
            if name is None and parent is not self.root:
                self.names.name_below(parent.module(), parent.name)
                name = self.names.of(module)
            if name is None:
                if self.names.name_root(module):
                    self.root.calls.clear()  # some have new names
                name = self.names.of(module)
            added = self._added(module, name, parent)
            call = Call(weakref.ref(module), name, added, parent.path + added)
            if type(module) is self._skipped:
                call = self.root
            parent.calls[id(module)] = call
            self.names.called_by(module, parent)
            return call
        except Exception as error:
            self._disable(error)
            return self.root

    def _added(self, module, name, parent):
        if name == parent.name:
            return ()  # the module in torch.compile's wrapper, or a module that calls itself
        opaque = self._opaque_name(module)
        added = self._below(module, name, parent) if opaque is None or len(name) > 1 else ()
        return added if opaque is None else (*added, opaque)

    def _below(self, module, name, parent):
        if parent is self.root:
            if len(name) > 1:
                return name[1:]
            return () if getattr(inner_module(module), "_modules", None) else (class_name(module),)
        depth = len(parent.name)
        if len(name) > depth and name[:depth] == parent.name:
            return name[depth:]
        return (class_name(module),)

    def _unwind(self, thread, call, end):
        """Ends `call` and what is open within. Does nothing if it has no range: then the hooks were removed in it."""
        stack = thread.stack
        if call not in stack:
            return
        while True:
            last = stack.pop()
            for _ in last.names:
                self._pop()
            if last is call:
                break
        if len(stack) == 1:
            end(thread)

    def close(self):
        """No ranges from now on. Closes those of this thread; other threads close theirs."""
        self.active = False
        self.root.calls.clear()
        stack = self.local.thread.stack
        while len(stack) > 1:
            for _ in stack.pop().names:
                self._pop()


def move(holder, attribute, path, push, pop):
    """Closes the ranges in which two paths differ, and opens those of `path`. The attribute is the path that is open."""
    opened, common = getattr(holder, attribute), 0
    while common < len(opened) and common < len(path) and opened[common] == path[common]:
        common += 1
    for _ in opened[common:]:
        pop()
    setattr(holder, attribute, path[:common])  # what an error below leaves open
    for name in path[common:]:
        push(name)
    setattr(holder, attribute, path)


# Module.__getattr__ is called for what a module does not have. TorchDynamo would compile it: nothing here may call it.

def inner_module(module):
    """The one in torch.compile's wrapper; without a wrapper the module itself."""
    children = vars(module).get("_modules") or ()
    return children["_orig_mod"] if "_orig_mod" in children else module


def class_name(module):
    inner = inner_module(module)
    kind = type(inner)
    return inner.original_name if hasattr(kind, "original_name") else kind.__name__
