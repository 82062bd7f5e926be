# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hooks of tools/python against a strict fake: forward, optimizers, data, copies."""
import gc
import importlib
import unittest
import unittest.mock
import warnings

import fake_torch as torch
from fake_torch.cases import CALL, FakeTest, Layer, Model, make_model


class Names(FakeTest):
    def test_path_is_the_dotted_name_with_slashes_and_the_root_adds_nothing(self):
        make_model()(torch.Tensor())

        self.assertEqual(["step/stem", "step/block/layers/0", "step/block/layers/1", "step/head"], self.paths("conv"))
        self.assertEqual(["step/block"], self.paths("add"))
        # A shared module keeps its first name, and elsewhere shows its class.
        self.assertEqual(["step/block/layers/0/act", "step/block/layers/1/Act"], self.paths("relu"))

    def test_an_unregistered_module_shows_its_class(self):
        class Outer(torch.nn.Module):
            def forward(self, x):
                return Layer()(self.stem(x))

        for model, paths in ((Layer(), ["Layer"]), (Outer(stem=Layer()), ["step/stem", "step/Layer"])):
            torch.launches.clear()
            model(torch.Tensor())
            self.assertEqual(paths, self.paths("conv"))

    def test_a_child_that_is_added_later_is_named(self):
        model = make_model()
        model(torch.Tensor())
        model.block._modules["layers"]._modules["2"] = Layer()
        torch.launches.clear()

        model(torch.Tensor())

        self.assertIn("step/block/layers/2", self.paths("conv"))

    def test_a_submodule_called_before_its_parent_is_renamed_by_it_and_keeps_its_full_path_afterwards(self):
        model = make_model()
        model.block(torch.Tensor())
        torch.launches.clear()

        model(torch.Tensor())
        model.block(torch.Tensor())

        layers = ["step/block/layers/0", "step/block/layers/1"]
        self.assertEqual(["step/stem", *layers, "step/head", *layers], self.paths("conv"))

    def test_a_compiled_module_is_one_range_and_hides_its_wrapper(self):
        class Compiled(torch.nn.Module):
            def forward(self, x):
                torch.op("fused", x)
                return self._orig_mod(x)

        Compiled(_orig_mod=make_model())(torch.Tensor())

        self.assertEqual(["step/(compiled Model: compiled before the hooks)"], self.paths("fused"))
        self.assertEqual("step/(compiled Model: compiled before the hooks)/stem", self.paths("conv")[0])

    def test_names_do_not_keep_modules_alive(self):
        model = make_model()
        model(torch.Tensor())
        del model
        gc.collect()

        self.assertEqual({}, self.hooks.modules.names._entries)
        self.assertEqual({}, self.hooks.modules.root.calls)

    def test_a_module_that_never_launches_work_has_no_range(self):
        class Outer(torch.nn.Module):
            def forward(self, x):
                return self.nothing(torch.op("own", x))

        with unittest.mock.patch.object(self.hooks, "push") as pushed:
            Outer(nothing=torch.nn.Identity())(torch.Tensor())

        self.assertEqual(["step"], self.paths("own"))
        pushed.assert_not_called()

    def test_keyword_arguments_and_the_result_are_passed_on(self):
        class Outer(torch.nn.Module):
            def forward(self, x, *, scale):
                return x, scale

        self.assertEqual((1, 2), Outer(stem=Layer())(1, scale=2))


class Balance(FakeTest):
    def test_an_exception_in_a_forward_closes_its_ranges(self):
        class Failing(torch.nn.Module):
            def forward(self, x):
                raise ValueError("no")

        class Outer(torch.nn.Module):
            def forward(self, x):
                try:
                    self.bad(x)
                except ValueError:
                    pass
                return self.good(x)

        Outer(bad=Failing(), good=Layer())(torch.Tensor())

        self.assertEqual(["step/good"], self.paths("conv"))

    def test_an_interrupt_of_the_user_in_a_forward_closes_its_ranges(self):
        class Interrupted(torch.nn.Module):
            def forward(self, x):
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            Model(stem=Layer(), block=Interrupted(), head=Layer())(torch.Tensor())

        torch.launch("after")
        self.assertEqual([""], self.paths("after"))

    def test_nothing_is_pushed_while_a_compiler_traces(self):
        torch.compiling(True)
        make_model()(torch.Tensor())
        torch.compiling(False)

        self.assertEqual({""}, {path for path, _ in torch.launches})

    def test_an_error_in_the_hooks_removes_them_with_one_warning(self):
        self.hooks.modules.names.name_root = None

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            make_model()(torch.Tensor())

        self.assertEqual(1, len(caught))
        self.assertIs(CALL, torch.nn.Module.__call__)
        self.assertEqual(4, len(self.paths("conv")))

    def test_uninstall_restores_replaced_functions(self):
        self.assertIn("to", vars(torch.Tensor))

        self.hooks.uninstall()

        self.assertNotIn("to", vars(torch.Tensor))
        self.assertIs(torch._engine_run_backward, torch.autograd._engine_run_backward)
        make_model()(torch.Tensor())
        self.assertEqual({""}, {path for path, _ in torch.launches})

    def test_hooks_that_are_removed_within_a_forward_leave_nothing_open(self):
        class Outer(torch.nn.Module):
            def forward(_, x):
                self.hooks.uninstall()
                return torch.op("after", _.stem(x))

        Outer(stem=Layer())(torch.Tensor())

        self.assertEqual([""], self.paths("after"))

    def test_hooks_that_are_removed_within_an_optimizer_step_leave_nothing_open(self):
        class Failing(torch.SGD):
            def step(failing):
                for hook in list(torch._before_step):
                    hook(failing, (), {})
                self.hooks.uninstall()

        Failing().step()
        torch.launch("after")

        self.assertEqual([""], self.paths("after"))

    def test_a_replacement_on_top_of_ours_stays_and_calls_an_inactive_one(self):
        ours = torch.nn.Module.__call__
        torch.nn.Module.__call__ = lambda module, *args: ours(module, *args)
        try:
            self.hooks.uninstall()
            make_model()(torch.Tensor())
        finally:
            torch.nn.Module.__call__ = CALL

        self.assertEqual({""}, {path for path, _ in torch.launches})


class Surroundings(FakeTest):
    def test_an_optimizer_step_has_a_range_also_after_a_failed_one(self):
        optimizer = torch.SGD()
        with self.assertRaises(RuntimeError):
            optimizer.step(fail=True)

        optimizer.step()

        self.assertEqual(["step/optimizer/SGD"] * 2, self.paths("step"))

    def test_the_wait_for_a_batch_has_a_range(self):
        loader = importlib.import_module("fake_torch.utils.data.dataloader")._BaseDataLoaderIter(2)

        self.assertEqual([0, 1], list(loader))

        self.assertEqual(["dataloader"] * 2, self.paths("batch"))

    def test_only_copies_from_host_to_gpu_have_a_range(self):
        torch.Tensor(place="cpu").to("cuda:0", non_blocking=True)
        torch.Tensor(place="cpu").cuda()
        torch.Tensor(place="cpu").to(torch.device("cuda"))
        torch.Tensor(place="cuda").to("cuda")
        torch.Tensor(place="cpu").to("cpu")
        torch.Tensor(place="cpu").to(target="cpu")

        self.assertEqual(["H2D"] * 3 + [""] * 3, self.paths("copy"))

    def test_moving_a_module_is_one_range(self):
        self.assertIsInstance(make_model().to("cuda"), Model)

        self.assertEqual(["H2D"], self.paths("copy"))


if __name__ == "__main__":
    unittest.main()
