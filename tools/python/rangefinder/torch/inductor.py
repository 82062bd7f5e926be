# SPDX-License-Identifier: Apache-2.0
"""Names for the kernels that Inductor generates: which modules of the model a kernel computes.

    nodes of the FX graph            mul     of L['self'].layers.3.mlp.act
                                     mm      of L['self'].layers.3.mlp.up_proj
    kernel of one module             layers/3/mlp/up_proj
    fused over modules               layers/3/(post_attention_layernorm + mlp)       their deepest common parent
    with an operation of the parent  layers/3/mlp/(act_fn + mul)

nn_module_stack in a node's meta has the modules that were being called; in a backward graph it is that of the forward
node. A module that the hooks know has its path there, as in eager code. Another one is named by the expression.

Paths are relative to the module in whose call the code is compiled: layers that share one compiled function have
paths of their own. They are written into the generated code. So they lie in Inductor's caches, whose keys get the
paths too: code that was compiled without us is compiled again, once.
"""
import hashlib
import importlib
import re

from . import sources

VERSION = "2"  # of the generated lines
IMPORT = ("from rangefinder.torch.compiled import move as _rangefinder_move, origin as _rangefinder_origin, "
          "source as _rangefinder_source")
NO_LINES, NO_MODULES, MODULES = 0, 1, 2
_MAX_MODULES = 3  # in the name of a fused kernel
_MAX_OPERATORS = 8  # of a line

# Views and constants.
_NO_WORK = frozenset((
    "alias", "arange", "as_strided", "chunk", "detach", "empty", "expand", "full", "getitem", "iota", "lift_fresh_copy",
    "permute", "reshape", "scalar_tensor", "select", "slice", "split", "split_with_sizes", "squeeze", "t", "transpose",
    "unbind", "_unsafe_view", "unsqueeze", "view"))
# Operations that do not name a fused kernel, unless it has no others: also the additions of residual connections, which
# Inductor repeats in later kernels.
_MINOR = _NO_WORK | {"add"}

_STEP = re.compile(r"\.?([A-Za-z0-9_]+)|\['([^']*)'\]|\[\"([^\"]*)\"\]|\[(\d+)\]")


def naming_of(source):
    """What the lines in generated code name."""
    if IMPORT not in source:
        return NO_LINES
    return MODULES if re.search(r"_rangefinder_move\(\(['\"]", source) else NO_MODULES


def install(torch, replace, ranges, paths, local):
    """Adds lines to the code that Inductor generates from now on. torch: name of the package. False: it has other entry
    points."""
    def find(module, name):
        return getattr(_import(f"{torch}._inductor.{module}"), name, _Missing)

    virtualized = _import(f"{torch}._inductor.virtualized")
    writer = Writer(getattr(virtualized, "V", None), paths, local, ranges)
    places = [
        (find("codegen.wrapper", "PythonWrapperCodegen"), "write_header", writer.make_header),
        (find("scheduler", "Scheduler"), "codegen_extern_call", writer.make_extern_call),
        (find("codegen.triton", "TritonScheduling"), "codegen_comment", writer.make_comment),
        (find("codecache", "FxGraphHashDetails"), "__init__", writer.make_key),
        (find("output_code", "CompiledFxGraph"), "__call__", ranges.make_graph_call),
    ]
    if virtualized is None or not all(name in vars(owner) for owner, name, _ in places):
        return False
    # Kernels of CUTLASS, and what measures kernels: not in every version.
    places.append((find("scheduler", "BaseScheduling"), "codegen_comment", writer.make_comment))
    autotuner = find("runtime.triton_heuristics", "CachingAutotuner")
    places += [(autotuner, name, ranges.aside) for name in ("autotune_to_one_config", "coordinate_descent_tuning")]
    places += [(find("runtime.benchmarking", name), "benchmark_gpu", ranges.aside)
               for name in ("TritonBenchmarker", "InductorBenchmarker")]
    for owner, name, make in places:
        if name in vars(owner):  # not what a base class has: that would be replaced twice
            replace(owner, name, make)
    return True


def _import(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class _Missing:
    """A class that this PyTorch does not have."""


class Writer:
    """Writes paths into generated code. Any thread that compiles."""

    def __init__(self, virtualized, paths, local, ranges):
        self._v = virtualized
        self._paths = paths
        self._local = local
        self._ranges = ranges

    def make_header(self, original):
        def write_header(wrapper, *args, **kwargs):
            original(wrapper, *args, **kwargs)
            if self._ranges.active and wrapper.comment == "#":  # a wrapper in C++ has //
                wrapper.imports.writeline(IMPORT)
        return write_header

    def make_comment(self, original):
        """For the comment before the call of a generated kernel."""
        def codegen_comment(scheduling, node_schedule, *args, **kwargs):
            original(scheduling, node_schedule, *args, **kwargs)
            name = args[0] if args else kwargs.get("kernel_name")
            self._write(lambda: _nodes_of_schedule(node_schedule), str(name or ""))
        return codegen_comment

    def make_extern_call(self, original):
        def codegen_extern_call(scheduler, scheduler_node):
            if type(scheduler_node.node).__name__ != "MultiOutput":  # an element of what another call returned
                self._write(lambda: _nodes_of_extern(scheduler_node.node))
            return original(scheduler, scheduler_node)
        return codegen_extern_call

    def make_key(self, original):
        """For the key of the cache: two graphs that compute the same may have other names."""
        def initialise(details, gm, *args, **kwargs):
            original(details, gm, *args, **kwargs)
            if self._ranges.active:
                try:
                    details.rangefinder = self._key(gm)
                except Exception as error:
                    self._ranges.disable(error)
        return initialise

    def _key(self, gm):
        digest = hashlib.sha256(VERSION.encode())
        base = self._base()
        for module in gm.modules() if gm is not None else ():
            for node in getattr(getattr(module, "graph", None), "nodes", ()):
                lines = self._paths.place(node), list(self._paths.sources(node, base).items())
                digest.update(repr(lines).encode("utf-8", "replace"))
        return digest.hexdigest()

    def _base(self):
        """Path of the module in whose call, or in whose backward pass, code is compiled."""
        thread = self._local.thread
        if thread.tasks:
            return tuple(thread.tasks[-1].path[1:])
        return tuple(thread.stack[-1].name[1:])  # behind the number of the root

    def _write(self, find_nodes, kernel=""):
        """kernel: name of a generated one."""
        if not self._ranges.active:
            return
        try:
            graph = self._v.graph
            wrapper = graph.wrapper_code
            if wrapper.comment == "#" and "cuda" in getattr(graph, "device_types", ("cuda",)):
                nodes, base = find_nodes(), self._base()
                path = self._paths.of_kernel(nodes, base)
                wrapper.writeline(f"_rangefinder_move({path!r})")
                while getattr(wrapper, "parent_wrapper", None) is not None:
                    wrapper = wrapper.parent_wrapper
                written = wrapper.__dict__.setdefault("_rangefinder_written", set())
                self._write_sources(wrapper, written, path, nodes, base)
                if kernel:
                    self._write_origins(wrapper, written, path, nodes, kernel)
        except Exception as error:
            self._ranges.disable(error)

    def _write_origins(self, wrapper, written, path, nodes, kernel):
        """At the start of the wrapper."""
        for place, operators in self._paths.origins(nodes):
            line = f"_rangefinder_origin({path!r}, {kernel!r}, {operators!r}, {place!r})"
            if line not in written:
                written.add(line)
                wrapper.imports.writeline(line)

    def _write_sources(self, wrapper, written, path, nodes, base):
        """Once for each module, at the start of the wrapper."""
        if path in written:
            return
        written.add(path)
        for node in nodes:
            if self._paths.of(node, base) != path:
                continue
            for module, lines in self._paths.sources(node, base).items():
                if module and any(lines) and (module == path or module not in written):
                    written.add(module)
                    wrapper.imports.writeline(f"_rangefinder_source({module!r}, *{lines!r})")
            return


def _nodes_of_extern(kernel):
    """The FX node of a call of a library. What computes its input is among its origins too."""
    node = getattr(kernel, "origin_node", None)
    if node is not None:
        return [node]
    nodes = _in_order(getattr(kernel, "origins", None) or ())
    name = str(getattr(kernel, "op_overload", None) or getattr(kernel, "python_kernel_name", None) or "")
    return [node for node in nodes if _operation(node) in name.split(".")][-1:] or nodes[-1:]


def _nodes_of_schedule(schedule):
    """FX nodes that a generated kernel computes."""
    nodes = []
    for scheduled in schedule:
        parts = getattr(scheduled, "get_nodes", None)
        for part in parts() if parts is not None else (scheduled,):
            nodes += getattr(getattr(part, "node", None), "origins", None) or ()
    return _in_order(dict.fromkeys(nodes))


def _in_order(nodes):
    """In the order of the graph."""
    try:
        return sorted(nodes)
    except TypeError:  # nodes have an order from PyTorch 2.5 on
        return list(nodes)


class Paths:
    """Paths of FX nodes and of kernels. names: modules.Names; lines: sources.Sources."""

    def __init__(self, names, lines):
        self._names = names
        self._sources = lines

    def of_kernel(self, nodes, base):
        """Path of a kernel that computes these nodes: () where no module is known."""
        found = {}  # path -> operations
        for node in nodes:
            path = self.of(node, base)
            if path is not None:
                found.setdefault(path, []).append(_operation(node))
        named = {path: operations for path, operations in found.items() if not _MINOR.issuperset(operations)}
        found = named or found
        paths = list(found)
        if len(paths) <= 1:
            return paths[0] if paths else ()
        common = _common(paths)
        parts = {}  # first component below the parent -> paths
        for path in paths:
            parts.setdefault(path[len(common):len(common) + 1], []).append(path)
        labels = [".".join(_common(part)[len(common):]) or _own(found[common], common) for part in parts.values()]
        more = len(labels) - _MAX_MODULES
        label = " + ".join(labels[:_MAX_MODULES]) + (f" + {more} more" if more > 0 else "")
        return common + (f"({label})",)

    def of(self, node, base):
        """Path of the module that an FX node was called in, below `base`. None where it is not known."""
        entries = _entries(node)
        return self._path(entries, base) if entries else None

    def sources(self, node, base):
        """{path: (line of its class, line of its call)} of the modules that were being called."""
        entries = _entries(node)
        frames = self._sources.frames(getattr(node, "meta", {}).get("stack_trace") or "")
        return {self._path(entries[:end], base): self._sources.of_traced(entries[end - 1][1][1], frames)
                for end in range(1, len(entries) + 1)}

    def place(self, node):
        """model.py:264 with its folder: the line of the program that an FX node is from. "": not known."""
        frames = self._sources.frames(getattr(node, "meta", {}).get("stack_trace") or "")
        return sources.place(*frames[-1]) if frames else ""

    def origins(self, nodes):
        """(line of the program, "silu, mul") of what a kernel computes, in the order of the graph."""
        found = {}  # line -> operators
        for node in nodes:
            operator = _operator(node)
            if getattr(node, "op", "") == "call_function" and operator not in _NO_WORK:
                found.setdefault(self.place(node), {})[operator.strip("_")] = None
        for place, operators in found.items():
            more = len(operators) - _MAX_OPERATORS
            yield place, ", ".join(list(operators)[:_MAX_OPERATORS]) + (f" and {more} more" if more > 0 else "")

    def _path(self, entries, base):
        name = self._known(*entries[-1])
        if name is None:
            name = _named_by_expression(entries)
        return name[len(base):] if name[:len(base)] == base else name

    def _known(self, key, entry):
        """Path of a module that the hooks have named. The key is its id(), and @ for a further call."""
        number = str(key).split("@")[0]
        module, name = self._names.by_id(int(number)) if number.isdigit() else (None, None)
        if module is None or not isinstance(entry[1], type) or not isinstance(module, entry[1]):
            return None  # of another process, from the cache
        return name[1:]


def _entries(node):
    """(key, (expression, class)) of the modules that were being called, the outermost first."""
    meta = getattr(node, "meta", {})
    return list((meta.get("nn_module_stack") or meta.get("fwd_nn_module_stack") or {}).items())


def _named_by_expression(entries):
    """Components of L['self'].layers[0]: without the variable, which is the root."""
    expression, kind = entries[-1][1]
    variable = re.match(r"\w+(\['[^']*'\])?", expression)
    steps = expression[variable.end():] if variable is not None else expression
    names = tuple(name for name in map(_first, _STEP.findall(steps.split("@")[0]))
                  if name not in ("_modules", "_orig_mod"))
    if not names and isinstance(kind, type) and kind.__module__.startswith("torch.nn."):
        return (kind.__name__,)  # a layer by itself, as in eager code
    return names


def _first(groups):
    return next(filter(None, groups), "")


def _common(paths):
    shortest = min(paths, key=len)
    for i, name in enumerate(shortest):
        if any(path[i] != name for path in paths):
            return shortest[:i]
    return shortest


def _own(operations, parent):
    """What a module computes itself, beside the modules below it."""
    distinct = set(operations)
    if len(distinct) == 1 or not parent:
        return operations[0].strip("_")
    return parent[-1]


def _operator(node):
    """The operator of the program that an FX node is a part of, after decompositions."""
    return _name_of(getattr(node, "meta", {}).get("original_aten") or getattr(node, "target", ""))


def _operation(node):
    return _name_of(getattr(node, "target", ""))


def _name_of(target):
    """mul, for aten.mul.Tensor."""
    if getattr(target, "__module__", None) in ("_operator", "operator", "builtins"):
        return target.__name__
    parts = str(target).split(".")
    return parts[1] if len(parts) > 1 else parts[0]
