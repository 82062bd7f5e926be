# SPDX-License-Identifier: Apache-2.0
"""Ranges inside of code that torch.compile generates: against a fake of Inductor, and names of recorded graphs."""
import gzip
import importlib
import json
import os
import sys
import unittest

import fake_torch as torch
from fake_torch import inductor as fake
from fake_torch.cases import FakeTest
from rangefinder.torch import hooks, inductor

HERE = os.path.dirname(os.path.abspath(__file__))
Kernel, Node = fake.Kernel, fake.Node


class Mlp(torch.nn.Module):
    pass


class Layer(torch.nn.Module):
    def forward(self, x):
        return x

    def graph(self):
        """As the first layer, which TorchDynamo traced: other layers run the same code."""
        return self.kernels("L['self']")

    def kernels(self, own):
        return [Kernel("mm", Node("mul", f"{own}.norm", self.norm), Node("mm", f"{own}.mlp.up", self.mlp.up),
                       extern=True),
                Kernel("silu_mul", Node("silu", f"{own}.mlp.act", self.mlp.act), Node("mul", f"{own}.mlp", self.mlp)),
                Kernel("mm_1", Node("mm", f"{own}.mlp.down", self.mlp.down), extern=True)]


class Model(torch.nn.Module):
    def graph(self):
        first, second = self.layers
        return [*first.kernels("L['self'].layers.0"),
                Kernel("add_norm", Node("silu", "L['self'].layers.0.mlp.act", first.mlp.act),
                       Node("add", "L['self'].layers.0", first), Node("pow", "L['self'].layers.1.norm", second.norm)),
                *second.kernels("L['self'].layers.1"), Kernel("loss", Node("log_softmax"))]

    def forward(self, x):
        return [layer(x) for layer in self.layers]


def make_layer():
    part = torch.nn.Module
    return Layer(norm=part(), mlp=Mlp(up=part(), act=part(), down=part()))


def make_model():
    return Model(layers=torch.ModuleList(make_layer(), make_layer()))


class CompiledTest(FakeTest):
    def setUp(self):
        remove = fake.install()
        self.addCleanup(remove)
        super().setUp()

    def restart(self):
        """The hooks of another process, with the same cache on disk."""
        self.hooks.uninstall()
        torch.launches.clear()
        self.hooks = hooks.Hooks(torch, torch._C._nvtx)
        self.hooks.install()


class Paths(CompiledTest):
    def test_kernels_have_the_paths_of_eager_code(self):
        torch.compile(make_model())(torch.Tensor())

        self.assertEqual(["step/layers/0/mlp/up", "step/layers/1/mlp/up"], self.paths("mm"))
        self.assertEqual(["step/layers/0/mlp/(act + mul)", "step/layers/1/mlp/(act + mul)"], self.paths("silu_mul"))
        self.assertEqual(["step/layers/0/mlp/down", "step/layers/1/mlp/down"], self.paths("mm_1"))
        self.assertEqual(["step/layers/(0.mlp.act + 1.norm)"], self.paths("add_norm"))  # without the residual's sum
        self.assertEqual(["step"], self.paths("loss"))

    def test_neighbouring_calls_share_the_ranges_of_their_common_modules(self):
        torch.compile(make_model())(torch.Tensor())

        opened = [name for name, _ in torch.pushes]
        self.assertEqual(["step", "layers", "0", "mlp", "up", "(act + mul)", "down", "(0.mlp.act + 1.norm)",
                          "1", "mlp", "up", "(act + mul)", "down"], opened)

    def test_layers_that_share_compiled_code_have_paths_of_their_own(self):
        model = make_model()
        compiled = torch.compile(model.layers._modules["0"])
        for name in ("0", "1"):
            layer = model.layers._modules[name]
            layer.forward = compiled.forward
        model(torch.Tensor())

        self.assertEqual(["step/layers/0/mlp/down", "step/layers/1/mlp/down"], self.paths("mm_1"))
        self.assertEqual(1, len(fake.compilations))

    def test_a_module_that_is_compiled_in_place_has_names_too(self):
        model = make_model()
        model._call_impl = lambda *args: None
        model._compiled_call_impl = torch.compile(type("Bound", (), {
            "__self__": model, "__name__": "_call_impl", "graph": model.graph, "__call__": lambda self: None})())
        model.forward = model._compiled_call_impl
        model(torch.Tensor())

        self.assertEqual(["step/layers/0/mlp/down", "step/layers/1/mlp/down"], self.paths("mm_1"))

    def test_modules_that_were_never_called_are_named_by_the_expression(self):
        def decode(x):
            return None

        layer = make_layer()
        decode.graph = lambda: [Kernel("mm", Node("mm", "G['m'].model.layers._modules['0'].mlp@1", layer.mlp), extern=True),
                                Kernel("bias", Node("mul", "L['self'].blocks[3].norm", layer.norm))]
        torch.compile(decode)(torch.Tensor())

        self.assertEqual((["model/layers/0/mlp"], ["blocks/3/norm"]), (self.paths("mm"), self.paths("bias")))

    def test_a_backward_graph_hangs_below_backward(self):
        model = make_model()
        model(torch.Tensor())  # names its modules
        up = model.layers._modules["0"].mlp.up
        graph = fake.compile_fx

        def run():
            thread = self.hooks.local.thread
            self.hooks.backward.begin_pass(thread)
            compiled = graph([Kernel("mm_backward", Node("mm", "L['self'].layers.0.mlp.up", up, backward=True), extern=True)])
            compiled(())
            self.hooks.backward.close_thread(0)

        self.hooks.compiled._prepare()
        run()
        self.assertEqual(["backward/layers/0/mlp/up"], self.paths("mm_backward"))


class Whole(CompiledTest):
    def test_an_error_in_generated_code_closes_its_ranges(self):
        model = torch.compile(make_model())
        model(torch.Tensor())
        graph_call = fake.launch
        with self.assertRaises(ZeroDivisionError):
            fake.CompiledFxGraph("from rangefinder.torch.compiled import move as _rangefinder_move\n"
                                 "def call(args):\n    _rangefinder_move(('a', 'b'))\n    1 / 0")(())
        graph_call("after")
        self.assertEqual([""], self.paths("after"))

    def test_code_from_the_cache_has_the_same_ranges(self):
        torch.compile(make_model())(torch.Tensor())
        before = list(torch.launches)
        self.restart()
        torch.compile(make_model())(torch.Tensor())

        self.assertEqual(before, torch.launches)
        self.assertEqual(1, len(fake.compilations))

    def test_code_that_was_compiled_without_us_is_compiled_again_and_stays_as_it_was(self):
        self.hooks.uninstall()
        torch.compile(make_model())(torch.Tensor())
        self.restart()
        torch.compile(make_model())(torch.Tensor())
        self.assertEqual(["step/layers/0/mlp/down", "step/layers/1/mlp/down"], self.paths("mm_1"))
        self.assertEqual([False, True], ["_rangefinder" in source for source in fake.compilations])
        self.hooks.uninstall()
        torch.compile(make_model())(torch.Tensor())  # without us again: the first code
        self.assertEqual(2, len(fake.compilations))

    def test_equal_graphs_with_other_module_names_do_not_share_code(self):
        first, second = make_layer(), make_layer()
        second.norm, second.mlp._modules["renamed"] = None, second.mlp._modules.pop("up")
        second._modules["mlp"].up = second.mlp.renamed
        second.kernels = lambda own: [Kernel("mm", Node("mul", f"{own}.norm", first.norm),
                                             Node("mm", f"{own}.mlp.renamed", second.mlp.renamed), extern=True),
                                      *Layer.kernels(second, own)[1:]]
        torch.compile(first)(torch.Tensor())
        torch.compile(second)(torch.Tensor())
        self.assertEqual(["step/mlp/up", "step/mlp/renamed"], self.paths("mm"))

    def test_measuring_kernels_is_no_work_of_the_module_that_is_open(self):
        class Tuned(torch.nn.Module):
            def graph(self):
                return [Kernel("tuned", Node("mul", "L['self'].part", self.part), tuned=True)]

        torch.compile(Tuned(part=torch.nn.Module()))(torch.Tensor())
        self.assertEqual((["step/(autotuning)"], ["step/part"]), (self.paths("measurement"), self.paths("tuned")))

    def test_code_without_names_is_one_range_that_says_why(self):
        fake.config.cpp_wrapper = importlib.import_module("fake_torch._inductor.config").cpp_wrapper = True
        self.addCleanup(setattr, fake.config, "cpp_wrapper", False)
        torch.compile(make_model())(torch.Tensor())
        torch.compile(make_model(), backend="aot_eager")(torch.Tensor())

        self.assertEqual({"step/(compiled: cpp_wrapper)"}, set(self.paths("mm_1")))
        torch.compile(lambda x: x, backend="aot_eager")(torch.Tensor())
        self.assertEqual(["step/(compiled Model: backend aot_eager)", "(compiled <lambda>: backend aot_eager)"],
                         self.paths("eager kernel"))

    def test_another_pytorch_has_one_range_a_module(self):
        del fake.Scheduler.codegen_extern_call
        try:
            fake.generate = lambda gm: "from fake_torch import launch\ndef call(args):\n    launch('kernel')"
            torch.compile(make_model())(torch.Tensor())
        finally:
            importlib.reload(fake)
        self.assertEqual(["step/(compiled Model: PyTorch 2.11.0)"], self.paths("kernel"))


class Source(CompiledTest):
    def test_lines_are_those_of_the_class_and_of_its_call(self):
        """As eager code has them, from TorchDynamo's stack trace; also of code from the cache."""
        own, line = __file__, Layer.forward.__code__.co_firstlineno
        trace = "".join(f'  File "{file}", line {number}, in {name}\n    code\n' for file, number, name in (
            (own, 900, "train"), ("/app/wrapper.py", 5, "__call__"), (own, line, "forward"), (own, 950, "helper")))
        marks = []
        for _ in range(2):
            self.hooks.sources._mark = lambda domain, text: marks.append((text, "/".join(torch._stack())))
            model = make_model()
            kernel = Kernel("mm", Node("mm", "L['self'].layers.0", model.layers._modules["0"]), extern=True)
            kernel.nodes[0].meta["stack_trace"] = trace
            model.graph = lambda: [kernel, kernel]
            torch.compile(model)(torch.Tensor())
            self.restart()

        lines = (f"{own}:{line}\n{own}:900\nlayers\n0", "step/layers/0")
        self.assertEqual([lines, lines], [mark for mark in marks if mark[0].endswith("\n0")])
        self.assertEqual(1, len(fake.compilations))

    def test_generated_kernels_have_a_mark_for_each_line_of_the_program(self):
        """Also those of code from the cache, in each path."""
        def node(operation, line, operator=None, layer="0"):
            out = Node(operation, f"L['self'].layers.{layer}", model.layers._modules[layer])
            out.meta["stack_trace"] = f'  File "/app/model.py", line {line}, in forward\n    code\n' if line else ""
            out.meta["original_aten"] = operator and f"aten.{operator}.default"
            return out

        for _ in range(2):
            marks = []
            self.hooks.sources._mark = lambda domain, text: marks.append((text.split("\n"), "/".join(torch._stack())))
            model = make_model()
            kernel = Kernel("fused_0", node("sigmoid", 220, "silu"), node("mul", 220, "silu"), node("mul", 220),
                            node("view", 9), node("pow", 73), node("_softmax", 0))
            many = Kernel("fused_1", *(node(f"op{i}", 7, layer="1") for i in range(12)))
            wide = Kernel("fused_3", *(node("mul", line, layer="1") for line in range(1, 13)))
            outside = Node("exp")
            outside.op = "placeholder"
            model.graph = lambda: [kernel, many, kernel, Kernel("fused_2", outside, Node("sin")), wide]
            torch.compile(model)(torch.Tensor())

            origins = [(*lines[1:], at) for lines, at in marks if lines[0] == "kernel"]
            self.assertEqual([("fused_2", "sin", "", "step"),
                              ("fused_0", "silu, mul", "/app/model.py:220", "step/layers/0"),
                              ("fused_0", "pow", "/app/model.py:73", "step/layers/0"),
                              ("fused_0", "softmax", "", "step/layers/0"),
                              ("fused_1", "op0, op1, op2, op3, op4, op5, op6, op7 and 4 more", "/app/model.py:7",
                               "step/layers/1"),
                              *(("fused_3", "mul", f"/app/model.py:{line}", "step/layers/1") for line in range(1, 13))],
                             origins)
            self.restart()
        self.assertEqual(1, len(fake.compilations))

    def test_a_changed_line_makes_another_key(self):
        for line in (1, 2):
            model = make_model()
            kernel = Kernel("fused", Node("mul", "L['self'].layers.0", model.layers._modules["0"]))
            kernel.nodes[0].meta["stack_trace"] = f'  File "/app/model.py", line {line}, in helper\n'
            model.graph = lambda kernel=kernel: [kernel]
            torch.compile(model)(torch.Tensor())

        self.assertEqual(2, len(fake.compilations))


class Functions(CompiledTest):
    def test_each_call_of_a_compiled_function_with_modules_is_a_step(self):
        model = make_model()

        def decode(x):
            return None

        decode.graph = model.graph
        compiled = torch.compile(decode)
        for _ in range(4):
            compiled(torch.Tensor())
        # The first call compiles: what it calls is not known yet.
        self.assertEqual(["layers/0/mlp/up"] + 3 * ["step/layers/0/mlp/up"], self.paths("mm")[::2])

    def test_a_compiled_function_without_modules_begins_no_step(self):
        def scale(x):
            return None

        scale.graph = lambda: [Kernel("mul", Node("mul"))]
        compiled = torch.compile(scale)
        for _ in range(3):
            compiled(torch.Tensor())
        self.assertEqual(3 * [""], self.paths("mul"))


class Dynamo(CompiledTest):
    def test_it_takes_our_call_for_pytorchs_own_and_skips_our_functions(self):
        utils = importlib.import_module("fake_torch._dynamo.utils")
        original = utils.unpatched_nn_module_call
        function = torch.compile(lambda x: None)
        self.assertIs(torch.nn.Module.__call__, utils.unpatched_nn_module_call)
        thread = self.hooks.local.thread
        for own in (torch.nn.Module.__call__, function, type(thread).__init__, self.hooks.steps.begin_forward):
            self.assertIn(own.__code__, fake.skipped)
        self.assertFalse([code for code in fake.skipped if f"{os.sep}rangefinder{os.sep}" not in code.co_filename])
        self.hooks.uninstall()
        self.assertIs(original, utils.unpatched_nn_module_call)

    def test_no_hook_asks_a_module_for_what_it_does_not_have(self):
        torch.nn.Module.missing.clear()
        for model in (make_model(), torch.compile(make_model()), torch.compile(make_layer(), backend="eager")):
            model(torch.Tensor())
        self.assertEqual([], torch.nn.Module.missing)

    def test_the_first_call_of_a_module_runs_no_python_of_others(self):
        ours, others = os.path.dirname(os.path.dirname(hooks.install.__code__.co_filename)), []

        def note(frame, event, _):
            caller = frame.f_back.f_code.co_filename if frame.f_back else ""
            if event == "call" and caller.startswith(ours) and not frame.f_code.co_filename.startswith((ours, HERE)):
                others.append(frame.f_code)

        model = make_model()
        sys.setprofile(note)
        try:
            model(torch.Tensor())
        finally:
            sys.setprofile(None)
        self.assertEqual([], others)

    def test_nothing_is_replaced_without_the_hooks(self):
        self.hooks.uninstall()
        self.assertIs(fake.compile, torch.compile)
        self.assertEqual("__call__", fake.CompiledFxGraph.__call__.__qualname__.split(".")[-1])


class Recorded(unittest.TestCase):
    """FX nodes of kernels as PyTorch 2.11 made them on a GPU: a decoder, BERT's backward pass, ResNet, a ViT."""

    def test_kernels_are_named(self):
        with gzip.open(os.path.join(HERE, "inductor_graphs.json.gz"), "rt") as file:
            graphs = json.load(file)
        for name, graph in graphs.items():
            paths = inductor.Paths(self, None)
            got = ["/".join(paths.of_kernel([self.node(graph, *node) for node in nodes], ())) for nodes in graph["kernels"]]
            with self.subTest(name):
                self.assertEqual(graph["expected"], got)

    def by_id(self, _):
        return None, None

    @staticmethod
    def node(graph, target, stack):
        node = Node("")
        node.target = target
        entries = {str(i): (expression, type(kind.rpartition(".")[2], (), {"__module__": kind.rpartition(".")[0]}))
                   for i, (expression, kind) in enumerate(graph["stacks"][stack])}
        node.meta = {"nn_module_stack": entries}
        return node


if __name__ == "__main__":
    unittest.main()
