# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hooks of tools/python against a strict fake: backward passes."""
import unittest
import unittest.mock
import warnings

import fake_torch as torch
from fake_torch.cases import FakeTest, Layer, make_model
from rangefinder.torch import autograd, modules


class Backward(FakeTest):
    def train_step(self, model=None, **options):
        output = (model or make_model())(torch.Tensor())
        torch.launches.clear()
        torch.backward(torch.op("loss", output), **options)

    def test_every_node_runs_under_the_path_of_its_module(self):
        self.train_step()

        modules = ["backward/head", "backward/block/layers/1", "backward/stem"]
        for label, paths in (("convBackward", modules), ("addBackward", ["backward/block"]),
                             ("reluBackward", ["backward/block/layers/1/Act"]),
                             ("lossBackward", ["backward"]),  # no module created it
                             ("sum of gradients", ["backward/block/layers/1"])):  # between nodes
            self.assertEqual(paths, self.paths(label), label)
        self.assertEqual(set(modules), set(self.paths("AccumulateGrad")))

    def test_a_second_step_has_the_same_paths(self):
        model = make_model()
        self.train_step(model)
        first = torch.launches[1:]
        self.train_step(model)

        self.assertEqual(first, torch.launches[1:])  # the loss itself is in the first `step`

    def test_one_node_of_a_stretch_is_hooked(self):
        class Deep(torch.nn.Module):
            def forward(self, x):
                for _ in range(5):
                    x = torch.op("mul", x, self.weight)
                return {"nested": [x], "same": (x, None)}

        node = Deep()(torch.Tensor())["nested"][0].grad_fn

        hooked = []
        while node is not None:
            hooked.append(len(node.prehooks))
            node = node.next_functions[0][0]
        self.assertEqual([1, 0, 0, 0, 0], hooked)

    def test_what_a_module_computes_between_two_children_is_its_own(self):
        class Outer(torch.nn.Module):
            def forward(self, x):
                scaled = torch.op("mul", self.first(x), self.weight)
                return self.second(scaled)

        self.train_step(Outer(first=Layer(), second=Layer()))

        self.assertEqual(["backward"], self.paths("mulBackward"))
        self.assertEqual(["backward/second", "backward/first"], self.paths("convBackward"))

    def test_a_keyword_argument_is_a_boundary_too(self):
        class Inner(torch.nn.Module):
            def forward(self, *, x):
                return torch.op("inner", x, self.weight)

        class Outer(torch.nn.Module):
            def forward(self, x):
                return self.inner(x=torch.op("mul", x, self.weight))

        self.train_step(Outer(inner=Inner()))

        self.assertEqual((["backward/inner"], ["backward"]), (self.paths("innerBackward"), self.paths("mulBackward")))

    def test_without_gradients_no_node_is_visited(self):
        torch.set_grad_enabled(False)
        with unittest.mock.patch.object(torch.autograd, "_get_sequence_nr", side_effect=AssertionError):
            make_model()(torch.Tensor())

        self.assertTrue(self.hooks.active)

    def test_the_calling_thread_has_backward_open_while_its_pass_runs(self):
        output = make_model()(torch.Tensor())
        open_ranges = []
        stack = torch._stack()
        output.grad_fn.prehooks.append(lambda gradients: open_ranges.append(list(stack)))

        torch.backward(output)

        self.assertEqual([["backward"]], open_ranges)

    def test_a_pass_that_the_program_names_backward_has_one_level_of_that_name(self):
        output = make_model()(torch.Tensor())
        open_ranges = []
        stack = torch._stack()
        output.grad_fn.prehooks.append(lambda gradients: open_ranges.append(list(stack)))

        torch.cuda.nvtx.range_push("backward")
        torch.backward(output)
        torch.cuda.nvtx.range_pop()

        self.assertEqual([["backward"]], open_ranges)

    def test_a_pass_on_the_calling_thread_closes_its_ranges(self):
        self.train_step(on_this_thread=True)

        torch.launch("after")
        self.assertEqual([""], self.paths("after"))

    def test_a_pass_that_fails_on_the_calling_thread_closes_its_ranges(self):
        class Failing(torch.nn.Module):
            def forward(self, x):
                return torch.op("failing", x, self.weight)

        with self.assertRaisesRegex(RuntimeError, "backward failed"):
            self.train_step(Failing(), on_this_thread=True)

        torch.launch("after")
        self.assertEqual([""], self.paths("after"))

    def test_ranges_of_a_failed_pass_on_an_engine_thread_are_closed_by_the_next(self):
        backward = self.hooks.backward
        stale = autograd._Task(77)
        self.hooks.local.thread.tasks.append(stale)
        modules.move(stale, "path", ("backward", "old"), backward._push, backward._pop)
        original = autograd._called_from_python
        autograd._called_from_python = lambda: False  # as on a thread of the engine
        try:
            self.train_step(on_this_thread=True)
        finally:
            autograd._called_from_python = original

        self.assertEqual("backward/stem", self.paths("convBackward")[-1])

    def test_an_error_in_a_node_hook_leaves_nothing_open(self):
        self.hooks.backward._begin = None  # not callable
        output = Layer()(torch.Tensor())

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.backward(output)

        self.assertEqual((1, False), (len(caught), self.hooks.active))
        torch.launch("after")
        self.assertEqual([""], self.paths("after"))

    def test_a_module_that_a_backward_pass_calls_is_below_the_path_of_its_node(self):
        torch.SGD()  # a program that trains
        model, output = make_model(), make_model()(torch.Tensor())
        output.grad_fn.prehooks.append(lambda gradients: model(torch.Tensor()) and None)  # as checkpoint() does
        torch.launches.clear()

        torch.backward(output)

        self.assertEqual(["backward/head/stem", "backward/head/block/layers/0", "backward/head/block/layers/1",
                          "backward/head/head"], self.paths("conv"))

    def test_a_pass_within_a_pass_returns_to_the_outer_path(self):
        inner = Layer()(torch.Tensor())
        model = make_model()
        output = model(torch.Tensor())
        output.grad_fn.prehooks.append(lambda gradients: torch.backward(inner, on_this_thread=True))
        torch.launches.clear()

        torch.backward(output, on_this_thread=True)

        self.assertEqual(["backward/head/backward/Layer", "backward/head"], self.paths("convBackward")[:2])


if __name__ == "__main__":
    unittest.main()
