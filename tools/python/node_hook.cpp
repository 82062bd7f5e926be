// SPDX-License-Identifier: Apache-2.0
#include "tools/python/node_hook.h"

#include <new>

#include "tools/python/module_call.h"
#include "tools/python/nvtx_name.h"

namespace rangefinder {
namespace {

bool push(const CompiledObject& hook, PyObject* name) {
  if (hook.native != 0) return push_range(name, nullptr);
  const Reference level(PyObject_CallFunctionObjArgs(hook.push, name, nullptr));
  return static_cast<bool>(level);
}

bool pop(const CompiledObject& hook) {
  if (hook.native != 0) {
    nvtxRangePop();
    return true;
  }
  const Reference level(PyObject_CallNoArgs(hook.pop));
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

/// Closes the levels of `open` that differ, opens those of `path`.
bool move(const CompiledObject& hook, PyObject*& open, PyObject* path) {
  const Py_ssize_t common = common_levels(open, path);
  if (common < 0) return false;
  for (Py_ssize_t i = PyTuple_Size(open); i > common; --i)
    if (!pop(hook)) return false;
  const Reference closed(open);
  open = PyTuple_GetSlice(path, 0, common);  // what an error below leaves open
  if (open == nullptr) {
    open = Reference::to(closed.get());
    return false;
  }
  for (Py_ssize_t i = common; i < PyTuple_Size(path); ++i)
    if (!push(hook, PyTuple_GetItem(path, i))) return false;
  const Reference shared(open);
  open = Reference::to(path);
  return true;
}

/// None, or null with an exception that is no Exception, as KeyboardInterrupt.
PyObject* none_or_disabled(const CompiledObject& hook, bool done) {
  if (!done) {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return nullptr;
    give_error(hook.disable);
  }
  Py_RETURN_NONE;
}

/// New reference: the innermost pass of this thread. Null, with an exception.
PyObject* find_task(PyObject* backward, const BackwardObject& of) {
  ThreadObject* const thread = thread_of(of.base.local);
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
  return open.path == path || move(of.base, open.path, path);
}

/// `pair`: the BackwardObject and the path.
PyObject* enter_node(PyObject* pair, PyObject*) {
  PyObject* const backward = PyTuple_GetItem(pair, 0);
  const auto& hook = *reinterpret_cast<CompiledObject*>(backward);
  if (hook.active == 0) Py_RETURN_NONE;
  bool done = false;
  try {
    done = enter(backward, PyTuple_GetItem(pair, 1));
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return none_or_disabled(hook, done);
}

/// True as well where no compiled graph runs.
bool move_in_graph(const CompiledObject& hook, PyObject* path) {
  if (PyTuple_Check(path) == 0) {
    PyErr_SetString(PyExc_TypeError, "move() takes a tuple of names");
    return false;
  }
  ThreadObject* const thread = thread_of(hook.local);
  if (thread == nullptr) return false;
  if (thread->compiled == nullptr || thread->compiled == Py_None || thread->compiled == path) return true;
  return move(hook, thread->compiled, path);
}

PyMethodDef g_enter_node = {"enter", enter_node, METH_O, nullptr};

}  // namespace

PyObject* move_compiled(PyObject* compiled, PyObject* path) {
  const auto& hook = *reinterpret_cast<CompiledObject*>(compiled);
  if (hook.active == 0) Py_RETURN_NONE;
  bool done = false;
  try {
    done = move_in_graph(hook, path);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return none_or_disabled(hook, done);
}

PyObject* make_node_hook(PyObject* backward, PyObject* path) {
  const Reference pair(PyTuple_Pack(2, backward, path));
  return pair ? PyCFunction_New(&g_enter_node, pair.get()) : nullptr;
}

}  // namespace rangefinder
