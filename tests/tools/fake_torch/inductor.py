# SPDX-License-Identifier: Apache-2.0
"""A small fake of torch.compile and Inductor, with the entry points that tools/python replaces.

A program compiles what graph() of its module returns: kernels, each with the FX nodes that it computes. The generated
wrapper is Python text, kept in `cache` by the key that FxGraphHashDetails makes, as Inductor's caches on disk keep it.
"""
import hashlib
import sys
import types

from . import Module, _module, launch
import fake_torch as torch

cache = {}       # key -> source
compilations = []  # sources that were generated
skipped = []     # code that TorchDynamo skips
config = types.SimpleNamespace(cpp_wrapper=False)
V = types.SimpleNamespace(graph=None)


class Node:
    """An FX node: `expression` is that of the module it was called in, as TorchDynamo writes it."""

    def __init__(self, operation, expression=None, module=None, backward=False):
        self.op, self.target = "call_function", f"aten.{operation}.default"
        stack = {str(id(module)): (expression, type(module))} if expression else None
        self.meta = {"fwd_nn_module_stack" if backward else "nn_module_stack": stack} if stack else {}


class Kernel:
    def __init__(self, name, *nodes, extern=False, tuned=False):
        self.name, self.nodes, self.extern, self.tuned = name, nodes, extern, tuned
        self.origins, self.python_kernel_name = nodes, name

    def codegen(self, wrapper):
        wrapper.writeline(f"launch({self.name!r})")


class Lines:
    def __init__(self):
        self.lines = []

    def writeline(self, line):
        self.lines.append(line)


class PythonWrapperCodegen:
    comment = "#"

    def __init__(self):
        self.imports, self.body = Lines(), Lines()
        self.write_header()

    def write_header(self):
        self.imports.writeline("from fake_torch import launch")

    def writeline(self, line):
        self.body.writeline(line)

    def source(self):
        return "\n".join([*self.imports.lines, "def call(args):", *("    " + line for line in self.body.lines)])


class CppWrapper(PythonWrapperCodegen):
    comment = "//"


class Scheduler:
    def codegen_extern_call(self, scheduler_node):
        scheduler_node.node.codegen(V.graph.wrapper_code)


class TritonScheduling:
    def codegen_comment(self, node_schedule, kernel_name=None):
        V.graph.wrapper_code.writeline(f"# {kernel_name}")


class CachingAutotuner:
    def __init__(self, name):
        self.name = name

    def autotune_to_one_config(self):
        launch("measurement")

    def run(self):
        self.autotune_to_one_config()
        launch(self.name)


class FxGraphHashDetails:
    def __init__(self, gm, example_inputs, fx_kwargs, inputs_to_check):
        self.code = [(kernel.name, [node.target for node in kernel.nodes]) for kernel in gm.kernels]


class GraphModule:
    def __init__(self, kernels):
        self.kernels = kernels
        self.graph = types.SimpleNamespace(nodes=[node for kernel in kernels for node in kernel.nodes])

    def modules(self):
        return [self]


class CompiledFxGraph:
    def __init__(self, source):
        self.source_code = source
        names = {"CachingAutotuner": CachingAutotuner}
        exec(source, names)
        self.current_callable = names["call"]

    def __call__(self, inputs):
        return self.current_callable(inputs)


def compile_fx(kernels):
    gm = GraphModule(kernels)
    details = vars(FxGraphHashDetails(gm, (), {}, ()))
    key = hashlib.sha256(repr(sorted(details.items())).encode()).hexdigest()
    if key not in cache:
        cache[key] = generate(gm)
        compilations.append(cache[key])
    return CompiledFxGraph(cache[key])


def generate(gm):
    wrapper = (CppWrapper if config.cpp_wrapper else PythonWrapperCodegen)()
    V.graph = types.SimpleNamespace(wrapper_code=wrapper, device_types={"cuda"})
    for kernel in gm.kernels:
        if kernel.extern:
            Scheduler().codegen_extern_call(types.SimpleNamespace(node=kernel))
            continue
        TritonScheduling().codegen_comment([types.SimpleNamespace(node=kernel)], kernel.name)
        wrapper.writeline(f"CachingAutotuner({kernel.name!r}).run()" if kernel.tuned else f"launch({kernel.name!r})")
    V.graph = None
    return wrapper.source()


class OptimizedModule(Module):
    def __init__(self, module, forward):
        super().__init__(_orig_mod=module)
        self.forward = forward


def compile(model=None, *, backend="inductor"):
    """`model`: a module with graph(), or a function that has the attribute `graph`."""
    if model is None:
        return lambda model: torch.compile(model, backend=backend)
    graphs = {}

    def run(*args):
        if backend != "inductor":
            launch("eager kernel")
            return torch.Tensor()
        if "forward" not in graphs:
            graphs["forward"] = compile_fx(model.graph())
        graphs["forward"](args)
        return torch.Tensor()

    return OptimizedModule(model, run) if isinstance(model, Module) else run


def install():
    """Puts the fake in place. Returns a function that removes it."""
    for name, things in {
            "_inductor.virtualized": {"V": V}, "_inductor.scheduler": {"Scheduler": Scheduler},
            "_inductor.codegen.wrapper": {"PythonWrapperCodegen": PythonWrapperCodegen},
            "_inductor.codegen.triton": {"TritonScheduling": TritonScheduling},
            "_inductor.codecache": {"FxGraphHashDetails": FxGraphHashDetails},
            "_inductor.output_code": {"CompiledFxGraph": CompiledFxGraph}, "_inductor.config": vars(config),
            "_inductor.runtime.triton_heuristics": {"CachingAutotuner": CachingAutotuner},
            "_dynamo.eval_frame": {"skip_code": skipped.append},
            "_dynamo.utils": {"unpatched_nn_module_call": Module.__call__},
            "_dynamo.variables.nn_module": {"unpatched_nn_module_call": Module.__call__}}.items():
        vars(_module(name)).update(things)
    torch.__version__ = "2.11.0"
    torch.compile = compile

    def remove():
        for name in [name for name in sys.modules if name.startswith(("fake_torch._inductor", "fake_torch._dynamo"))]:
            del sys.modules[name]
        del torch.compile, torch._inductor, torch._dynamo
        cache.clear()
        compilations.clear()
        skipped.clear()
    return remove
