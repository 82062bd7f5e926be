# SPDX-License-Identifier: Apache-2.0
"""Other runs of a recorded program: its iterations in another order, some work of them slower.

They have the noise of the recorded iterations, which made-up numbers have not.
"""
import bisect
import functools
import itertools
import random

from export_case import lines_of, path_texts, recorded

NAMES = {"header", "gpu", "context", "stream", "thread", "domain", "category", "name", "path", "module_source", "kernel_name",
         "config", "frame", "stack"}
WORK = {"kernel", "memcpy", "memset"}
# Of an iteration. All other lines are of the whole trace and are dropped.
OF_ITERATIONS = WORK | {"launch", "sync", "range", "event_record", "alloc", "free", "exact"}


class Resampled:
    def __init__(self, lines, iteration):
        """`iteration`: id of the path whose ranges are the iterations."""
        ranges = [line for line in lines if line["t"] == "range" and line["path"] == iteration]
        self.names = [line for line in lines if line["t"] in NAMES]
        self.bounds = sorted(line["start"] for line in ranges) + [max(line["end"] for line in ranges)]
        self.blocks = [[] for _ in ranges]
        launched = {line["corr"]: line["start"] for line in lines if line["t"] not in WORK and "corr" in line}
        for line in lines:
            if line["t"] not in OF_ITERATIONS:
                continue
            time = launched.get(line.get("corr"), line["start"])
            if self.bounds[0] <= time < self.bounds[-1]:
                self.blocks[bisect.bisect_right(self.bounds, time) - 1].append(line)

    def run(self, blocks, host=1.0, kernels=None):
        """The lines of a run with these iterations, by number. `host`: factor of the time between the calls.
        `kernels`: factors of durations by name id; what starts after such a kernel is later."""
        kernels = kernels or {}
        numbers = {"range": itertools.count(1), "corr": itertools.count(1)}
        out, now, behind = list(self.names), self.bounds[0], 0  # behind: delay of the GPU's queue at the block's start
        for block in blocks:
            later = self.later(block, host, kernels)
            known = {"range": {}, "corr": {}}
            for line in self.blocks[block]:
                at = now + behind if line["t"] in WORK else now
                out.append(moved(line, at, later, kernels, known, numbers))
            end = self.bounds[block + 1]
            last = max([end, *(line["start"] + 1 for line in self.blocks[block] if line["t"] in WORK)])
            now += later(end)
            behind += later(last) - later(end) - round((last - end) * host)
        return out

    def later(self, block, host, kernels):
        """From a recorded time to the time since the new start of the block."""
        slow = sorted((line["start"], (line["end"] - line["start"]) * (kernels[line["name"]] - 1))
                      for line in self.blocks[block] if line["t"] == "kernel" and line["name"] in kernels)
        starts, delays = [start for start, _ in slow], [0, *itertools.accumulate(delay for _, delay in slow)]
        return lambda time: round((time - self.bounds[block]) * host + delays[bisect.bisect_left(starts, time)])


@functools.lru_cache(maxsize=None)
def iterations_of(name, iteration="iteration"):
    """Of a recording."""
    lines = lines_of(recorded(name))
    return Resampled(lines, next(id for id, text in path_texts(lines).items() if text == iteration))


def halves(iterations, seed):
    """Two runs without a common iteration, after the first one, which warms up."""
    order = list(range(1, len(iterations.blocks)))
    random.Random(seed).shuffle(order)
    return [0, *order[:len(order) // 2]], [0, *order[len(order) // 2:]]


def moved(line, now, later, kernels, known, numbers):
    """The line at its new time, with ids of its own. `known`: new ids by old ones."""
    out = {**line, "start": now + later(line["start"])}
    if line["t"] in WORK:
        factor = kernels.get(line["name"], 1) if line["t"] == "kernel" else 1
        out["end"] = out["start"] + round((line["end"] - line["start"]) * factor)
    else:
        out["end"] = now + later(line["end"])
    for key, of in (("id", "range"), ("range", "range"), ("corr", "corr")):
        if key in line and (key != "id" or line["t"] == "range"):
            if line[key] not in known[of]:
                known[of][line[key]] = next(numbers[of])
            out[key] = known[of][line[key]]
    return out
