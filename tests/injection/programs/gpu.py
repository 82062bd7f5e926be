# SPDX-License-Identifier: Apache-2.0
"""One kernel for the test programs in Python, as gpu.h for those in C++."""
import ctypes
import sys

PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry scale()\n{\n  ret;\n}\n"


def must(result):
    if result != 0:
        sys.exit(3)


class Gpu:
    """The context of GPU 0, current on this thread."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context, module, self.function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        must(self.cuda.cuInit(0))
        must(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        must(self.cuda.cuCtxSetCurrent(context))
        must(self.cuda.cuModuleLoadData(ctypes.byref(module), PTX))
        must(self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"scale"))

    def launch(self, blocks=1):
        """`blocks` identifies a launch in the trace."""
        must(self.cuda.cuLaunchKernel(self.function, blocks, 1, 1, 128, 1, 1, 0, None, None, None))

    def synchronize(self):
        must(self.cuda.cuCtxSynchronize())
