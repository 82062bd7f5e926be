// SPDX-License-Identifier: Apache-2.0
#include "tools/python/module_call.h"

#include <utility>

namespace rangefinder {
namespace {

/// Values in one container: as _MAX_VALUES in rangefinder/torch/autograd.py.
constexpr Py_ssize_t kMaxValues = 1'000;

/// Names of attributes, made once.
struct Attributes {
  PyObject* grad_fn = PyUnicode_InternFromString("grad_fn");
  PyObject* sequence_number = PyUnicode_InternFromString("_sequence_nr");
  PyObject* register_prehook = PyUnicode_InternFromString("register_prehook");
  PyObject* thread = PyUnicode_InternFromString("thread");
};
const Attributes& attributes() {
  static const Attributes instance;
  return instance;
}

}  // namespace

ThreadObject* thread_of(PyObject* local) {
  // By Python's own state of the thread: a thread of C++ may end it and begin another one.
  PyObject* const dictionary = PyThreadState_GetDict();
  if (dictionary == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  PyObject* found = PyDict_GetItemWithError(dictionary, local);
  if (found == nullptr) {
    if (PyErr_Occurred() != nullptr) return nullptr;
    const Reference made(PyObject_GetAttr(local, attributes().thread));
    if (!made || PyDict_SetItem(dictionary, local, made.get()) != 0) return nullptr;
    found = made.get();
  }
  return reinterpret_cast<ThreadObject*>(found);
}

void give_error(PyObject* disable) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Reference t(type), v(value), b(trace);
  const Reference done(PyObject_CallFunctionObjArgs(disable, v ? v.get() : Py_None, nullptr));
  if (!done) PyErr_WriteUnraisable(disable);  // a warning that the program made an error
}

/// New reference.
PyObject* ModuleCall::find_call(PyObject* parent) {
  {
    const Reference id(PyLong_FromVoidPtr(module_));
    if (!id) return nullptr;
    PyObject* const known = PyDict_GetItemWithError(call_of(parent)->calls, id.get());
    if (known != nullptr) return Reference::to(known);
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  is_first_ = true;
  return PyObject_CallFunctionObjArgs(callback(kNewCall), parent, module_, nullptr);
}

bool ModuleCall::make_events(CallObject* call, Py_ssize_t count) {
  auto events = std::make_unique<std::vector<nvtxEventAttributes_t>>();
  auto owned = std::make_unique<std::vector<std::unique_ptr<Name>>>();
  Domain* const domain = domain_of(Py_None);
  if (domain == nullptr) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    std::unique_ptr<Name> own;
    const Name* const name = name_of(*domain, PyTuple_GetItem(call->names, i), own);
    if (name == nullptr) return false;
    events->push_back(event_of(*name));
    if (own != nullptr) owned->push_back(std::move(own));
  }
  call->events = events.release();
  call->own = owned.release();
  return true;
}

bool ModuleCall::push_names(PyObject* call) {
  CallObject* const of = call_of(call);
  const Py_ssize_t count = PyTuple_Size(of->names);
  if (!calls_.native) {
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Reference level(
          PyObject_CallFunctionObjArgs(callback(kPush), PyTuple_GetItem(of->names, i), nullptr));
      if (!level) return false;
    }
    return true;
  }
  if (count != 0 && of->events == nullptr && !make_events(of, count)) return false;
  for (Py_ssize_t i = 0; i < count; ++i) nvtxRangePushEx(&(*of->events)[static_cast<std::size_t>(i)]);
  return true;
}

bool ModuleCall::pop_names(PyObject* call) {
  const Py_ssize_t count = PyTuple_Size(call_of(call)->names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (calls_.native) {
      nvtxRangePop();
      continue;
    }
    const Reference level(PyObject_CallFunctionObjArgs(callback(kPop), nullptr));
    if (!level) return false;
  }
  return true;
}

bool ModuleCall::note_source(PyObject* call) {
  const Reference done(PyObject_CallFunctionObjArgs(callback(kNoteSource), call, module_, nullptr));
  return static_cast<bool>(done);
}

/// Hooks the node of `tensor` if it was created since the last boundary.
bool ModuleCall::mark_node(PyObject* call, PyObject* tensor, bool& found) {
  const Reference node(PyObject_GetAttr(tensor, attributes().grad_fn));
  if (!node) return false;
  if (node.get() == Py_None) return true;
  const auto freed = [] {  // a custom function whose node was freed
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0 && PyErr_ExceptionMatches(PyExc_RuntimeError) == 0)
      return false;
    PyErr_Clear();
    return true;
  };
  const Reference text(PyObject_CallMethodObjArgs(node.get(), attributes().sequence_number, nullptr));
  if (!text) return freed();
  const unsigned long long number = PyLong_AsUnsignedLongLong(text.get());
  if (PyErr_Occurred() != nullptr) return false;
  if (number < thread_->boundary || number == thread_->hooked) return true;
  if (call_of(call)->hook == Py_None) {
    const Reference made(PyObject_CallFunctionObjArgs(callback(kHookOf), call, nullptr));  // stores it
    if (!made) return false;
  }
  const Reference handle(
      PyObject_CallMethodObjArgs(node.get(), attributes().register_prehook, call_of(call)->hook, nullptr));
  if (!handle) return freed();
  thread_->hooked = number;
  found = true;
  return true;
}

/// Lists and tuples of tensors here, other containers and deeper levels in Python.
bool ModuleCall::mark_container(PyObject* call, PyObject* container, int depth, bool& found) {
  auto* const tensor = reinterpret_cast<PyTypeObject*>(callback(kTensor));
  const bool is_tuple = PyTuple_Check(container) != 0;
  const Py_ssize_t count = is_tuple ? PyTuple_Size(container) : PyList_Size(container);
  if (count > kMaxValues) return true;
  for (Py_ssize_t i = 0; i < count && (is_tuple || i < PyList_Size(container)); ++i) {
    const Reference value(
        Reference::to(is_tuple ? PyTuple_GetItem(container, i) : PyList_GetItem(container, i)));
    if (PyType_IsSubtype(Py_TYPE(value.get()), tensor) != 0) {
      if (!mark_node(call, value.get(), found)) return false;
    } else if (value.get() != Py_None) {
      const Reference marked(PyObject_CallFunction(
          callback(kMarkWithin), "OOOi", reinterpret_cast<PyObject*>(thread_), call, value.get(), depth + 1));
      if (!marked) return false;
      found = found || PyObject_IsTrue(marked.get()) == 1;
    }
  }
  return true;
}

/// An argument.
bool ModuleCall::mark(PyObject* call, PyObject* value, bool& found) {
  if (PyType_IsSubtype(Py_TYPE(value), reinterpret_cast<PyTypeObject*>(callback(kTensor))) != 0)
    return mark_node(call, value, found);
  if (PyTuple_Check(value) != 0 || PyList_Check(value) != 0) return mark_container(call, value, 1, found);
  return true;
}

bool ModuleCall::end_mark(bool found) {
  if (!found) return true;
  const Reference number(PyObject_CallFunctionObjArgs(callback(kSequenceNumber), nullptr));
  if (!number) return false;
  thread_->boundary = PyLong_AsUnsignedLongLong(number.get());
  return PyErr_Occurred() == nullptr;
}

bool ModuleCall::enter(PyObject* parent, PyObject* call) {
  if (parent == callback(kRoot)) {
    const Reference done(PyObject_CallFunctionObjArgs(callback(kBegin), reinterpret_cast<PyObject*>(thread_),
                                                      module_, nullptr));
    if (!done) return false;
  }
  if (thread_->marking != 0) {
    bool found = false;
    const Py_ssize_t count = PyTuple_Size(args_);
    for (Py_ssize_t i = 1; i < count; ++i)
      if (!mark(parent, PyTuple_GetItem(args_, i), found)) return false;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(kwargs_, &at, &key, &value) != 0;)
      if (!mark(parent, value, found)) return false;
    if (!end_mark(found)) return false;
  }
  if (!push_names(call) || PyList_Append(thread_->stack, call) != 0) return false;
  return !is_first_ || note_source(call);
}

bool ModuleCall::leave(PyObject* parent, PyObject* call, PyObject* output) {
  if (thread_->marking != 0) {
    bool found = false;
    if (PyType_IsSubtype(Py_TYPE(output), reinterpret_cast<PyTypeObject*>(callback(kTensor))) != 0) {
      if (!mark_node(call, output, found)) return false;
    } else if (PyTuple_Check(output) != 0 || PyList_Check(output) != 0) {
      if (!mark_container(call, output, 0, found)) return false;
    } else if (output != Py_None) {
      const Reference marked(PyObject_CallFunction(callback(kMarkWithin), "OOOi",
                                                   reinterpret_cast<PyObject*>(thread_), call, output, 0));
      if (!marked) return false;
      found = PyObject_IsTrue(marked.get()) == 1;
    }
    if (!end_mark(found)) return false;
  }
  if (!pop_names(call)) return false;
  const Py_ssize_t depth = PyList_Size(thread_->stack);
  if (PyList_SetSlice(thread_->stack, depth - 1, depth, nullptr) != 0) return false;
  if (parent != callback(kRoot)) return true;
  const Reference done(
      PyObject_CallFunctionObjArgs(callback(kEnd), reinterpret_cast<PyObject*>(thread_), nullptr));
  return static_cast<bool>(done);
}

void ModuleCall::unwind(PyObject* call) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Reference done(PyObject_CallFunctionObjArgs(callback(kUnwind), reinterpret_cast<PyObject*>(thread_),
                                                    call, callback(kEnd), nullptr));
  if (!done) disable();
  PyErr_Restore(type, value, trace);
}

PyObject* ModuleCall::run() {
  thread_ = thread_of(callback(kLocal));
  if (thread_ == nullptr) {
    disable();
    return original();
  }
  const Reference held(Reference::to(reinterpret_cast<PyObject*>(thread_)));
  const Reference parent(Reference::to(PyList_GetItem(thread_->stack, PyList_Size(thread_->stack) - 1)));
  const Reference call(find_call(parent.get()));
  if (!call) {
    disable();
    return original();
  }
  if (call.get() == callback(kRoot)) return original();
  if (!enter(parent.get(), call.get())) disable();
  PyObject* const output = original();
  const Py_ssize_t depth = PyList_Size(thread_->stack);
  if (output == nullptr || PyList_GetItem(thread_->stack, depth - 1) != call.get()) {
    unwind(call.get());
    return output;
  }
  if (!leave(parent.get(), call.get(), output)) disable();
  return output;
}

}  // namespace rangefinder
