# SPDX-License-Identifier: Apache-2.0
"""Profilers that live inside the profiled process, each with start() and stop()."""
import ctypes
import os
import tempfile


class TorchProfiler:
    def __init__(self, with_cpu):
        import torch
        self._profiler = torch.profiler
        kinds = torch.profiler.ProfilerActivity
        self._activities = [kinds.CPU, kinds.CUDA] if with_cpu else [kinds.CUDA]
        self._running = None

    def start(self):
        self._running = self._profiler.profile(activities=self._activities)
        self._running.start()

    def stop(self):
        self._running.stop()
        self._running = None  # its events are never read: that cost is not measured


class Proton:
    def __init__(self):
        import triton.profiler
        self._proton = triton.profiler
        self._folder = tempfile.mkdtemp(prefix="proton-")

    def start(self):
        self._proton.start(os.path.join(self._folder, "profile"), context="shadow", backend="cupti")

    def stop(self):
        self._proton.finalize()


class CudaProfilerCalls:
    """cuProfilerStart and cuProfilerStop, which Rangefinder can follow."""

    def __init__(self):
        self._driver = ctypes.CDLL("libcuda.so.1")

    def start(self):
        self._driver.cuProfilerStart()

    def stop(self):
        self._driver.cuProfilerStop()


def make(name):
    """None: there is no such profiler."""
    kinds = {"torch_cuda": lambda: TorchProfiler(with_cpu=False), "torch_cpu_cuda": lambda: TorchProfiler(with_cpu=True),
             "proton": Proton, "cuda_profiler": CudaProfilerCalls}
    return kinds.get(name, lambda: None)()
