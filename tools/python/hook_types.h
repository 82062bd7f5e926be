// SPDX-License-Identifier: Apache-2.0
//
// The Python types of the hooks of PyTorch.
//
//   Call      what a module pushes, called by a given chain of modules     ┐ the Python class adds the rest
//   Thread    what the hooks have open on one thread                       │
//   Task      a backward pass on one thread                                │
//   Backward  node_hook(path): the prehook of an autograd node             │ (node_hook.h)
//   Compiled  move(path): the range of a kernel of a compiled graph        ┘ (node_hook.h)
//   ModuleCalls(**callbacks).run(args, kwargs)
//             Module.__call__ with ranges (module_call.h)
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rangefinder {

/// A function pointer of any type, as a slot holds it.
template <typename Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

// A new type each, or null with an exception.
PyObject* make_call_type();
PyObject* make_thread_type();
PyObject* make_module_calls_type();
PyObject* make_task_type();
PyObject* make_backward_type();
PyObject* make_compiled_type();

}  // namespace rangefinder
