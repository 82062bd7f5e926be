# SPDX-License-Identifier: Apache-2.0
"""One process of the benchmark: does the requested work the requested number of times, and answers with the time.

  worker.py SOCKET LOAD_LIBRARY TOOL WORK...

It connects to SOCKET and answers each object with one. {"do": "open"} prepares everything on the GPU;
{"do": "run", "work": W, "count": N} answers {"seconds": …} of N units after a warm-up; {"do": "start"} and
{"do": "stop"} control the profiler TOOL of this process; {"do": "memory"} answers the maximum resident memory;
{"do": "quit"} ends. It imports everything before it connects, and uses the GPU only from "open" on.
"""
import copy
import ctypes
import pathlib
import sys
import time
from multiprocessing.connection import Client

FOLDER = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "gpu/programs")]

import peers
from modes import WORKS

WARM_UP_FORWARDS = 2


class HuggingFaceModel:
    """The model twice: unchanged, and with one NVTX range per module."""

    def __init__(self):
        import hf_rtdetr
        import torch
        self._torch, self._program = torch, hf_rtdetr
        torch.set_num_threads(1)
        torch.manual_seed(0)
        config = hf_rtdetr.RTDetrConfig(num_labels=80)
        self._plain = hf_rtdetr.RTDetrForObjectDetection(config).eval().half()
        self._with_ranges = copy.deepcopy(self._plain)
        self._pixels = torch.rand(1, 3, 640, 640).half()

    def open(self):
        self._plain, self._with_ranges = self._plain.cuda(), self._with_ranges.cuda()
        self._pixels = self._pixels.cuda()
        self._program.add_ranges(self._with_ranges)
        for name in ("hf", "hf_nvtx"):
            self.run(name, 3)

    def run(self, name, count):
        model = self._with_ranges if name == "hf_nvtx" else self._plain
        with self._torch.inference_mode():
            for _ in range(WARM_UP_FORWARDS):
                model(pixel_values=self._pixels)
            self._torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                model(pixel_values=self._pixels)
            self._torch.cuda.synchronize()
            return time.perf_counter() - start


class Worker:
    def __init__(self, library, tool, works):
        self._works = works
        self._load = ctypes.CDLL(library)
        for name, arguments in (("load_storm", (ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)),
                                ("load_graph", (ctypes.c_uint32, ctypes.c_uint64)),
                                ("load_tokens", (ctypes.c_uint32, ctypes.c_uint64)),
                                ("load_rtdetr", (ctypes.c_int, ctypes.c_uint64))):
            getattr(self._load, name).argtypes = arguments
            getattr(self._load, name).restype = ctypes.c_double
        self._model = HuggingFaceModel() if any(WORKS[name].needs_torch for name in works) else None
        self._tool = peers.make(tool)

    def open(self):
        if self._model is not None:
            self._model.open()
        for name in self._works:
            if not WORKS[name].needs_torch:
                self.run(name, 1)

    def run(self, name, count):
        work = WORKS[name]
        if work.needs_torch:
            return self._model.run(name, count)
        function, *before = work.call
        seconds = getattr(self._load, function)(*before, count, *work.after)
        if seconds < 0:
            raise SystemExit(f"{name} failed")
        return seconds

    def answer(self, told):
        if told["do"] == "open":
            self.open()
        elif told["do"] == "run":
            return {"seconds": self.run(told["work"], told["count"])}
        elif told["do"] == "start":
            self._tool.start()
        elif told["do"] == "stop":
            self._tool.stop()
        elif told["do"] == "memory":
            return {"resident_bytes": most_resident_bytes()}
        return {}


def most_resident_bytes():
    for line in pathlib.Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def main():
    path, library, tool, *works = sys.argv[1:]
    worker = Worker(library, tool, works)
    with Client(path, "AF_UNIX") as end:
        end.send({})  # ready
        told = {"do": ""}
        while told["do"] != "quit":
            told = end.recv()
            end.send(worker.answer(told))


if __name__ == "__main__":
    main()
