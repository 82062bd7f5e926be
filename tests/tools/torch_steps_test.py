# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hooks of tools/python against a strict fake: the range `step`."""
import importlib
import threading
import unittest

import fake_torch as torch
from fake_torch.cases import FakeTest, make_model


class Training(FakeTest):
    def setUp(self):
        super().setUp()
        self.model, self.optimizer = make_model(), torch.SGD()
        self.loader = importlib.import_module("fake_torch.utils.data.dataloader")._BaseDataLoaderIter

    def steps(self):
        """Instances of `step`, of all threads, that have ended or are open."""
        return sum(name == "step" for name, level in torch.pushes if level == 0)

    def train(self, batches, copies=3, optimizers=None):
        for _ in self.loader(batches):
            for _ in range(copies):
                image = torch.Tensor(place="cpu").to("cuda")
            torch.backward(torch.op("loss", self.model(image)))
            for optimizer in optimizers or [self.optimizer]:
                optimizer.step()
            torch.launch("zero_grad")

    def test_an_iteration_of_three_copies_is_one_step_with_all_of_its_work(self):
        self.train(4)

        self.assertEqual(4, self.steps())
        self.assertEqual(["step/dataloader"] * 4, self.paths("batch"))
        self.assertEqual(["step/H2D"] * 12, self.paths("copy"))
        self.assertEqual(["step/stem", "step/block/layers/0", "step/block/layers/1", "step/head"] * 4,
                         self.paths("conv"))
        self.assertEqual(["step/optimizer/SGD"] * 4, self.paths("step"))
        self.assertEqual(["step"] * 4, self.paths("zero_grad"))

    def test_moving_the_model_begins_no_step(self):
        self.model.to("cuda")

        self.assertEqual((["H2D"], 0), (self.paths("copy"), self.steps()))

    def test_two_optimizers_of_an_iteration_make_one_step(self):
        self.train(4, optimizers=[self.optimizer, torch.SGD()])

        self.assertEqual(4, self.steps())

    def test_a_data_set_without_length_leaves_no_step_open(self):
        for _ in self.loader(3, sized=False):
            torch.backward(torch.op("loss", self.model(torch.Tensor(place="cpu").to("cuda"))))
            self.optimizer.step()
        torch.launch("after")

        self.assertEqual([""], self.paths("after"))

    def test_an_optimizer_that_replaces_another_counts_from_its_second_step_on(self):
        self.train(2)

        self.train(4, optimizers=[torch.SGD()])

        self.assertEqual({"step"}, set(self.paths("zero_grad")))
        self.assertEqual(2 + 1 + 2, self.steps())  # the first two of the new one are one step

    def test_accumulated_gradients_are_one_step(self):
        for _ in range(3):
            for _ in range(4):
                torch.backward(torch.op("loss", self.model(torch.Tensor(place="cpu").to("cuda"))))
            self.optimizer.step()

        self.assertEqual(3, self.steps())  # the first one too

        torch.Tensor(place="cpu").to("cuda")
        self.assertEqual(4, self.steps())

    def test_steps_whose_optimizer_calls_no_hook_end_with_the_backward_pass(self):
        for _ in range(64 + 3):
            torch.backward(torch.op("loss", self.model(torch.Tensor(place="cpu").to("cuda"))))
            torch.launch("update")

        self.assertEqual((1 + 2, {"step"}), (self.steps(), set(self.paths("update"))))  # the first has 65 of them

    def test_steps_without_an_optimizer_end_with_the_backward_pass(self):
        self.hooks.uninstall()
        self.hooks = type(self.hooks)(torch, torch._C._nvtx)  # knows of no optimizer
        self.hooks.install()
        for _ in range(3):
            torch.backward(torch.op("loss", self.model(torch.Tensor(place="cpu").to("cuda"))))
            torch.launch("update")

        # The first forward pass looks like inference.
        self.assertEqual((3, ["", "step", "step"]), (self.steps(), self.paths("update")))

    def test_evaluation_has_no_step(self):
        self.train(2)
        torch.set_grad_enabled(False)
        before = self.steps()
        torch.launches.clear()

        for _ in self.loader(3):
            self.model(torch.Tensor(place="cpu").to("cuda"))

        self.assertEqual(before, self.steps())
        self.assertEqual((["dataloader"] * 3, ["H2D"] * 3), (self.paths("batch"), self.paths("copy")))
        self.assertNotIn("step", [path.split("/")[0] for path, _ in torch.launches])

    def test_a_program_that_names_its_iterations_has_no_step(self):
        for number in range(3):
            torch.cuda.nvtx.range_push(f"iterations{number}")
            self.train(1)
            torch.cuda.nvtx.range_pop()

        self.assertEqual(0, self.steps())
        self.assertEqual([f"iterations{number}/H2D" for number in (0, 0, 0, 1, 1, 1, 2, 2, 2)], self.paths("copy"))

    def test_ranges_of_the_program_within_an_iteration_hang_below_the_step(self):
        for _ in self.loader(3):
            torch.cuda.nvtx.range_push("forward")
            output = self.model(torch.Tensor(place="cpu").to("cuda"))
            torch.cuda.nvtx.range_pop()
            torch.backward(torch.op("loss", output))
            torch.cuda.nvtx.range_push("update")
            self.optimizer.step()
            torch.cuda.nvtx.range_pop()

        self.assertEqual(3, self.steps())
        self.assertEqual((["step/forward/stem"] * 3, ["step/update/optimizer/SGD"] * 3),
                         (self.paths("conv")[::4], self.paths("step")))

    def test_a_range_that_we_cannot_see_keeps_its_pop(self):
        torch._C._nvtx.rangePushA("from C++")
        self.train(2)
        torch.launch("after")
        torch._C._nvtx.rangePop()

        self.assertEqual((["from C++"], ["from C++/optimizer/SGD"] * 2), (self.paths("after"), self.paths("step")))

    def test_a_closure_of_the_optimizer_is_in_its_step_and_beside_its_own_work(self):
        class LBFGS(torch.SGD):
            def step(self, *args, **kwargs):
                args = (self, *args)
                for hook in torch._before_step:
                    args, kwargs = hook(self, args, kwargs) or (args, kwargs)
                closure = kwargs["closure"] if kwargs else args[1]
                for _ in range(2):
                    closure()
                    torch.launch("update")
                for hook in torch._after_step:
                    hook(self, args, kwargs)

        def closure():
            torch.backward(torch.op("loss", self.model(torch.Tensor())))

        optimizer = LBFGS()
        optimizer.step(closure)
        optimizer.step(closure=closure)

        self.assertEqual((2, ["step"] * 4), (self.steps(), self.paths("loss")))
        self.assertEqual(["step/stem"] * 4, self.paths("conv")[::4])
        self.assertEqual(["step/optimizer/LBFGS"] * 4, self.paths("update"))

    def test_a_thread_that_prefetches_has_no_step(self):
        thread = threading.Thread(target=lambda: torch.Tensor(place="cpu").to("cuda"))
        thread.start()
        thread.join()

        self.assertEqual((["H2D"], 0), (self.paths("copy"), self.steps()))


class Inference(FakeTest):
    def test_each_forward_of_an_outermost_module_is_a_step(self):
        torch.set_grad_enabled(False)
        model = make_model()
        for _ in range(3):
            image = torch.Tensor(place="cpu").to("cuda")
            model(image)
            torch.launch("between")

        self.assertEqual((["step/stem"] * 3, ["H2D"] * 3, [""] * 3),
                         (self.paths("conv")[::4], self.paths("copy"), self.paths("between")))

    def test_within_a_range_of_the_program_it_is_not(self):
        torch.cuda.nvtx.range_push("iterations0")
        make_model()(torch.Tensor())
        torch.cuda.nvtx.range_pop()

        self.assertEqual("iterations0/stem", self.paths("conv")[0])


if __name__ == "__main__":
    unittest.main()
