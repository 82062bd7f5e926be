# SPDX-License-Identifier: Apache-2.0
"""fork|multiprocessing CHILDREN COUNT: children that launch COUNT kernels each and end at once by os._exit."""
import multiprocessing
import os
import sys

from gpu import Gpu


def launch(count):
    gpu = Gpu()
    for _ in range(count):
        gpu.launch()
    gpu.synchronize()


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
