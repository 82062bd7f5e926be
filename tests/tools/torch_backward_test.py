# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hooks of tools/python against a strict fake: backward passes."""
import unittest

import fake_torch as torch
from fake_torch.cases import FakeTest, Layer, make_model
import rangefinder_autograd


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

    def test_a_second_step_does_not_hook_parameters_twice(self):
        model = make_model()
        self.train_step(model)
        self.train_step(model)

        self.assertEqual(1, len(model.stem.weight._accumulator.prehooks))
        self.assertEqual(3, len(self.paths("convBackward")))

    def test_without_gradients_no_node_is_visited(self):
        torch.set_grad_enabled(False)
        make_model()(torch.Tensor())

        self.assertEqual({}, self.hooks.backward._hooks)

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
        stale = rangefinder_autograd._Task(77)
        backward._thread.tasks.append(stale)
        backward._move(stale, ("backward", "old"))
        original = rangefinder_autograd._called_from_python
        rangefinder_autograd._called_from_python = lambda: False  # as on a thread of the engine
        try:
            self.train_step(on_this_thread=True)
        finally:
            rangefinder_autograd._called_from_python = original

        self.assertEqual("backward/stem", self.paths("convBackward")[-1])

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
