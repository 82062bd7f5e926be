# SPDX-License-Identifier: Apache-2.0
"""Control of this process's own Rangefinder, from within: windows, and giving way to another tool.

    with rangefinder_control.window(out="/data/one_step"):   # a trace of what happens here
        step()
    with rangefinder_control.yielded():                      # CUPTI is torch.profiler's here
        profile_with_torch()

Speaks to the control socket of the process (docs/control.md). Where Rangefinder is not loaded, or its socket is
switched off, both do nothing: a program keeps these lines for good. Standard library only.
"""
import contextlib
import json
import os
import socket
import sys
import time
import warnings

_PATIENCE_SECONDS = 30
_TEARDOWN_SECONDS = 5


def _connect():
    """The control socket of this process; None where there is none."""
    folders = [f"/tmp/rangefinder-{os.geteuid()}"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        folders.insert(0, f"{runtime}/rangefinder")
    for folder in folders:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(_PATIENCE_SECONDS)
        try:
            connection.connect(f"{folder}/{os.getpid()}.sock")
            return connection
        except OSError:
            connection.close()
    return None


def ask(command, **fields):
    """One request; its answer as a dictionary, or None where nobody listens. Raises RuntimeError where the
    answer is no."""
    connection = _connect()
    if connection is None:
        return None
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        lines.write(json.dumps({"v": 1, "command": command} | fields) + "\n")
        lines.flush()
        text = lines.readline()
    answer = json.loads(text) if text else {"ok": False, "error": "Rangefinder has hung up"}
    if not answer["ok"]:
        raise RuntimeError(f"rangefinder {command}: {answer['error']}")
    return answer


@contextlib.contextmanager
def window(**fields):
    """Records what happens inside. `fields`: out, counters. Gives a dictionary that has the key `folder` when
    it is over."""
    done = {}
    answer = ask("start", **fields)
    try:
        yield done
    finally:
        if answer is not None:
            done.update(ask("stop")["window"])


def _resume():
    """Takes CUPTI back; False, with a warning, where the other tool keeps it: the program goes on unrecorded.

    PyTorch's profiler keeps it for good, unless TEARDOWN_CUPTI=1 is in the environment: then it lets go in one
    of the next CUDA calls.
    """
    lets_go = os.environ.get("TEARDOWN_CUPTI") == "1"
    deadline = time.monotonic() + (_TEARDOWN_SECONDS if lets_go else 0)
    while True:
        try:
            ask("resume")
            return True
        except RuntimeError as error:
            if time.monotonic() >= deadline:
                warnings.warn(f"{error}. This process is not recorded any more", RuntimeWarning, stacklevel=4)
                return False
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.cuda.synchronize()
        time.sleep(0.02)


@contextlib.contextmanager
def yielded():
    """CUPTI is free inside; a window that was open is closed before and another one opened afterwards, if the
    tool that had CUPTI inside gives it back."""
    status = ask("status")
    recording = status is not None and status["state"] == "recording"
    if recording:
        ask("stop")
    if status is not None:
        ask("yield")
    try:
        yield
    finally:
        if status is not None and _resume() and recording:
            ask("start")
