// SPDX-License-Identifier: Apache-2.0
#include "tools/python/node_hook.h"

#include <new>

#include "tools/python/module_call.h"
#include "tools/python/nvtx_name.h"

namespace rangefinder {
namespace {

bool push(const BackwardObject& backward, PyObject* name) {
  if (backward.native != 0) return push_range(name, nullptr);
  const Reference level(PyObject_CallFunctionObjArgs(backward.push, name, nullptr));
  return static_cast<bool>(level);
}

bool pop(const BackwardObject& backward) {
  if (backward.native != 0) {
    nvtxRangePop();
    return true;
  }
  const Reference level(PyObject_CallNoArgs(backward.pop));
  return static_cast<bool>(level);
}

/// Levels at the start of both paths that are the same; -1 with an exception.
Py_ssize_t common_levels(PyObject* one, PyObject* other) {
  Py_ssize_t count = 0;
  for (; count < PyTuple_Size(one) && count < PyTuple_Size(other); ++count) {
    const int same =
        PyObject_RichCompareBool(PyTuple_GetItem(one, count), PyTuple_GetItem(other, count), Py_EQ);
    if (same < 0) return -1;
    if (same == 0) break;
  }
  return count;
}

/// Closes the levels that differ, opens those of `path`.
bool move(const BackwardObject& backward, TaskObject& task, PyObject* path) {
  const Py_ssize_t common = common_levels(task.path, path);
  if (common < 0) return false;
  for (Py_ssize_t i = PyTuple_Size(task.path); i > common; --i)
    if (!pop(backward)) return false;
  const Reference closed(task.path);
  task.path = PyTuple_GetSlice(path, 0, common);  // what an error below leaves open
  if (task.path == nullptr) {
    task.path = Reference::to(closed.get());
    return false;
  }
  for (Py_ssize_t i = common; i < PyTuple_Size(path); ++i)
    if (!push(backward, PyTuple_GetItem(path, i))) return false;
  const Reference shared(task.path);
  task.path = Reference::to(path);
  return true;
}

/// New reference: the innermost pass of this thread. Null, with an exception.
PyObject* find_task(PyObject* backward, const BackwardObject& of) {
  ThreadObject* const thread = thread_of(of.local);
  if (thread == nullptr) return nullptr;
  const Reference id(PyObject_CallNoArgs(of.task_id));
  if (!id) return nullptr;
  if (const Py_ssize_t count = PyList_Size(thread->tasks); count > 0) {
    PyObject* const task = PyList_GetItem(thread->tasks, count - 1);
    const int same = PyObject_RichCompareBool(reinterpret_cast<TaskObject*>(task)->id, id.get(), Py_EQ);
    if (same < 0) return nullptr;
    if (same != 0) return Reference::to(task);
  }
  static PyObject* const begin = PyUnicode_InternFromString("_begin");
  return PyObject_CallMethodObjArgs(backward, begin, thread->tasks, id.get(), nullptr);
}

bool enter(PyObject* backward, PyObject* path) {
  const auto& of = *reinterpret_cast<BackwardObject*>(backward);
  const Reference task(find_task(backward, of));
  if (!task) return false;
  auto& open = *reinterpret_cast<TaskObject*>(task.get());
  return open.path == path || move(of, open, path);
}

/// `pair`: the BackwardObject and the path.
PyObject* enter_node(PyObject* pair, PyObject*) {
  PyObject* const backward = PyTuple_GetItem(pair, 0);
  if (reinterpret_cast<BackwardObject*>(backward)->active == 0) Py_RETURN_NONE;
  try {
    if (enter(backward, PyTuple_GetItem(pair, 1))) Py_RETURN_NONE;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;  // KeyboardInterrupt
  give_error(reinterpret_cast<BackwardObject*>(backward)->disable);
  Py_RETURN_NONE;
}

PyMethodDef g_enter_node = {"enter", enter_node, METH_O, nullptr};

}  // namespace

PyObject* make_node_hook(PyObject* backward, PyObject* path) {
  const Reference pair(PyTuple_Pack(2, backward, path));
  return pair ? PyCFunction_New(&g_enter_node, pair.get()) : nullptr;
}

}  // namespace rangefinder
