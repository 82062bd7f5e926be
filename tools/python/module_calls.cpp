// SPDX-License-Identifier: Apache-2.0
#include "tools/python/module_calls.h"

#include <structmember.h>

#include <cstddef>
#include <new>

#include "tools/python/module_call.h"

namespace rangefinder {
namespace {

PyObject* run_call(PyObject* self, PyObject* pair) {
  PyObject* const args = PyTuple_GetItem(pair, 0);
  PyObject* const kwargs = args == nullptr ? nullptr : PyTuple_GetItem(pair, 1);
  if (kwargs == nullptr) return nullptr;
  if (PyTuple_Check(args) == 0 || PyTuple_Size(args) == 0 || PyDict_Check(kwargs) == 0) {
    PyErr_SetString(PyExc_TypeError, "run() takes the arguments of Module.__call__ as tuple and dict");
    return nullptr;
  }
  try {
    return ModuleCall(*reinterpret_cast<ModuleCallsObject*>(self), args, kwargs).run();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

// Types.

PyObject* new_module_calls(PyTypeObject* type, PyObject*, PyObject* kwargs) {
  PyObject* const self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) return nullptr;
  auto* const calls = reinterpret_cast<ModuleCallsObject*>(self);
  for (std::size_t i = 0; i < kCallbackCount; ++i) {
    PyObject* const given = kwargs == nullptr ? nullptr : PyDict_GetItemString(kwargs, kCallbacks[i]);
    if (given == nullptr) {
      PyErr_Format(PyExc_TypeError, "ModuleCalls() needs the argument %s", kCallbacks[i]);
      Py_DECREF(self);
      return nullptr;
    }
    calls->callbacks[i] = Reference::to(given);
  }
  calls->native = calls->callbacks[kPush] == Py_None;
  calls->key = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  if (calls->key != nullptr) return self;
  Py_DECREF(self);
  return nullptr;
}

int visit_module_calls(PyObject* self, visitproc visit, void* arg) {
  for (PyObject* const each : reinterpret_cast<ModuleCallsObject*>(self)->callbacks) Py_VISIT(each);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear_module_calls(PyObject* self) {
  for (PyObject*& each : reinterpret_cast<ModuleCallsObject*>(self)->callbacks) Py_CLEAR(each);
  return 0;
}
void free_module_calls(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_module_calls(self);
  Py_XDECREF(reinterpret_cast<ModuleCallsObject*>(self)->key);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int visit_call(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(call_of(self)->names);
  Py_VISIT(call_of(self)->calls);
  Py_VISIT(call_of(self)->hook);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear_call(PyObject* self) {
  Py_CLEAR(call_of(self)->names);
  Py_CLEAR(call_of(self)->calls);
  Py_CLEAR(call_of(self)->hook);
  return 0;
}
void free_call(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_call(self);
  delete call_of(self)->events;
  delete call_of(self)->own;
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int visit_thread(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<ThreadObject*>(self)->stack);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear_thread(PyObject* self) {
  Py_CLEAR(reinterpret_cast<ThreadObject*>(self)->stack);
  return 0;
}
void free_thread(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_thread(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMemberDef g_call_members[] = {{"names", T_OBJECT, offsetof(CallObject, names), 0, nullptr},
                                {"calls", T_OBJECT, offsetof(CallObject, calls), 0, nullptr},
                                {"hook", T_OBJECT, offsetof(CallObject, hook), 0, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
PyMemberDef g_thread_members[] = {{"stack", T_OBJECT, offsetof(ThreadObject, stack), 0, nullptr},
                                  {"marking", T_BOOL, offsetof(ThreadObject, marking), 0, nullptr},
                                  {"boundary", T_ULONGLONG, offsetof(ThreadObject, boundary), 0, nullptr},
                                  {"hooked", T_ULONGLONG, offsetof(ThreadObject, hooked), 0, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
PyMethodDef g_module_calls_methods[] = {{"run", run_call, METH_VARARGS, nullptr},
                                        {nullptr, nullptr, 0, nullptr}};

PyObject* make_type(const char* name, std::size_t bytes, unsigned int flags, PyType_Slot* slots) {
  PyType_Spec spec{name, static_cast<int>(bytes), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC) | flags, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace

PyObject* make_call_type() {
  PyType_Slot slots[] = {{Py_tp_members, g_call_members},
                         {Py_tp_traverse, slot(visit_call)},
                         {Py_tp_clear, slot(clear_call)},
                         {Py_tp_dealloc, slot(free_call)},
                         {0, nullptr}};
  return make_type("rangefinder._range.Call", sizeof(CallObject), Py_TPFLAGS_BASETYPE, slots);
}

PyObject* make_thread_type() {
  PyType_Slot slots[] = {{Py_tp_members, g_thread_members},
                         {Py_tp_traverse, slot(visit_thread)},
                         {Py_tp_clear, slot(clear_thread)},
                         {Py_tp_dealloc, slot(free_thread)},
                         {0, nullptr}};
  return make_type("rangefinder._range.Thread", sizeof(ThreadObject), Py_TPFLAGS_BASETYPE, slots);
}

PyObject* make_module_calls_type() {
  PyType_Slot slots[] = {{Py_tp_new, slot(new_module_calls)},        {Py_tp_methods, g_module_calls_methods},
                         {Py_tp_traverse, slot(visit_module_calls)}, {Py_tp_clear, slot(clear_module_calls)},
                         {Py_tp_dealloc, slot(free_module_calls)},   {0, nullptr}};
  return make_type("rangefinder._range.ModuleCalls", sizeof(ModuleCallsObject), 0, slots);
}

}  // namespace rangefinder
