# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of reports: a made trace with samples of the host's call stacks."""
import cli_case

LIBRARY = "/opt/venv/lib/python3.11/site-packages/torch"
LOADER = f"{LIBRARY}/utils/data/dataloader.py"
TRAIN, LOAD, FORWARD, WORKERS, WAIT = range(1, 6)  # stacks, each with a frame of that number
FRAMES = {
    TRAIN: ("train", "/app/train.py", 30),
    LOAD: ("Images.load", "/app/data.py", 41),
    FORWARD: ("Module.__call__", f"{LIBRARY}/nn/modules/module.py", 1751),
    WORKERS: ("_MultiProcessingDataLoaderIter._try_get_data", LOADER, 1284),
    WAIT: ("Condition.wait", "/usr/lib/python3.11/threading.py", 327),
}
CALLERS = {TRAIN: 0, LOAD: TRAIN, FORWARD: TRAIN, WORKERS: TRAIN, WAIT: WORKERS}
MS = 1_000_000


def lines(in_data=LOAD, every_ms=1, count=10, rank=None, more_ms=0):
    """Iterations of 20 ms: 10 ms in step/data, in which samples have the stack `in_data`; then a kernel of 8 ms."""
    header = {**cli_case.HEADER, "version": "1.2"}
    if rank is not None:
        header |= {"rank": str(rank), "ranks": 2, "pid": header["pid"] + rank}
    out = [header, cli_case.TRACE[1], *cli_case.TRACE[3:5]]
    out += [{"t": "path", "id": 1, "parent": 0, "name": "step"}, {"t": "path", "id": 2, "parent": 1, "name": "data"}]
    for number, (function, file, line) in FRAMES.items():
        out.append({"t": "frame", "id": number, "function": function, "file": file, "line": line})
    out += [{"t": "stack", "id": number, "caller": caller, "frame": number} for number, caller in CALLERS.items()]
    samples = []
    length = 20 + more_ms
    for i in range(count):
        at = (1 + length * i) * MS
        begins = at + (10 + more_ms) * MS
        host = {"thread": 5, "path": 1, "range": 2 * i + 1}
        out += [{"t": "launch", "start": begins + 5000, "end": begins + 9000, "api": "cuLaunchKernel", "corr": i + 1,
                 **host},
                {"t": "kernel", "start": begins + 10_000, "end": begins + 8 * MS + 10_000, "gpu": 0, "ctx": 1, "stream": 7,
                 "corr": i + 1, "path": 1, "range": 2 * i + 1, "name": 1, "config": 1},
                {"t": "range", "id": 2 * i + 2, "start": at, "end": begins, "thread": 5, "path": 2},
                {"t": "range", "id": 2 * i + 1, "start": at, "end": at + length * MS, "thread": 5, "path": 1}]
        for ms in range(0, length, every_ms):
            samples.append([(length * i + ms) * 1000, in_data if ms < 10 + more_ms else FORWARD])
    out.append({"t": "stack_sample", "start": MS, "end": (1 + length * count) * MS, "thread": 5,
                "interval": every_ms * MS, "samples": samples})
    return out
