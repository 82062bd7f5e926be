# SPDX-License-Identifier: Apache-2.0
"""Controls Rangefinder from within the traced program: opens windows, releases CUPTI for another tool.

    with control.window(out="/data/one_step"):   # records a trace of this block
        step()
    with control.yielded():                      # torch.profiler can use CUPTI in this block
        profile_with_torch()

Uses the control socket of the process (docs/internals/control.md). If Rangefinder is not loaded, or its socket is switched
off, both do nothing, so a program can keep these lines. Standard library only.
"""
from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    import socket
    from typing import Any, Dict, Iterator, Optional

_TIMEOUT_SECONDS = 30
_TEARDOWN_SECONDS = 5


def _connect() -> Optional[socket.socket]:
    """Connects to the control socket of this process; None: there is none."""
    import socket  # here, because it takes milliseconds

    folders = [f"/tmp/rangefinder-{os.geteuid()}"]
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/"):
        folders.insert(0, f"{runtime}/rangefinder")
    for folder in folders:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(_TIMEOUT_SECONDS)
        try:
            connection.connect(f"{folder}/{os.getpid()}.sock")
            return connection
        except OSError:
            connection.close()
    return None


def ask(command: str, **fields: object) -> Optional[Dict[str, Any]]:
    """Sends a request. Returns the answer as a dictionary, or None without a socket. Raises RuntimeError if the
    request is refused."""
    import json

    connection = _connect()
    if connection is None:
        return None
    with connection, connection.makefile("rw", encoding="utf-8") as lines:
        lines.write(json.dumps({"v": 1, "command": command} | fields) + "\n")
        lines.flush()
        text = lines.readline()
    answer: Dict[str, Any] = json.loads(text) if text else {"ok": False, "error": "Rangefinder closed the connection"}
    if not answer["ok"]:
        raise RuntimeError(f"rangefinder {command}: {answer['error']}")
    return answer


@contextlib.contextmanager
def window(**fields: object) -> Iterator[Dict[str, Any]]:
    """Records the block. `fields`: out, counters. Yields a dictionary, which has the key `folder` after the
    block."""
    done: Dict[str, Any] = {}
    answer = ask("start", **fields)
    try:
        yield done
    finally:
        if answer is not None:
            done.update((ask("stop") or {}).get("window", {}))


def _resume() -> bool:
    """Takes CUPTI back. False, with a warning: the other tool keeps it, and the program continues unrecorded.

    PyTorch's profiler never releases CUPTI, unless TEARDOWN_CUPTI=1 is in the environment. Then it releases CUPTI
    in one of the next CUDA calls.
    """
    releases = os.environ.get("TEARDOWN_CUPTI") == "1"
    deadline = time.monotonic() + (_TEARDOWN_SECONDS if releases else 0)
    while True:
        try:
            ask("resume")
            return True
        except RuntimeError as error:
            if time.monotonic() >= deadline:
                warnings.warn(f"{error}. Kernels of this process are no longer recorded", RuntimeWarning, stacklevel=4)
                return False
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.cuda.synchronize()
        time.sleep(0.02)


def _give_up(cause: str) -> bool:
    """Releases CUPTI. True: that closed the open window, because it cannot go on (monitor mode; threads that call CUDA
    without a pause)."""
    try:
        ask("yield", keep_window=True, cause=cause)
        return False
    except RuntimeError:
        if (ask("status") or {}).get("state") != "recording":
            raise
    ask("stop")
    ask("yield")
    return True


@contextlib.contextmanager
def yielded(cause: str = "yield") -> Iterator[None]:
    """Releases CUPTI for the block, for the tool `cause`. An open window goes on, with NVTX ranges only, and its
    trace has a gap for the block. After the block kernels are recorded again, if the other tool has released CUPTI.

    Does nothing where Rangefinder is inactive. Errors: RuntimeError if Rangefinder refuses. A RuntimeWarning: the other
    tool keeps CUPTI, and kernels are no longer recorded.

    >>> from rangefinder import control
    >>> with control.yielded("torch.profiler"):
    ...     pass
    """
    there = ask("status") is not None
    reopens = there and _give_up(cause)
    try:
        yield
    finally:
        if there and _resume() and reopens:
            ask("start")
