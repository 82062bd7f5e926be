# SPDX-License-Identifier: Apache-2.0
"""Windows over the iterations of a training loop, with the arguments of torch.profiler.schedule.

    wait=1, warmup=1, active=2, repeat=2     skip  skip  [record  record]  skip  skip  [record  record]  skip …
"""
from __future__ import annotations

from .._recording import window

TYPE_CHECKING = False  # importing typing takes milliseconds
if TYPE_CHECKING:
    from typing import List, Optional


class schedule:
    """Records `active` iterations after `wait` + `warmup`, `repeat` times. Context manager.

    Call step() at the end of each iteration. wait, warmup: iterations that are not recorded; Rangefinder needs no
    warm-up of its own. active: iterations in one trace. repeat: traces; 0: until the end of the block. counters, out:
    as for `rangefinder.window`; `out` is of the first trace, the next ones have the names of the program.

    `paths` are the folders of the finished traces. It stays empty where Rangefinder is inactive. The end of the block
    ends an open trace. Errors: ValueError if active is less than 1 or another number is negative; RuntimeError if
    Rangefinder refuses a window.

    >>> import rangefinder.torch
    >>> with rangefinder.torch.schedule(wait=1, warmup=1, active=2, repeat=1) as s:
    ...     for batch in range(6):
    ...         s.step()
    >>> s.paths            # Rangefinder is not active here
    []
    """

    def __init__(self, wait: int, warmup: int, active: int, repeat: int = 0, counters: Optional[str] = None,
                 out: Optional[str] = None) -> None:
        if active < 1 or min(wait, warmup, repeat) < 0:
            raise ValueError("schedule() needs active >= 1, and wait, warmup, repeat >= 0")
        self._skipped, self._active, self._repeat = wait + warmup, active, repeat
        self._counters, self._out = counters, out
        self._iteration = 0  # in the current cycle
        self._cycle = 0
        self._window: Optional[window] = None
        self.paths: List[str] = []

    def __enter__(self) -> schedule:
        self._begin_if_due()
        return self

    def step(self) -> None:
        """An iteration has ended."""
        self._iteration += 1
        if self._iteration == self._skipped + self._active:
            self._end()
            self._iteration = 0
            self._cycle += 1
        self._begin_if_due()

    def __exit__(self, *exception: object) -> None:
        self._end()

    def _begin_if_due(self) -> None:
        more = not self._repeat or self._cycle < self._repeat
        if more and self._iteration == self._skipped and self._window is None:
            opened = window(counters=self._counters, out=self._out if self._cycle == 0 else None)
            opened.__enter__()
            self._window = opened

    def _end(self) -> None:
        ended, self._window = self._window, None
        if ended is not None:
            ended.__exit__(None, None, None)
            if ended.path is not None:
                self.paths.append(ended.path)
