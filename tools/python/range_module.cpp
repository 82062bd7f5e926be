// SPDX-License-Identifier: Apache-2.0
//
// The module rangefinder._range: NVTX ranges and hooks of PyTorch, by the limited API of Python 3.9.
//
//   Range(name, bytes, domain, color)   context manager; __call__ decorates (rangefinder/_ranges.py)
//   rangePushA, rangePop                 of the default domain, as torch._C._nvtx has them
//   domainMarkA                          of a named domain
//   Call, Thread, ModuleCalls, Task, Backward, Compiled   hook_types.cpp
//
// Refuses nothing while no tool is loaded: NVTX then only checks a pointer.
#include <climits>
#include <memory>
#include <new>

#include "tools/python/hook_types.h"
#include "tools/python/nvtx_name.h"

namespace rangefinder {
namespace {

struct RangeObject {
  PyObject_HEAD PyObject* name;
  nvtxDomainHandle_t domain;
  nvtxEventAttributes_t event;
  Name* own;  ///< the message, if it is not cached
};

PyObject* g_decorate = nullptr;  // rangefinder._ranges.decorate, once it is needed

RangeObject* range_of(PyObject* self) {
  return reinterpret_cast<RangeObject*>(self);
}

/// False, with an exception: no number, or out of range.
bool read_number(PyObject* value, const char* what, unsigned long long most, unsigned long long& out) {
  PyObject* const index = PyNumber_Index(value);  // NumPy's integers too
  if (index == nullptr) return false;
  out = PyLong_AsUnsignedLongLong(index);
  Py_DECREF(index);
  if (PyErr_Occurred() == nullptr && out <= most) return true;
  if (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_OverflowError) != 0)
    PyErr_Format(PyExc_ValueError, "%s of a range must be a whole number from 0 to %llu", what, most);
  return false;
}

bool fill(RangeObject* self, PyObject* name, PyObject* bytes, PyObject* domain_name, PyObject* color) {
  Domain* const domain = domain_of(domain_name);
  if (domain == nullptr) return false;
  std::unique_ptr<Name> own;
  const Name* const message = name_of(*domain, name, own);
  if (message == nullptr) return false;
  self->event = event_of(*message);
  self->domain = domain->handle;
  unsigned long long number = 0;
  if (bytes != Py_None) {
    if (!read_number(bytes, "bytes", ULLONG_MAX, number)) return false;
    name_bytes_category(*domain);
    self->event.category = kBytesCategory;
    self->event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    self->event.payload.ullValue = number;
  }
  if (color != Py_None) {
    if (!read_number(color, "color", 0xFF'FFFF, number)) return false;
    self->event.colorType = NVTX_COLOR_ARGB;
    self->event.color = 0xFF00'0000U | static_cast<std::uint32_t>(number);
  }
  Py_INCREF(name);
  self->name = name;
  self->own = own.release();
  return true;
}

PyObject* new_range(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const kNames[] = {"name", "bytes", "domain", "color", nullptr};
  PyObject *name = nullptr, *bytes = Py_None, *domain = Py_None, *color = Py_None;
  // The short way of `range("x")`: reading keywords takes as long as the range.
  if (kwargs == nullptr && PyTuple_Size(args) == 1) {
    name = PyTuple_GetItem(args, 0);
  } else if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO:range", const_cast<char**>(kNames), &name,
                                         &bytes, &domain, &color) == 0) {
    return nullptr;
  }
  if (PyUnicode_Check(name) == 0 || (domain != Py_None && PyUnicode_Check(domain) == 0)) {
    PyErr_SetString(PyExc_TypeError, "name and domain of a range must be str");
    return nullptr;
  }
  PyObject* const self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  try {
    if (fill(range_of(self), name, bytes, domain, color)) return self;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  Py_DECREF(self);
  return nullptr;
}

void free_range(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(range_of(self)->name);
  delete range_of(self)->own;
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* enter_range(PyObject* self, PyObject*) {
  nvtxDomainRangePushEx(range_of(self)->domain, &range_of(self)->event);
  Py_INCREF(self);
  return self;
}

PyObject* exit_range(PyObject* self, PyObject*) {
  nvtxDomainRangePop(range_of(self)->domain);
  Py_RETURN_NONE;
}

PyObject* decorate(PyObject* self, PyObject* args, PyObject*) {
  if (g_decorate == nullptr) {
    PyObject* const module = PyImport_ImportModule("rangefinder._ranges");
    if (module == nullptr) return nullptr;
    g_decorate = PyObject_GetAttrString(module, "decorate");
    Py_DECREF(module);
    if (g_decorate == nullptr) return nullptr;
  }
  PyObject* function = nullptr;
  if (PyArg_ParseTuple(args, "O:range", &function) == 0) return nullptr;
  return PyObject_CallFunctionObjArgs(g_decorate, self, function, nullptr);
}

PyObject* show_range(PyObject* self) {
  return PyUnicode_FromFormat("rangefinder.range(%R)", range_of(self)->name);
}

PyMethodDef g_range_methods[] = {{"__enter__", enter_range, METH_NOARGS, nullptr},
                                 {"__exit__", exit_range, METH_VARARGS, nullptr},
                                 {nullptr, nullptr, 0, nullptr}};

/// The signature, for help(). The rest of the text is that of the class in Python.
constexpr const char* kRangeSignature = "range(name, bytes=None, domain=None, color=None)\n--\n\n";

PyObject* make_range_type() {
  PyType_Slot slots[] = {{Py_tp_new, slot(new_range)},
                         {Py_tp_dealloc, slot(free_range)},
                         {Py_tp_call, slot(decorate)},
                         {Py_tp_repr, slot(show_range)},
                         {Py_tp_methods, g_range_methods},
                         {Py_tp_doc, const_cast<char*>(kRangeSignature)},
                         {0, nullptr}};
  PyType_Spec spec{"rangefinder.range", sizeof(RangeObject), 0, Py_TPFLAGS_DEFAULT, slots};
  return PyType_FromSpec(&spec);
}

PyObject* push(PyObject*, PyObject* text) {
  try {
    int level = 0;
    return push_range(text, &level) ? PyLong_FromLong(level) : nullptr;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* pop(PyObject*, PyObject*) {
  return PyLong_FromLong(nvtxRangePop());
}

PyObject* mark(PyObject*, PyObject* args) {
  PyObject* domain_name = nullptr;
  const char* text = nullptr;
  if (PyArg_ParseTuple(args, "Us:domainMarkA", &domain_name, &text) == 0) return nullptr;
  try {
    Domain* const domain = domain_of(domain_name);
    if (domain == nullptr) return nullptr;
    const Name message{text};
    const nvtxEventAttributes_t event = event_of(message);
    nvtxDomainMarkEx(domain->handle, &event);
    Py_RETURN_NONE;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* used(PyObject*, PyObject*) {
  return PyBool_FromLong(nvtx_was_used() ? 1 : 0);
}

PyMethodDef g_functions[] = {
    {"rangePushA", push, METH_O, "rangePushA(name): the level of the range; negative without a tool"},
    {"rangePop", pop, METH_NOARGS, "rangePop(): the level of the range that ends"},
    {"domainMarkA", mark, METH_VARARGS, "domainMarkA(domain, text): a mark; the text is not kept"},
    {"used", used, METH_NOARGS, "True if a range was made"},
    {nullptr, nullptr, 0, nullptr}};

bool add(PyObject* module, const char* name, PyObject* type) {
  if (type != nullptr && PyModule_AddObject(module, name, type) == 0) return true;
  Py_XDECREF(type);
  return false;
}

PyModuleDef g_module = {PyModuleDef_HEAD_INIT,
                        "rangefinder._range",
                        "NVTX ranges.",
                        -1,
                        g_functions,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr};

}  // namespace
}  // namespace rangefinder

PyMODINIT_FUNC PyInit__range() {
  using namespace rangefinder;
  PyObject* const module = PyModule_Create(&g_module);
  if (module == nullptr) return nullptr;
  if (add(module, "Range", make_range_type()) && add(module, "Call", make_call_type()) &&
      add(module, "Thread", make_thread_type()) && add(module, "ModuleCalls", make_module_calls_type()) &&
      add(module, "Task", make_task_type()) && add(module, "Backward", make_backward_type()) &&
      add(module, "Compiled", make_compiled_type()))
    return module;
  Py_DECREF(module);
  return nullptr;
}
