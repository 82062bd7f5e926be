# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's caching allocator hands out in each module: torch_memory.json beside the trace.

    hooks        (time, thread, path)  (time, thread, path)  …      each push and pop
    allocator    alloc 4096 B   free 512 B   …                      PyTorch's own history, without tracebacks
                 └── joined by time when the program ends ──▶ rows by path

Off, unless RANGEFINDER_TORCH_MODULES=memory. Both logs are bounded: the file covers the end of a long program.
Does nothing if the program records this history itself. Resets none of PyTorch's statistics.
"""
import collections
import importlib
import json
import os
import threading
import time
import warnings

from .. import control

FILE = "torch_memory.json"
MAX_EVENTS = 100_000   # of the allocator, on each GPU
_MAX_CHANGES = 200_000
_FIRST_CALLS = 2  # of a module: they make gradients, states of optimizers, buffers


class _Path(threading.local):
    def __init__(self):
        self.open = ()


class AllocationLog:
    """push, pop: any thread. start, finish: one thread."""

    def __init__(self, torch, push, pop, clock=time.time_ns):
        self._torch = torch
        self._memory = importlib.import_module(f"{torch.__name__}.cuda.memory")
        self._push, self._pop = push, pop
        self._clock = clock
        self._local = _Path()
        self._changes = collections.deque(maxlen=_MAX_CHANGES)
        self._record = self._memory._record_memory_history
        self._recording = False
        self._of_program = False  # the program records the history

    def install(self, replace):
        def make(original):
            def record_memory_history(*args, **kwargs):
                self._of_program, self._recording = True, False
                return original(*args, **kwargs)
            return record_memory_history

        replace(self._memory, "_record_memory_history", make)

    def push(self, name):
        self.opened(name)
        return self._push(name)

    def pop(self):
        self.closed()
        return self._pop()

    def opened(self, name):
        path = self._local.open = self._local.open + (name,)
        self._changes.append((self._clock(), threading.get_ident(), path))

    def closed(self):
        path = self._local.open = self._local.open[:-1]
        self._changes.append((self._clock(), threading.get_ident(), path))

    def start(self):
        """Once PyTorch has initialised CUDA, which is when its allocator exists."""
        if self._recording or self._of_program or not self._torch.cuda.is_initialized():
            return
        self._recording = True
        self._record("all", context=None, max_entries=MAX_EVENTS)

    def stop(self):
        if self._recording:
            self._recording = False
            self._record(None)

    def finish(self):
        """Writes the file."""
        if not self._recording:
            return
        try:
            status = control.ask("status")
            if status is None or not status.get("window"):
                warnings.warn(f"rangefinder: no {FILE}: no trace is open, or there is no control socket",
                              RuntimeWarning)
                return
            snapshot = self._memory._snapshot()
            _write(status["window"]["folder"], self._report(snapshot))
        finally:
            self.stop()

    def _report(self, snapshot):
        changes = list(self._changes)
        first_ns = changes[0][0] if len(changes) == _MAX_CHANGES else 0
        devices = []
        for device, events in enumerate(snapshot["device_traces"]):
            if not events:
                continue
            full = len(events) >= MAX_EVENTS
            events = [event for event in events if _time_ns(event) >= first_ns]
            allocated = sum(segment["allocated_size"] for segment in snapshot["segments"]
                            if segment["device"] == device)
            devices.append({"device": device, "complete": not full and first_ns == 0} |
                           by_module(changes, events, allocated))
        return {"schema": "rangefinder.torch_memory", "version": "1.1", "pid": os.getpid(), "devices": devices}


class _Row:
    __slots__ = ("calls", "allocations", "allocated_bytes", "growth_bytes", "later_growth_bytes", "peak_bytes",
                 "live_at_peak_bytes", "kept_bytes")

    def __init__(self):
        for name in self.__slots__:
            setattr(self, name, 0)


def by_module(changes, events, allocated_at_end):
    """Rows by path. `changes`: (time, thread, path) in any order; `events`: of one GPU, oldest first, as PyTorch has
    them; `allocated_at_end`: bytes."""
    events = [event for event in events if event["action"] in ("alloc", "free_requested")]
    level = start = allocated_at_end - sum(map(_size, events))
    rows = {(): _Row()}
    rows[()].peak_bytes = start
    owners = {}  # address -> (path, bytes) of what is allocated in these events
    most, at_most = start, ()  # the largest level before a free, and the owners at that time
    threads = {}  # thread -> open path; the one that changed last is last
    current = ()
    changes = sorted(changes, key=lambda change: change[0])
    at = 0
    for event in events:
        while at < len(changes) and changes[at][0] <= _time_ns(event):
            current = _enter(rows, threads, current, changes[at], level)
            at += 1
        size = _size(event)
        level += size
        for prefix in _prefixes(current):
            row = rows[prefix]
            row.growth_bytes += size
            if row.calls > _FIRST_CALLS:
                row.later_growth_bytes += size
            if size > 0:
                row.allocations += 1
                row.allocated_bytes += size
                row.peak_bytes = max(row.peak_bytes, level)
        if event["action"] == "alloc":
            owners[event["addr"]] = (current, size)
        else:
            if level - size > most:
                most, at_most = level - size, tuple(owners.values())
            owners.pop(event["addr"], None)
    if level > most:
        at_most = tuple(owners.values())
    for change in changes[at:]:
        current = _enter(rows, threads, current, change, level)
    for path, size in owners.values():
        for prefix in _prefixes(path):
            rows[prefix].kept_bytes += size
    for path, size in at_most:
        for prefix in _prefixes(path):
            rows[prefix].live_at_peak_bytes += size
    return {"allocated_at_start_bytes": start, "allocated_at_end_bytes": allocated_at_end, "modules": [
        {"path": "/".join(path)} | {name: getattr(row, name) for name in _Row.__slots__}
        for path, row in rows.items()]}


def _enter(rows, threads, before, change, level):
    """The path that is current after `change`: of the thread that changed last. One of autograd's threads inherits."""
    _, thread, path = change
    threads.pop(thread, None)
    if path:
        threads[thread] = path
    current = ()
    if threads:
        last, current = list(threads.items())[-1]
        if current[0] == "backward":
            above = [path for other, path in threads.items() if other != last and path[-1] == "backward"]
            current = above[-1] + current[1:] if above else current
    for prefix in _prefixes(current):
        if prefix == before[:len(prefix)]:
            continue  # it was open already
        row = rows.setdefault(prefix, _Row())
        row.calls += 1
        row.peak_bytes = max(row.peak_bytes, level)
    return current


def _prefixes(path):
    return (path[:length] for length in range(len(path) + 1))


def _size(event):
    return event["size"] if event["action"] == "alloc" else -event["size"] if event["action"] == "free_requested" else 0


def _time_ns(event):
    return event["time_us"] * 1000 + 999  # the microsecond that it is in has ended


def _write(folder, report):
    part = os.path.join(folder, FILE + ".part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(report, file)
        file.write("\n")
    os.replace(part, os.path.join(folder, FILE))
