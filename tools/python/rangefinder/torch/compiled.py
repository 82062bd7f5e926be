# SPDX-License-Identifier: Apache-2.0
"""Ranges inside of the code that torch.compile generates.

    compile    Inductor writes a wrapper in Python: inductor.py adds a line before each kernel's call
                   _rangefinder_move(("layers", "3", "mlp"))
                   triton_poi_fused_mul_silu_7.run(…)
    run        CompiledFxGraph.__call__   paths are relative to the ranges that are open here
                   move(path)             closes and opens the ranges in which two paths differ
    replay     a CUDA graph was captured through the wrapper: its nodes have the paths, and no line runs

Code that Inductor cannot name, for one of the reasons below, is one range: (compiled Model: cpp_wrapper).

TorchDynamo must see the program that it sees without us. It skips our functions, and takes our Module.__call__ for
PyTorch's own.
"""
import functools
import importlib
import os
import sys
import types
import weakref

from . import inductor
from . import modules

AUTOTUNING = "(autotuning)"

_ranges = None  # of the hooks that are installed


def move(path):
    """Called by generated code: what follows is of the module at `path`, relative to the graph's first range."""
    ranges = _ranges
    if ranges is None:
        return
    if ranges.unmarked:
        ranges.mark_sources(path)
    ranges.move(path)


def source(path, of_class, of_call):
    """Called when generated code is loaded: the lines of the module at `path`."""
    _keep(path, (of_class, of_call, *path))


def origin(path, kernel, operators, line):
    """Called when generated code is loaded: what a kernel computes at `path`, of one line of the program."""
    _keep(path, ("kernel", kernel, operators, line))


def _keep(path, lines):
    if _ranges is not None:
        _ranges.unmarked.setdefault(path, []).append(lines)


class _Function:
    """A function that torch.compile returned."""

    __slots__ = ("names_modules",)

    def __init__(self):
        self.names_modules = False  # a graph in it does. Known after its first call


class _PathMoves:
    """What the extension has in C (node_hook.h)."""

    def move(self, path):
        thread = self._local.thread
        if thread.compiled is None or not self.active:
            return
        try:
            modules.move(thread, "compiled", path, self._push, self._pop)
        except Exception as error:
            self.disable(error)


_Moves = _PathMoves
if modules.EXTENSION is not None:
    _Moves = modules.EXTENSION.Compiled  # type: ignore[misc]


class CompiledRanges(_Moves):
    """Any thread, on the state of the calling thread: the path that is open, None outside of compiled graphs."""

    def __init__(self, torch, push, pop, ranges, steps, sources, is_compiling, disable):
        self._torch = torch
        self._push, self._pop = push, pop
        self._native = modules.EXTENSION is not None and push is modules.EXTENSION.rangePushA
        self._local = ranges.local
        self._names = ranges.names
        self._steps = steps
        self._sources = sources
        self.unmarked = {}  # path -> lines of its marks, until its first range: of code that was loaded and did not run yet
        self._is_compiling = is_compiling
        self.disable = disable  # takes an error of ours. The program continues
        self._replace = None
        self._undo = None
        self._unnamed = None  # why Inductor's kernels get no names. None: not known yet, empty: they get names
        self._known = {}      # id of a compiled module -> (weak reference, why its kernels have no names)
        self.active = False

    def install(self, replace, undo, module_call):
        """replace(owner, name, make) and undo.append(function): of Hooks. module_call: our Module.__call__."""
        global _ranges
        self._replace, self._undo, self._module_call = replace, undo, module_call
        self.active = True
        _ranges = self
        replace(self._torch, "compile", self._make_compile)
        loader = getattr(getattr(self._torch._C, "_aoti", None), "AOTIModelPackageLoader", None)
        for name in ("run", "boxed_run"):
            replace(loader, name, lambda original: self._in_one_range(original, "(compiled: AOTInductor)"))

    def close(self):
        """No ranges from now on. Closes those of this thread."""
        global _ranges
        self.active = False
        if _ranges is self:
            _ranges = None
        self._close(self._local.thread)

    def unnamed(self, module):
        """Why the kernels of a module that torch.compile compiled have no names. Empty: they have."""
        entry = self._known.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else "compiled before the hooks"

    # While generated code runs.

    def mark_sources(self, path):
        """Marks the lines of the modules in `path` and of their kernels, each while it is the innermost range."""
        try:
            for end in range(len(path) + 1):
                marks = self.unmarked.pop(path[:end], None)
                if marks is not None:
                    self.move(path[:end])
                    for lines in marks:
                        self._sources.mark(lines)
        except Exception as error:
            self.disable(error)

    def _close(self, thread):
        while thread.compiled:
            thread.compiled = thread.compiled[:-1]
            self._pop()

    def make_graph_call(self, original):
        """For CompiledFxGraph.__call__."""
        def call(graph, inputs):
            if not self.active:
                return original(graph, inputs)
            thread = self._local.thread
            outer, thread.compiled = thread.compiled, ()
            try:
                self._begin_graph(thread, graph)
                return original(graph, inputs)
            finally:
                self._close(thread)
                thread.compiled = outer
                self.unmarked.clear()
        return call

    def _begin_graph(self, thread, graph):
        try:
            named = getattr(graph, "_rangefinder_named", None)
            if named is None:
                named = inductor.naming_of(getattr(graph, "source_code", ""))
                graph._rangefinder_named = named
            if named == inductor.NO_LINES:
                self.move(("(compiled: cpp_wrapper)" if self._config("cpp_wrapper") else "(compiled)",))
            elif named == inductor.MODULES and thread.function is not None:
                thread.function.names_modules = True
        except Exception as error:
            self.disable(error)

    def _config(self, name):
        return getattr(importlib.import_module(f"{self._torch.__name__}._inductor.config"), name, False)

    def aside(self, original):
        """For what measures kernels: it runs in a path of its own, since it is no work of the module that is open."""
        def run(*args, **kwargs):
            thread = self._local.thread
            if not self.active or thread.is_aside or self._is_compiling():
                return original(*args, **kwargs)
            calls = [name for call in thread.stack for name in call.names]
            names, thread.compiled = thread.compiled, None
            within = calls + list(names or ())
            thread.is_aside = True
            try:
                for _ in within:
                    self._pop()
                self._push(AUTOTUNING)
                return original(*args, **kwargs)
            finally:
                thread.is_aside = False
                if self.active:
                    self._pop()
                    for name in within:
                        self._push(name)
                thread.compiled = names
        return run

    def _in_one_range(self, original, name):
        def run(*args, **kwargs):
            if not self.active or self._is_compiling():
                return original(*args, **kwargs)
            self._push(name)
            try:
                return original(*args, **kwargs)
            finally:
                self._pop()
        return run

    # While the program asks for compilation.

    def _make_compile(self, original):
        def compile(*args, **kwargs):
            model = args[0] if args else kwargs.get("model")
            if model is None or not self.active:
                return original(*args, **kwargs)  # a decorator, which calls torch.compile with the function
            backend = kwargs.get("backend", "inductor")
            try:
                why = self._prepare() if not isinstance(backend, str) or backend == "inductor" else f"backend {backend}"
            except Exception as error:
                self.disable(error)
                why = "error"
            return self._compiled(model, original(*args, **kwargs), why)
        return compile

    def _prepare(self):
        """Before the first compilation: Inductor's classes exist. Returns why its kernels get no names."""
        if self._unnamed is None:
            paths = inductor.Paths(self._names, self._sources)
            if inductor.install(self._torch.__name__, self._replace, self, paths, self._local):
                self._unnamed = ""
            else:
                self._unnamed = f"PyTorch {self._torch.__version__}"
            self._hide_from_dynamo()
        return self._unnamed

    def _hide_from_dynamo(self):
        """TorchDynamo goes straight to forward() where Module.__call__ is the function that it knows."""
        for name in ("utils", "variables.nn_module"):
            module = self._dynamo(name)
            known = getattr(module, "unpatched_nn_module_call", None)
            if known is not None:
                module.unpatched_nn_module_call = self._module_call
                original = self._module_call.__wrapped__
                self._undo.append(lambda module=module: setattr(module, "unpatched_nn_module_call", original))
        skip = getattr(self._dynamo("eval_frame"), "skip_code", lambda code: None)  # what it calls is not skipped
        package = __name__.partition(".")[0]
        folder = os.path.dirname(os.path.dirname(_codes.__code__.co_filename))  # not what contextlib makes of ours
        for name, module in list(sys.modules.items()):
            if module is not None and name.startswith(package):
                for code in _codes(vars(module).values(), module.__name__):
                    if code.co_filename.startswith(folder):
                        skip(code)

    def _dynamo(self, name):
        return importlib.import_module(f"{self._torch.__name__}._dynamo.{name}")

    def _compiled(self, model, compiled, why):
        """What torch.compile(model) returns, compiled without us."""
        module = self._torch.nn.Module
        bound = None if isinstance(model, module) else getattr(model, "__self__", None)
        if isinstance(model, module) or (isinstance(bound, module) and model.__name__ == "_call_impl"):
            for each in (bound, compiled):  # Module.compile() compiles _call_impl
                if isinstance(each, module):
                    self._note(each, why)
            return compiled
        if not isinstance(compiled, types.FunctionType):
            return compiled  # a class
        if why:
            name = f"(compiled {getattr(model, '__name__', 'function')}: {why})"
            return functools.wraps(compiled)(self._in_one_range(compiled, name))
        return self._with_steps(compiled)

    def _note(self, module, why):
        key = id(module)
        self._known[key] = (weakref.ref(module, lambda _: self._known.pop(key, None)), why)

    def _with_steps(self, compiled):
        """A function that TorchDynamo compiles. Its calls are steps, if it calls modules."""
        function = _Function()

        @functools.wraps(compiled)
        def call(*args, **kwargs):
            if self._is_compiling() or not self.active:
                return compiled(*args, **kwargs)
            thread = self._local.thread
            outer, thread.function = thread.function, function
            ends = False
            try:
                if function.names_modules and outer is None and len(thread.stack) == 1:
                    ends = self._steps.begin_function(thread)
                return compiled(*args, **kwargs)
            finally:
                thread.function = outer
                if ends:
                    self._steps.end_function(thread)

        return call


def _codes(things, module):
    """Code of the functions and methods of a module, and of the functions that they make."""
    for thing in things:
        if isinstance(thing, type) and thing.__module__ == module:
            yield from _codes(vars(thing).values(), module)
        elif isinstance(thing, types.FunctionType) and thing.__module__ == module:
            yield from _codes((thing.__code__,), module)
        elif isinstance(thing, types.CodeType):
            yield thing
            yield from _codes(thing.co_consts, module)
