// SPDX-License-Identifier: Apache-2.0
//
// Hooks that go from one path of ranges to another: the prehook of an autograd node, as
// BackwardRanges._prehook() in rangefinder/torch/autograd.py has it, and CompiledRanges.move() of
// rangefinder/torch/compiled.py, in C.
//
//   make_node_hook()   a function that closes the ranges of the last node's path and opens those of its own
//   move_compiled()    the same for the path of a kernel in a compiled graph
//
// The first node of a backward pass on a thread is Python's. All of it runs with Python's lock.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rangefinder {

/// What CompiledRanges has of the extension.
struct CompiledObject {
  PyObject_HEAD PyObject* local;  ///< Local: the states of the threads
  PyObject* push;
  PyObject* pop;
  PyObject* disable;  ///< takes an error of ours
  char native;        ///< push and pop are NVTX's
  char active;        ///< hooks do nothing without it
};

/// What BackwardRanges has of it.
struct BackwardObject {
  CompiledObject base;
  PyObject* task_id;  ///< PyTorch's function: the id of the backward pass on this thread
};

/// A backward pass on one thread.
struct TaskObject {
  PyObject_HEAD PyObject* id;
  PyObject* path;  ///< tuple of str: the ranges that are open
};

/// New reference: the prehook of nodes whose ranges are `path`, a tuple of str. `backward`: a BackwardObject.
/// Null, with an exception: out of memory.
PyObject* make_node_hook(PyObject* backward, PyObject* path);
/// None. `compiled`: a CompiledObject. `path`: a tuple of str. Does nothing outside of a compiled graph.
PyObject* move_compiled(PyObject* compiled, PyObject* path);

}  // namespace rangefinder
