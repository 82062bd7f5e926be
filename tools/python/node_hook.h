// SPDX-License-Identifier: Apache-2.0
//
// The prehook of an autograd node, as BackwardRanges._prehook() in rangefinder/torch/autograd.py has it, in
// C.
//
//   make_node_hook()   a function that closes the ranges of the last node's path and opens those of its own
//
// The first node of a backward pass on a thread is Python's. All of it runs with Python's lock.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rangefinder {

/// What BackwardRanges has of the extension.
struct BackwardObject {
  PyObject_HEAD PyObject* local;  ///< Local: the states of the threads
  PyObject* task_id;              ///< PyTorch's function: the id of the backward pass on this thread
  PyObject* push;
  PyObject* pop;
  PyObject* disable;  ///< takes an error of ours
  char native;        ///< push and pop are NVTX's
  char active;        ///< hooks do nothing without it
};

/// A backward pass on one thread.
struct TaskObject {
  PyObject_HEAD PyObject* id;
  PyObject* path;  ///< tuple of str: the ranges that are open
};

/// New reference: the prehook of nodes whose ranges are `path`, a tuple of str. `backward`: a BackwardObject.
/// Null, with an exception: out of memory.
PyObject* make_node_hook(PyObject* backward, PyObject* path);

}  // namespace rangefinder
