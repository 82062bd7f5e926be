#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: ranges against an NVTX tool that logs, enable(), old names, examples in docstrings, import time.

python_package_test.py NVTX_TOOL [FOLDER]   FOLDER: of the package with the extension; without it, ranges by ctypes
"""
import ctypes
import doctest
import importlib
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL, FOLDER = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "tools/python")
HAS_EXTENSION = len(sys.argv) > 2
del sys.argv[1:]
sys.path.insert(0, FOLDER)
import rangefinder  # noqa: E402
from rangefinder import _recording  # noqa: E402

sys.path.append(str(ROOT / "tools/python"))
import python_api  # noqa: E402


INJECTION = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "RANGEFINDER_NVTX_CHAIN")


def python(code, **environment):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("RANGEFINDER_") and name not in INJECTION}
    return subprocess.run([sys.executable, "-c", code], env={**clean, "PYTHONPATH": FOLDER, "PYTHONDONTWRITEBYTECODE": "1", **environment},
                          capture_output=True, text=True, timeout=60, check=False)


class Ranges(unittest.TestCase):
    def log_of(self, code):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            done = python("import rangefinder\n" + code, NVTX_INJECTION64_PATH=TOOL, NVTX_LOG=log)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            with open(log, encoding="utf-8") as file:
                return file.read().splitlines()

    def test_the_extension_is_there_where_it_was_built(self):
        self.assertEqual(HAS_EXTENSION, rangefinder.range.__module__ == "rangefinder"
                         and "rangefinder._range" in sys.modules)

    def test_ranges_nest_and_a_name_is_registered_once(self):
        self.assertEqual(self.log_of('with rangefinder.range("a"), rangefinder.range("b"):\n pass\n'
                                     'with rangefinder.range("a"): pass'),
                         ["register default a", "push default a", "register default b", "push default b",
                          "pop default", "pop default", "push default a", "pop default"])

    def test_a_domain_a_color_and_declared_bytes(self):
        self.assertEqual(self.log_of('with rangefinder.range("a", bytes=2**40, domain="mine", color=0x112233): pass'),
                         ["domain mine", "register mine a", "category mine 21062 rangefinder.bytes",
                          "push mine a category 21062 payload 1099511627776 color ff112233", "pop mine"])

    def test_a_mark_of_a_domain(self):
        function = "rangefinder._range.domainMarkA" if HAS_EXTENSION else "rangefinder._ranges.mark"
        self.assertEqual(self.log_of(f'for i in (1, 2): {function}("mine", "text %d é" % i)'),
                         ["domain mine", "mark mine text 1 é", "mark mine text 2 é"])

    def test_an_error_ends_the_range(self):
        log = self.log_of('try:\n with rangefinder.range("a"): raise KeyError\nexcept KeyError: pass')
        self.assertEqual(log[-2:], ["push default a", "pop default"])

    def test_a_decorated_function_keeps_its_name_and_result(self):
        log = self.log_of('@rangefinder.range("f")\ndef g(x, *, y): return x + y\n'
                          'assert (g.__name__, g(1, y=2), g(3, y=4)) == ("g", 3, 7)')
        self.assertEqual(log[1:], ["push default f", "pop default"] * 2)

    def test_coroutines_and_generators_are_refused(self):
        async def coroutine():
            pass

        def generator():
            yield

        for function in (coroutine, generator):
            with self.assertRaisesRegex(TypeError, "cannot decorate"):
                rangefinder.range("x")(function)

    @unittest.skipIf(HAS_EXTENSION and sys.version_info < (3, 10), "Python 3.9 finds no signature of such a type")
    def test_help_shows_the_arguments(self):
        self.assertEqual(["name", "bytes", "domain", "color"],
                         [name for name in inspect.signature(rangefinder.range).parameters if name != "self"])

    def test_wrong_arguments_are_refused(self):
        for error, arguments in ((TypeError, {"name": 5}), (TypeError, {"name": "x", "domain": 5}),
                                 (TypeError, {"name": "x", "bytes": 1.5}), (ValueError, {"name": "x", "bytes": -1}),
                                 (ValueError, {"name": "x", "bytes": 2**64}), (TypeError, {}),
                                 (ValueError, {"name": "x", "color": 0x1000000})):
            with self.assertRaises(error):
                rangefinder.range(**arguments)

    def test_numbers_of_other_libraries_are_bytes_too(self):
        class Number:
            def __index__(self):
                return 8

        with rangefinder.range("x", bytes=Number()):
            pass

    def test_many_names_do_not_fill_the_memory(self):
        log = self.log_of('for i in range(16390):\n with rangefinder.range("n%d" % i): pass')
        self.assertEqual(len(log), 2 * 16390 + 16384)
        self.assertEqual(log[-2:], ["push default unregistered n16389", "pop default"])


    def log_of_hooks(self, code):
        return self.log_of(f"import sys; sys.path.append({str(ROOT / 'tests/tools')!r})\n"
                           "import fake_torch as torch\n"
                           "from fake_torch import cases\n"
                           "from rangefinder.torch import hooks\n"
                           "installed = hooks.Hooks(torch, hooks.modules.EXTENSION)\n"
                           "installed.install()\n"
                           f"{code}\n"
                           "installed.uninstall()\n")

    @unittest.skipUnless(HAS_EXTENSION, "the hooks push through the extension")
    def test_hooks_of_modules_push_their_names(self):
        log = self.log_of_hooks("torch.set_grad_enabled(False); cases.make_model()(torch.Tensor())")
        pushes = [line for line in log if line.startswith("push")]
        self.assertEqual(pushes[:7], [f"push default {name}" for name in (
            "step", "stem", "block", "layers", "0", "act", "layers")])
        self.assertEqual(len(pushes), log.count("pop default"))
        self.assertEqual(log.count("register default layers"), 1)

    @unittest.skipUnless(HAS_EXTENSION, "the hooks push through the extension")
    def test_hooks_of_graph_nodes_push_the_levels_that_differ(self):
        log = self.log_of_hooks("torch.backward(torch.op('loss', cases.make_model()(torch.Tensor())))")
        log = log[len(log) - log[::-1].index("push default backward") - 1:]
        self.assertEqual([line for line in log if not line.startswith(("register", "domain"))], [
            *(f"push default {name}" for name in ("backward", "head")), "pop default",
            *(f"push default {name}" for name in ("block", "layers", "1", "Act")), "pop default",
            *("pop default",) * 3, "push default stem", *("pop default",) * 3])


class Enable(unittest.TestCase):
    def setUp(self):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith("RANGEFINDER_") and name not in INJECTION}
        self.enter(mock.patch.dict(os.environ, kept, clear=True))
        self.enter(mock.patch.object(rangefinder, "injection_library", lambda: "/opt/librangefinder.so"))
        self.enter(mock.patch.object(rangefinder, "_used", lambda: False))

    def enter(self, patch):
        patch.start()
        self.addCleanup(patch.stop)

    def test_sets_what_run_sets(self):
        self.assertTrue(rangefinder.enable(out="t-%p", counters="exact", max_size_mb=5, monitor=True))
        found = {name: value for name, value in os.environ.items()
                 if name.startswith("RANGEFINDER_") or name in INJECTION}
        found.pop("RANGEFINDER_CUPTI_FOLDER", None)
        self.assertEqual(found, {
            "CUDA_INJECTION64_PATH": "/opt/librangefinder.so", "NVTX_INJECTION64_PATH": "/opt/librangefinder.so",
            "RANGEFINDER_OUT": os.path.join(os.getcwd(), "t-%p"), "RANGEFINDER_COUNTERS": "exact",
            "RANGEFINDER_START": "off", "RANGEFINDER_MAX_SIZE_MB": "5", "RANGEFINDER_MONITOR": "on"})

    def test_another_nvtx_tool_gets_the_calls_too(self):
        os.environ["NVTX_INJECTION64_PATH"] = "/opt/other.so"
        rangefinder.enable()
        self.assertEqual(os.environ["RANGEFINDER_NVTX_CHAIN"], "/opt/other.so")

    def test_changes_nothing_under_run(self):
        os.environ["CUDA_INJECTION64_PATH"] = "/usr/lib/librangefinder.so"
        self.assertFalse(rangefinder.enable())
        self.assertNotIn("RANGEFINDER_OUT", os.environ)

    def test_another_cuda_tool_is_an_error(self):
        os.environ["CUDA_INJECTION64_PATH"] = "/opt/nsys.so"
        with self.assertRaisesRegex(RuntimeError, "loads only one tool"):
            rangefinder.enable()

    def test_too_late_after_cuda_was_initialised(self):
        for code, late in ((3, False), (0, True), (100, True)):
            driver = mock.Mock()
            driver.cuDeviceGetCount.return_value = code
            with mock.patch.object(_recording, "_cuda", lambda mode=0, driver=driver: driver):
                self.assertEqual(_recording._cuda_is_initialised(), late)
        with mock.patch.object(_recording, "_cuda_is_initialised", lambda: True):
            with self.assertRaisesRegex(RuntimeError, "before CUDA is initialised"):
                rangefinder.enable()

    def test_too_late_after_the_first_range(self):
        done = python("import rangefinder\nwith rangefinder.range('x'): pass\nrangefinder.enable()")
        self.assertIn("before the first range", done.stderr)

    def test_a_driver_that_is_not_mapped_is_not_loaded_by_the_check(self):
        with mock.patch.object(ctypes, "CDLL", side_effect=OSError) as load:
            self.assertFalse(_recording._cuda_is_initialised())
        self.assertEqual(load.call_args.kwargs, {"mode": os.RTLD_NOLOAD})


class Schedule(unittest.TestCase):
    def test_records_the_active_iterations_of_each_cycle(self):
        iteration, recorded = 0, []

        class Window:
            def __init__(self, counters, out):
                recorded.append([counters, out, iteration])
                self.path = None

            def __enter__(self):
                return self

            def __exit__(self, *exception):
                recorded[-1].append(iteration)
                self.path = f"/t{len(recorded)}"

        module = importlib.import_module("rangefinder.torch.schedule")
        with mock.patch.object(module, "window", Window):
            with module.schedule(wait=1, warmup=1, active=3, repeat=2, counters="exact", out="/t") as s:
                for iteration in range(1, 20):
                    s.step()

        self.assertEqual(recorded, [["exact", "/t", 2, 5], ["exact", None, 7, 10]])
        self.assertEqual(s.paths, ["/t1", "/t2"])

    def test_no_active_iteration_is_an_error(self):
        for wait, active in ((0, 0), (-1, 1)):
            with self.assertRaises(ValueError):
                importlib.import_module("rangefinder.torch").schedule(wait=wait, warmup=0, active=active)


class Package(unittest.TestCase):
    def test_old_names_work_and_warn(self):
        for old, name in (("rangefinder_torch", "install"), ("rangefinder_control", "yielded")):
            with self.assertWarnsRegex(DeprecationWarning, f"{old} is now rangefinder"):
                sys.modules.pop(old, None)
                self.assertTrue(callable(getattr(importlib.import_module(old), name)))

    def test_examples_of_the_docstrings(self):
        runner = doctest.DocTestRunner()
        sys.modules["torch"] = importlib.import_module("fake_torch")
        self.addCleanup(sys.modules.pop, "torch")
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        for name in INJECTION:
            os.environ.pop(name, None)
        installation = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, installation)
        pathlib.Path(installation, "lib").mkdir()
        pathlib.Path(installation, "lib/librangefinder.so").touch()
        with mock.patch.object(rangefinder, "_used", lambda: False), \
                mock.patch.object(rangefinder, "tree", lambda: installation):
            for name, documented in python_api.public_names(rangefinder):
                examples = doctest.DocTestParser().get_doctest(documented.__doc__, {}, name, "", 0)
                self.assertTrue(examples.examples, f"{name} has no example")
                runner.run(examples)
                for variable in INJECTION:
                    os.environ.pop(variable, None)
        self.assertEqual(0, runner.summarize().failed)
        self.assertGreater(runner.tries, 15)

    def test_the_page_is_made_from_the_docstrings(self):
        page = (ROOT / "docs/python-api.md").read_text(encoding="utf-8")
        self.assertEqual(page, python_api.page(rangefinder), "run: python3 tools/python/python_api.py > docs/python-api.md")

    def test_the_command_of_a_package_without_the_program_says_what_to_install(self):
        code = ("import rangefinder; rangefinder.tree = lambda: '/nowhere'; "
                "from rangefinder import _command; _command.main()")
        self.assertIn("Install the wheel", python(code).stderr)
        self.assertNotIn("Traceback", python(code).stderr)

    def test_importing_adds_at_most_20_ms_of_cpu_time(self):
        code = "import time; t = time.process_time(); import rangefinder; print((time.process_time() - t) * 1000)"
        with tempfile.TemporaryDirectory() as cache:  # compiled, as an installed package is
            times = [float(python(code, PYTHONPYCACHEPREFIX=cache, PYTHONDONTWRITEBYTECODE="").stdout)
                     for _ in range(6)]
        self.assertLess(min(times), 20)

    def test_importing_loads_neither_torch_nor_cuda(self):
        self.assertEqual("[]\n", python(
            "import sys, rangefinder; print([name for name in sys.modules if 'torch' in name])").stdout)


if __name__ == "__main__":
    unittest.main()
