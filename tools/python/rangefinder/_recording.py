# SPDX-License-Identifier: Apache-2.0
"""Recording from within the program: enable() before CUDA starts, window() around what is recorded."""
from __future__ import annotations

import os
import time
import warnings

from . import control

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Dict, Optional, Tuple, Type

_CUDA, _NVTX, _CHAIN = "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "RANGEFINDER_NVTX_CHAIN"
_NOT_INITIALIZED = 3       # CUDA_ERROR_NOT_INITIALIZED
_SOCKET_SECONDS = 5
_END_SECONDS = 60
_POLL_SECONDS = 0.01


def _cuda(mode: int = 0) -> Any:
    import ctypes  # here, because it takes milliseconds

    try:
        return ctypes.CDLL("libcuda.so.1", mode=mode)
    except OSError:
        return None


def _cuda_is_initialised() -> bool:
    driver = _cuda(os.RTLD_NOLOAD)
    if driver is None:
        return False
    import ctypes

    return bool(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != _NOT_INITIALIZED)


def _is_ours(path: Optional[str]) -> bool:
    return os.path.basename(path or "") == "librangefinder.so"


def _text(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def enable(out: str = "rangefinder-%p", counters: str = "auto", start: str = "off", **options: object) -> bool:
    """Loads Rangefinder into this process when CUDA is initialised, as `rangefinder run` does.

    Call it before the first use of the GPU, and before the first range. out: the folder of the trace; %p is the process
    id. counters: off, sampled, exact, gpm or auto (sampled where the GPU permits it, else gpm). start: "off" records
    nothing until `window()`; "on" records from CUDA's initialisation to the end of the program. options: any other
    option of `rangefinder run`, by its name with _ for - (max_size_mb=500, metrics="bytes", monitor=True); bool is on
    or off.

    Returns False, and changes nothing, in a program that `rangefinder run` started. Errors: RuntimeError if CUDA is
    initialised already, a range was made already, or another tool is in CUDA_INJECTION64_PATH; FileNotFoundError if the
    installation is incomplete.

    >>> import rangefinder
    >>> rangefinder.enable(out="/tmp/trace-%p", counters="sampled")
    True
    """
    from . import _used, injection_library

    present = os.environ.get(_CUDA)
    if _is_ours(present):
        return False
    if present:
        raise RuntimeError(f"rangefinder.enable(): {_CUDA} is set to {present}, and the driver loads only one tool. "
                           "Unset it")
    if _cuda_is_initialised():
        raise RuntimeError("rangefinder.enable() must be called before CUDA is initialised, and the process has "
                           "initialised it already. Call it at the start of the program, or use `rangefinder run`")
    if _used():
        raise RuntimeError("rangefinder.enable() must be called before the first range: NVTX has looked for a tool")
    from ._command import cupti_folder

    library = injection_library()
    values: Dict[str, object] = {"out": os.path.join(os.getcwd().replace("%", "%%"), out), "counters": counters,
                                 "start": start, **options}
    os.environ.update({"RANGEFINDER_" + name.upper(): _text(value) for name, value in values.items()})
    folder = cupti_folder()
    if folder is not None:
        os.environ.setdefault("RANGEFINDER_CUPTI_FOLDER", folder)
    other = os.environ.get(_NVTX)
    if other and not _is_ours(other):
        os.environ[_CHAIN] = other
    os.environ[_CUDA] = os.environ[_NVTX] = library
    return True


class window:
    """Records the block as a trace of its own. Context manager.

    counters: off, sampled or exact; None: those of the program. iterations: records this many ranges at most, which are
    the outermost ones that begin in the block; None: all of the block. out: the folder, absolute; %p is the process id.
    After the block `path` is the folder of the finished trace. It is None where Rangefinder is inactive: in a program
    without `rangefinder run` and `enable()`, or without a GPU. It is None, with a RuntimeWarning, if `iterations` was
    given and no range began.

    Initialises CUDA if `enable()` was called and the program has not done so yet. Errors: RuntimeError if Rangefinder
    refuses, as while another window is open (start the program with `enable(start="off")` or `run --start off`);
    ValueError if iterations is less than 1.

    >>> import rangefinder
    >>> with rangefinder.window(counters="exact", iterations=5) as w:
    ...     for batch in range(5):
    ...         with rangefinder.range("step"):
    ...             pass
    >>> w.path is None     # Rangefinder is not active here
    True
    """

    def __init__(self, counters: Optional[str] = None, iterations: Optional[int] = None,
                 out: Optional[str] = None) -> None:
        if iterations is not None and iterations < 1:
            raise ValueError("iterations of a window must be at least 1")
        fields = {"counters": counters, "out": out, "occurrences": iterations}
        self._fields = {name: value for name, value in fields.items() if value is not None}
        self._before: Optional[int] = None  # number of the window before this one. None: Rangefinder is inactive
        self.path: Optional[str] = None

    def __enter__(self) -> window:
        status = _status()
        if status is None:
            return self
        number = status.get("window", {}).get("number", 0)
        if "occurrences" in self._fields:
            control.ask("window", wait=False, **self._fields)
        else:
            control.ask("start", **self._fields)
        self._before = number
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        before, self._before = self._before, None
        if before is None:
            return
        try:
            self.path = _finished(before)
        except RuntimeError:
            if error is None:
                raise
            return  # the error of the block is the one to see
        if self.path is None and error is None:
            warnings.warn("rangefinder.window: no range began in the block, so nothing was recorded", RuntimeWarning,
                          stacklevel=2)


def _status() -> Optional[Dict[str, Any]]:
    status = control.ask("status")
    # Rangefinder listens once CUDA is initialised.
    if status is None and _is_ours(os.environ.get(_CUDA)) and os.environ.get("RANGEFINDER_CONTROL") != "off":
        driver = _cuda()
        if driver is not None and driver.cuInit(0) == 0:
            deadline = time.monotonic() + _SOCKET_SECONDS
            while status is None and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                status = control.ask("status")
    return status


def _window_of(answer: Optional[Dict[str, Any]], before: int) -> Tuple[bool, Optional[str]]:
    """Whether the window after the window `before` exists, and its folder once it is complete."""
    found = (answer or {}).get("window", {})
    if found.get("number", 0) <= before:
        return False, None
    if found.get("error"):
        raise RuntimeError(f"rangefinder.window: {found['error']}")
    return True, found["folder"] if found.get("complete") else None


def _finished(before: int) -> Optional[str]:
    """Ends the window if it is open, waits until it is complete. Returns its folder; None: it never began."""
    deadline = time.monotonic() + _END_SECONDS
    while True:
        status = control.ask("status")
        exists, folder = _window_of(status, before)
        if folder is not None:
            return folder
        try:
            _, folder = _window_of(control.ask("stop"), before)
            if folder is not None:
                return folder
        except RuntimeError:
            if not exists:
                return None  # planned, and cancelled now
        if status is None or time.monotonic() >= deadline:
            raise RuntimeError("rangefinder.window: the trace is not complete: Rangefinder stopped answering")
        time.sleep(_POLL_SECONDS)
