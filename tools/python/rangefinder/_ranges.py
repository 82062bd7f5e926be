# SPDX-License-Identifier: Apache-2.0
"""rangefinder.range: in C where the extension was built, else through ctypes (_nvtx.py)."""
from __future__ import annotations

import functools
import operator

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, TypeVar

    from ._nvtx import Nvtx

    Function = TypeVar("Function", bound=Callable[..., Any])

_nvtx: Optional[Nvtx] = None
_NO_AWAIT = 0x2A0  # flags of the code of coroutines, generators and asynchronous generators


def used() -> bool:
    """True if a range was made: NVTX has looked for a tool, and does not look again."""
    return _nvtx is not None


def _tool() -> Nvtx:
    global _nvtx
    if _nvtx is None:
        from ._nvtx import Nvtx  # here, because ctypes takes milliseconds

        _nvtx = Nvtx()
    return _nvtx


def mark(domain: str, text: str) -> None:
    """An NVTX mark."""
    _tool().mark(domain, text)


def decorate(opened: Any, function: Function) -> Function:
    """`function`, with the range `opened` around each call."""
    if getattr(getattr(function, "__code__", None), "co_flags", 0) & _NO_AWAIT:
        raise TypeError(f"rangefinder.range cannot decorate {function.__name__}: ranges nest on a thread, and a "
                        "coroutine or generator leaves it in between. Use `with` around code without await or yield")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with opened:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


class Range:
    """A named part of the program: an NVTX range on the calling thread. Context manager and decorator.

    name: str, one level of the path; ranges nest. bytes: the least bytes that the part must read plus write, in bytes,
    what it calls included; reports show what was measured over it. domain: str, NVTX's domain; None: the default one.
    color: 0xRRGGBB, for viewers of timelines.

    One object may be used many times, nested and by several threads. Without a tool a range does nothing.
    Errors: TypeError if name or domain is no str, and for a decorated coroutine or generator; ValueError if bytes is
    not in 0 … 2**64 - 1 or color not in 0 … 0xFFFFFF.

    >>> import rangefinder
    >>> with rangefinder.range("attention", bytes=3 * 4096 * 4096 * 2):
    ...     result = sum([1, 2])
    >>> @rangefinder.range("loss")
    ... def loss(x):
    ...     return 2 * x
    >>> loss(result)
    6
    """

    __slots__ = ("_name", "_domain", "_event", "_push", "_pop", "_address")

    def __init__(self, name: str, bytes: Optional[int] = None, domain: Optional[str] = None,
                 color: Optional[int] = None) -> None:
        if not isinstance(name, str) or not isinstance(domain, (str, type(None))):
            raise TypeError("name and domain of a range must be str")
        for what, value, most in (("bytes", bytes, 2**64 - 1), ("color", color, 0xFFFFFF)):
            if value is not None and not 0 <= operator.index(value) <= most:
                raise ValueError(f"{what} of a range must be a whole number from 0 to {most}")
        tool = _tool()
        self._name, self._push, self._pop = name, tool.push, tool.pop
        if self._push is not None:
            self._domain = tool.domain(domain)
            self._event = tool.event(self._domain, name, bytes, color)
            self._address = self._event.address

    def __enter__(self) -> Range:
        if self._push is not None:
            self._push(self._domain, self._address)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pop is not None:
            self._pop(self._domain)

    def __call__(self, function: Function) -> Function:
        return decorate(self, function)

    def __repr__(self) -> str:
        return f"rangefinder.range({self._name!r})"


Range.__name__ = Range.__qualname__ = "range"
Range.__module__ = "rangefinder"
