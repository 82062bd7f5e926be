# SPDX-License-Identifier: Apache-2.0
"""The PyTorch hooks of tools/python against PyTorch on the CPU; skipped if it is not installed."""
import importlib
import importlib.util
import os
import sys
import threading
import unittest
import unittest.mock
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "tools", "python"))

from rangefinder.torch import hooks


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class RealTorch(unittest.TestCase):
    """The same tests with PyTorch on the CPU. A recorder replaces NVTX; an autograd node stands for a kernel."""

    def setUp(self):
        self.torch = importlib.import_module("torch")
        self.stacks, self.nodes = {}, []
        nvtx = unittest.mock.Mock(spec_set=["rangePushA", "rangePop"])
        nvtx.rangePushA.side_effect = lambda name: self.stack().append(name)
        nvtx.rangePop.side_effect = lambda: self.stack().pop()
        self.hooks = hooks.Hooks(self.torch, nvtx)
        self.hooks.install()
        self.addCleanup(self.hooks.uninstall)

    def check_still_active(self):
        self.assertTrue(self.hooks.active)
        self.hooks.steps.close(self.hooks.local.thread)
        self.assertEqual([], [stack for stack in self.stacks.values() if stack], "ranges left open")

    def stack(self):
        return self.stacks.setdefault(threading.get_ident(), [])

    def watch(self, output):
        """Adds a prehook after ours to every node, which records the open range."""
        walk, seen = [output.grad_fn], set()
        while walk:
            node = walk.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            name = node.name()
            node.register_prehook(lambda _, name=name: self.nodes.append((name, "/".join(self.stack()))))
            walk.extend(following for following, _ in node.next_functions)

    def model(self):
        nn = self.torch.nn

        class Residual(nn.Module):
            def __init__(self, act):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
                self.act = act

            def forward(self, x):
                out = self.layers[1](self.act(self.layers[0](x)))
                out += x
                return self.act(out)

        act = nn.ReLU(inplace=True)
        return nn.Sequential(nn.Linear(4, 4), Residual(act), Residual(act), nn.Linear(4, 2))

    def test_every_backward_node_of_a_training_step_carries_a_module_path(self):
        model = self.model()
        optimizer = self.torch.optim.SGD(model.parameters(), lr=0.1)
        criterion = self.torch.nn.CrossEntropyLoss()
        for _ in range(2):
            self.nodes.clear()
            optimizer.zero_grad()
            loss = criterion(model(self.torch.rand(3, 4)), self.torch.tensor([0, 1, 0]))
            self.watch(loss)
            loss.backward()
            optimizer.step()

        self.assertGreater(len(self.nodes), 20)
        self.assertEqual([], [node for node in self.nodes if not node[1].startswith("step/backward/")])
        paths = {path for _, path in self.nodes}
        self.assertLessEqual({f"step/backward/{name}" for name in ("0", "1/layers/0", "1", "3", "CrossEntropyLoss")},
                             paths)
        self.check_still_active()

    def test_gradients_are_the_same_with_and_without_the_hooks(self):
        self.torch.manual_seed(0)
        model, x = self.model(), self.torch.rand(3, 4)
        model(x).sum().backward()
        hooked = [parameter.grad.clone() for parameter in model.parameters()]
        self.hooks.uninstall()
        model.zero_grad()
        model(x).sum().backward()

        for with_hooks, parameter in zip(hooked, model.parameters()):
            self.assertTrue(self.torch.equal(with_hooks, parameter.grad))

    def test_checkpointed_modules_train_and_leave_no_range_open(self):
        from torch.utils.checkpoint import checkpoint
        model = self.model()
        for reentrant in (False, True):
            x = self.torch.rand(3, 4, requires_grad=True)
            checkpoint(model, x, use_reentrant=reentrant).sum().backward()

        self.check_still_active()

    def test_scripted_and_traced_modules_run(self):
        scripted = self.torch.jit.script(self.torch.nn.Linear(4, 4))
        traced = self.torch.jit.trace(self.model(), self.torch.rand(3, 4))

        scripted(self.torch.rand(3, 4))
        traced(self.torch.rand(3, 4))

        self.check_still_active()

    def test_a_compiled_model_has_no_graph_break_for_the_hooks(self):
        compiled = self.torch.compile(self.model(), backend="eager", fullgraph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns that global hooks run for its wrapper too
            compiled(self.torch.rand(3, 4))

        self.check_still_active()

    def test_a_data_loader_returns_the_same_batches(self):
        batches = list(self.torch.utils.data.DataLoader(list(range(6)), batch_size=4))

        self.assertEqual([[0, 1, 2, 3], [4, 5]], [batch.tolist() for batch in batches])
        self.assertTrue(self.hooks.active)


if __name__ == "__main__":
    unittest.main()
