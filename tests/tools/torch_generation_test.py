# SPDX-License-Identifier: Apache-2.0
"""The ranges of transformers' generate(), against a strict fake of PyTorch and a package of that name."""
import importlib
import os
import sys
import tempfile
import unittest
import unittest.mock

import fake_torch as torch
from fake_torch.cases import FakeTest, Layer, Model, make_model

UTILS = '''
import fake_torch as torch

class GenerationMixin:
    def generate(self, tokens, fail=False):
        """As transformers' own: the first pass reads the prompt."""
        torch.launch("prepare")
        for number in range(tokens):
            self(torch.Tensor())
            torch.launch("choose")
            if fail:
                raise RuntimeError("generate failed")
'''


class Generate(FakeTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.makedirs(os.path.join(folder.name, "transformers", "generation"))
        for name, text in (("__init__.py", ""), ("generation/__init__.py", ""), ("generation/utils.py", UTILS)):
            with open(os.path.join(folder.name, "transformers", name), "w", encoding="utf-8") as file:
                file.write(text)
        path = unittest.mock.patch.object(sys, "path", [folder.name, *sys.path])
        path.start()
        self.addCleanup(path.stop)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in list(sys.modules) if name.startswith("transformers")])
        importlib.invalidate_caches()
        super().setUp()
        torch.set_grad_enabled(False)

    def model(self):
        mixin = importlib.import_module("transformers.generation.utils").GenerationMixin
        made = make_model()
        made.__class__ = type("Decoder", (Model, mixin), {})
        return made

    def opened(self):
        return [name for name, level in torch.pushes if level == 0]

    def test_the_prompt_is_prefill_and_each_further_token_decode(self):
        model = self.model()
        for _ in range(3):
            model.generate(4)

        self.assertEqual(3 * ["prefill", "decode", "decode", "decode"], self.opened())
        self.assertEqual(3 * ["prefill/stem", "decode/stem", "decode/stem", "decode/stem"], self.paths("conv")[::4])
        self.assertEqual(3 * ["prefill", "decode", "decode", "decode"], self.paths("choose"))
        self.assertEqual(3 * ["prefill"], self.paths("prepare"))

    def test_a_forward_pass_outside_of_generate_is_a_step(self):
        model = self.model()
        model(torch.Tensor())
        model.generate(1)
        model(torch.Tensor())

        self.assertEqual(["step", "prefill", "step"], self.opened())

    def test_another_outermost_module_is_in_the_range_that_is_open(self):
        model, encoder = self.model(), Layer()
        type(model).__call__ = lambda self, x: (encoder(x), torch.nn.Module.__call__(self, x))
        model.generate(2)

        self.assertEqual(["prefill/Layer", "prefill/Layer"], self.paths("conv")[:1] + self.paths("conv")[5:6])
        self.assertEqual(["prefill", "decode"], self.opened())

    def test_an_error_in_generate_closes_its_range(self):
        model = self.model()
        with self.assertRaises(RuntimeError):
            model.generate(3, fail=True)
        torch.launch("after")

        self.assertEqual([""], self.paths("after"))

    def test_a_package_that_was_imported_before_is_hooked_too_and_restored(self):
        self.hooks.uninstall()
        mixin = importlib.import_module("transformers.generation.utils").GenerationMixin
        original = mixin.generate
        self.hooks = type(self.hooks)(torch, torch._C._nvtx)
        self.hooks.install()
        self.model().generate(2)
        self.assertEqual(["prefill", "decode"], self.opened())
        self.hooks.uninstall()
        self.assertIs(original, mixin.generate)
        self.assertFalse([each for each in sys.meta_path if "rangefinder" in type(each).__module__])


if __name__ == "__main__":
    unittest.main()
