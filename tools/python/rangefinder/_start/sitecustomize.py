# SPDX-License-Identifier: Apache-2.0
"""What `rangefinder run` adds to Python programs. Python runs this file at start: `run` puts its folder in PYTHONPATH.

    os._exit                    first ends the recording: no handler runs at that exit, by which forked
                                children of multiprocessing end
    import torch                with --torch-modules: installs ranges around modules afterwards
    the next sitecustomize      runs, under its name, since this file hides it

A program that never imports torch only pays for one more entry in sys.meta_path, and that only with --torch-modules.
"""
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import sys

try:
    import _socket  # socket takes milliseconds
except ImportError:  # an interpreter without sockets
    _socket = None  # type: ignore[assignment]

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = os.path.dirname(os.path.dirname(_FOLDER))  # holds the package rangefinder
_EXIT_SECONDS = 5.0  # a process waits no longer for its trace to be written


def _end_recording():
    """Asks Rangefinder in this process to write its trace. Returns when it is written, or after _EXIT_SECONDS.

    Imports no package: another thread may hold an import's lock.
    """
    folders = [f"/tmp/rangefinder-{os.geteuid()}"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        folders.insert(0, f"{runtime}/rangefinder")
    for folder in folders:
        path = f"{folder}/{os.getpid()}.sock"
        if not os.path.exists(path):
            continue  # the usual case: a child that uses no GPU
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(_EXIT_SECONDS)
        connection.connect(path)
        owner = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 4)
        if int.from_bytes(owner, sys.byteorder) != os.getpid():
            continue  # of another container, whose processes have the same numbers
        connection.send(b'{"v":1,"command":"stop"}\n')
        while connection.recv(4096)[-1:] not in (b"\n", b""):
            pass
        return


def _write_before_exit():
    original = os._exit
    if _socket is None or hasattr(original, "_of_rangefinder"):
        return  # another copy of this file was here

    @functools.wraps(original)
    def _exit(status):
        try:
            _end_recording()
        except Exception:
            pass  # the process ends as it would without Rangefinder
        original(status)

    _exit._of_rangefinder = True
    os._exit = _exit


class _AfterTorch:
    """A meta-path finder that finds torch through the other finders and acts after its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        spec = None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if find is None or _is_ours(finder):
                continue
            spec = find(name, path, target)
            if spec is not None:
                break
        if spec is not None and spec.loader is not None:
            self._act_after(spec.loader)
        return spec

    def _act_after(self, loader):
        run_module = getattr(loader, "exec_module", None)
        if run_module is None:
            return

        def exec_module(module):
            # Restore the loader, so that torch.__loader__ is unchanged.
            loader.__dict__.pop("exec_module", None)
            teardown_is_ours = _before_torch()
            run_module(module)  # may raise an error of torch: then this finder tries again at the next import
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            _install(teardown_is_ours)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a loader without __dict__: no ranges


def _is_ours(finder):
    """Also that of another copy of this file: both asking each other would never end."""
    return type(finder).__name__ == _AfterTorch.__name__


def _import(name):
    """From this installation, also where another one is in sys.path."""
    sys.path.insert(0, _PACKAGES)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(_PACKAGES)


def _before_torch():
    try:
        return _import("rangefinder.torch.profiler").request_teardown()
    except Exception:
        return False  # _install() meets the same error and reports it


def _install(teardown_is_ours=False):
    try:
        _import("rangefinder.torch").install(teardown_is_ours)
    except Exception as error:  # an error here must not reach the program
        import warnings

        warnings.warn(f"rangefinder: no ranges on PyTorch modules: {error!r}", RuntimeWarning)


def _run_next_sitecustomize():
    """Runs the sitecustomize that this one hides, under its name. Its errors are not caught. That may be another copy
    of this file, which runs none that ran before."""
    folders = sys.__dict__.setdefault("_rangefinder_sitecustomize", [])
    folders.append(_FOLDER)
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) not in folders]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_write_before_exit()
if os.environ.get("RANGEFINDER_TORCH_MODULES", "off") not in ("", "0", "off"):
    if "torch" in sys.modules:
        _install()
    elif not any(map(_is_ours, sys.meta_path)):
        sys.meta_path.insert(0, _AfterTorch())
_run_next_sitecustomize()
