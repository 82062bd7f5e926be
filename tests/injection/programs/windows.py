# SPDX-License-Identifier: Apache-2.0
"""PART: a program that loads Rangefinder by enable() and records a part of itself. Prints the folders of its traces.

Each launch has a number of blocks of its own, which identifies it in a trace.
"""
import sys

import rangefinder
import rangefinder.torch
from gpu import Gpu


def step(gpu, blocks):
    with rangefinder.range("step"):
        gpu.launch(blocks)


def block(gpu):
    """A window over a block, between launches that are not of it."""
    gpu.launch(1)
    with rangefinder.window() as w:
        gpu.launch(2)
        step(gpu, 3)
    gpu.launch(4)
    return [w.path]


def iterations(gpu):
    """Three steps of five."""
    step(gpu, 1)
    with rangefinder.window(iterations=3) as w:
        gpu.launch(2)
        for number in range(3, 8):
            step(gpu, number)
    step(gpu, 8)
    return [w.path]


def counters(gpu):
    """Two windows, of which one has counters."""
    paths = []
    for kind, first in (("exact", 1), (None, 5)):
        with rangefinder.window(counters=kind, iterations=2) as w:
            for number in range(first, first + 4):
                step(gpu, number)
        paths.append(w.path)
    return paths


def fails(gpu):
    """The block raises."""
    try:
        with rangefinder.window() as w:
            gpu.launch(1)
            raise KeyError
    except KeyError:
        gpu.launch(2)
    return [w.path]


def nothing(gpu):
    """No range begins in the first window."""
    with rangefinder.window(iterations=1) as w:
        gpu.launch(1)
    return [w.path, *block(gpu)]


def schedule(gpu):
    """Two cycles of four iterations, and more."""
    with rangefinder.torch.schedule(wait=1, warmup=1, active=2, repeat=2) as s:
        for number in range(1, 11):
            step(gpu, number)
            s.step()
    return s.paths


def schedule_ends(gpu):
    """The loop ends in the second cycle."""
    with rangefinder.torch.schedule(wait=0, warmup=2, active=2) as s:
        for number in range(1, 8):
            step(gpu, number)
            s.step()
    return s.paths


def initialises(_):
    """The window is the first that needs CUDA."""
    with rangefinder.window() as w:
        Gpu().launch(1)
    return [w.path]


def refused(gpu):
    """All of the program is recorded already."""
    gpu.launch(1)
    try:
        with rangefinder.window():
            gpu.launch(2)
    except RuntimeError as error:
        return [error]
    return ["opened"]


def main(name):
    rangefinder.enable(out="trace", counters="off", start="on" if name == "refused" else "off")
    for path in globals()[name](None if name == "initialises" else Gpu()):
        print(path)


main(sys.argv[1])
