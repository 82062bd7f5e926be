# SPDX-License-Identifier: Apache-2.0
"""rangefinder/_start/sitecustomize.py in separate Python processes, with the fake torch in their path."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
HOOKS = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "tools", "python", "rangefinder", "_start")


class SiteCustomize(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(os.path.join(FOLDER, "fake_torch"), os.path.join(self.folder, "torch"))

    def python(self, code, modules="1", next_one=None):
        if next_one is not None:
            with open(os.path.join(self.folder, "sitecustomize.py"), "w", encoding="utf-8") as file:
                file.write(next_one)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([HOOKS, self.folder]),
                       "RANGEFINDER_TORCH_MODULES": modules, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def check_prints(self, text, code, **options):
        self.assertEqual((0, text + "\n", ""), self.python(code, **options))

    def test_hooks_are_in_place_right_after_the_import_of_torch(self):
        self.check_prints("1 SourceFileLoader dict_keys(['name', 'path'])",
                          "import torch; loader = torch.__loader__; "
                          "print(len(torch._before_step), type(loader).__name__, vars(loader).keys())")

    def test_without_the_variable_torch_is_unchanged(self):
        self.check_prints("0", "import torch; print(len(torch._before_step))", modules="0")

    def test_pytorch_is_asked_to_release_cupti_before_it_is_imported(self):
        self.check_prints("1", "import torch, os; print(os.environ['TEARDOWN_CUPTI'])")

    def test_a_program_without_torch_loads_no_hooks(self):
        self.check_prints("[]", "import sys; print([name for name in sys.modules if 'torch' in name])")

    def test_looking_for_torch_without_importing_it_changes_nothing(self):
        self.check_prints("1", "import importlib.util; importlib.util.find_spec('torch'); "
                               "import torch; print(len(torch._before_step))")

    def test_the_next_sitecustomize_runs_under_its_name(self):
        self.check_prints("sitecustomize", "import sitecustomize; print(sitecustomize.mark)",
                          next_one="mark = __name__\n")

    def test_another_copy_of_this_file_adds_nothing(self):
        with open(os.path.join(HOOKS, "sitecustomize.py"), encoding="utf-8") as file:
            copy = file.read()
        self.check_prints("1", "import torch; print(len(torch._before_step))", next_one=copy)

    def test_an_exit_without_handlers_ends_the_recording_first(self):
        runtime = os.path.join(self.folder, "runtime")
        os.makedirs(os.path.join(runtime, "rangefinder"))
        # The socket of its own process, as the library has it.
        code = ("import os, socket, threading\n"
                f"server = socket.socket(socket.AF_UNIX); server.bind(f'{runtime}/rangefinder/{{os.getpid()}}.sock')\n"
                "server.listen()\n"
                "def answer():\n"
                "    connection = server.accept()[0]\n"
                "    print(connection.recv(100).decode(), end='', flush=True)\n"
                "    connection.send(b'{\"ok\":true}\\n')\n"
                "threading.Thread(target=answer).start()\n"
                "os._exit(7)\n")
        os.environ["XDG_RUNTIME_DIR"] = runtime
        self.addCleanup(os.environ.pop, "XDG_RUNTIME_DIR")
        self.assertEqual((7, '{"v":1,"command":"stop"}\n', ""), self.python(code))

    def test_an_exit_of_a_process_that_records_nothing_is_as_before(self):
        self.assertEqual((7, "", ""), self.python("import os; os._exit(7)"))
        self.assertEqual((7, "", ""), self.python(
            "import os\npid = os.fork()\nif pid == 0: os._exit(7)\nos._exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))"))

    def test_an_error_of_the_next_sitecustomize_is_reported_and_the_hooks_stay(self):
        code, out, err = self.python("import torch; print(len(torch._before_step))",
                                     next_one="raise ValueError('mine')\n")

        self.assertEqual((0, "1\n"), (code, out))
        self.assertIn("mine", err)


if __name__ == "__main__":
    unittest.main()
