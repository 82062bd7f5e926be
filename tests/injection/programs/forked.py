# SPDX-License-Identifier: Apache-2.0
"""fork|multiprocessing CHILDREN COUNT: children that launch COUNT kernels each and end at once by os._exit."""
import ctypes
import multiprocessing
import os
import sys

PTX = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry scale()\n{\n  ret;\n}\n"


def must(result):
    if result != 0:
        sys.exit(3)


def launch(count):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"scale"))
    for _ in range(count):
        must(cuda.cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, None, None, None))
    must(cuda.cuCtxSynchronize())


def fork(count):
    child = os.fork()
    if child == 0:
        launch(count)
        os._exit(0)
    return child


def main(how, children, count):
    if how == "fork":
        for child in [fork(count) for _ in range(children)]:
            os.waitpid(child, 0)
        return
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=launch, args=(count,)) for _ in range(children)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
