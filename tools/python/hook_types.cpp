// SPDX-License-Identifier: Apache-2.0
#include "tools/python/hook_types.h"

#include <structmember.h>

#include <cstddef>
#include <new>

#include "tools/python/module_call.h"
#include "tools/python/node_hook.h"

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
  return self;
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
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyMemberDef g_call_members[] = {{"names", T_OBJECT, offsetof(CallObject, names), 0, nullptr},
                                {"calls", T_OBJECT, offsetof(CallObject, calls), 0, nullptr},
                                {"hook", T_OBJECT, offsetof(CallObject, hook), 0, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
PyMemberDef g_thread_members[] = {{"stack", T_OBJECT, offsetof(ThreadObject, stack), 0, nullptr},
                                  {"tasks", T_OBJECT, offsetof(ThreadObject, tasks), 0, nullptr},
                                  {"compiled", T_OBJECT, offsetof(ThreadObject, compiled), 0, nullptr},
                                  {"marking", T_BOOL, offsetof(ThreadObject, marking), 0, nullptr},
                                  {"boundary", T_ULONGLONG, offsetof(ThreadObject, boundary), 0, nullptr},
                                  {"hooked", T_ULONGLONG, offsetof(ThreadObject, hooked), 0, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
PyMemberDef g_task_members[] = {{"id", T_OBJECT, offsetof(TaskObject, id), 0, nullptr},
                                {"path", T_OBJECT, offsetof(TaskObject, path), 0, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
PyMemberDef g_compiled_members[] = {{"_local", T_OBJECT, offsetof(CompiledObject, local), 0, nullptr},
                                    {"_push", T_OBJECT, offsetof(CompiledObject, push), 0, nullptr},
                                    {"_pop", T_OBJECT, offsetof(CompiledObject, pop), 0, nullptr},
                                    {"disable", T_OBJECT, offsetof(CompiledObject, disable), 0, nullptr},
                                    {"_native", T_BOOL, offsetof(CompiledObject, native), 0, nullptr},
                                    {"active", T_BOOL, offsetof(CompiledObject, active), 0, nullptr},
                                    {nullptr, 0, 0, 0, nullptr}};
PyMemberDef g_backward_members[] = {
    {"_local", T_OBJECT, offsetof(BackwardObject, base.local), 0, nullptr},
    {"_push", T_OBJECT, offsetof(BackwardObject, base.push), 0, nullptr},
    {"_pop", T_OBJECT, offsetof(BackwardObject, base.pop), 0, nullptr},
    {"_disable", T_OBJECT, offsetof(BackwardObject, base.disable), 0, nullptr},
    {"_native", T_BOOL, offsetof(BackwardObject, base.native), 0, nullptr},
    {"active", T_BOOL, offsetof(BackwardObject, base.active), 0, nullptr},
    {"_task_id", T_OBJECT, offsetof(BackwardObject, task_id), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

/// Calls `function` with the address of each reference that `members` lists.
template <typename Function>
int each_reference(PyObject* self, const PyMemberDef* members, Function function) {
  for (; members->name != nullptr; ++members) {
    if (members->type != T_OBJECT) continue;
    const int stop = function(*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + members->offset));
    if (stop != 0) return stop;
  }
  return 0;
}

// Of types whose references are all in `kMembers`.

template <PyMemberDef* kMembers>
int visit_members(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return each_reference(self, kMembers, [&](PyObject* each) {
    Py_VISIT(each);
    return 0;
  });
}
template <PyMemberDef* kMembers>
int clear_members(PyObject* self) {
  return each_reference(self, kMembers, [](PyObject*& each) {
    Py_CLEAR(each);
    return 0;
  });
}
template <PyMemberDef* kMembers>
void free_members(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear_members<kMembers>(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

void free_call(PyObject* self) {
  PyObject_GC_UnTrack(self);
  delete call_of(self)->events;
  delete call_of(self)->own;
  free_members<g_call_members>(self);
}

PyMethodDef g_module_calls_methods[] = {{"run", run_call, METH_VARARGS, nullptr},
                                        {nullptr, nullptr, 0, nullptr}};
PyMethodDef g_compiled_methods[] = {{"move", move_compiled, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMethodDef g_backward_methods[] = {{"node_hook", make_node_hook, METH_O, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};

PyObject* make_type(const char* name, std::size_t bytes, unsigned int flags, PyType_Slot* slots) {
  PyType_Spec spec{name, static_cast<int>(bytes), 0,
                   static_cast<unsigned int>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC) | flags, slots};
  return PyType_FromSpec(&spec);
}

/// A type of members, which Python classes derive from.
template <PyMemberDef* kMembers>
PyObject* make_base(const char* name, std::size_t bytes, destructor free = free_members<kMembers>,
                    PyMethodDef* methods = nullptr) {
  PyType_Slot slots[] = {{Py_tp_members, kMembers},
                         {Py_tp_traverse, slot(visit_members<kMembers>)},
                         {Py_tp_clear, slot(clear_members<kMembers>)},
                         {Py_tp_dealloc, slot(free)},
                         {methods == nullptr ? 0 : Py_tp_methods, methods},
                         {0, nullptr}};
  return make_type(name, bytes, Py_TPFLAGS_BASETYPE, slots);
}

}  // namespace

PyObject* make_call_type() {
  return make_base<g_call_members>("rangefinder._range.Call", sizeof(CallObject), free_call);
}

PyObject* make_thread_type() {
  return make_base<g_thread_members>("rangefinder._range.Thread", sizeof(ThreadObject));
}

PyObject* make_task_type() {
  return make_base<g_task_members>("rangefinder._range.Task", sizeof(TaskObject));
}

PyObject* make_compiled_type() {
  return make_base<g_compiled_members>("rangefinder._range.Compiled", sizeof(CompiledObject),
                                       free_members<g_compiled_members>, g_compiled_methods);
}

PyObject* make_backward_type() {
  return make_base<g_backward_members>("rangefinder._range.Backward", sizeof(BackwardObject),
                                       free_members<g_backward_members>, g_backward_methods);
}

PyObject* make_module_calls_type() {
  PyType_Slot slots[] = {{Py_tp_new, slot(new_module_calls)},        {Py_tp_methods, g_module_calls_methods},
                         {Py_tp_traverse, slot(visit_module_calls)}, {Py_tp_clear, slot(clear_module_calls)},
                         {Py_tp_dealloc, slot(free_module_calls)},   {0, nullptr}};
  return make_type("rangefinder._range.ModuleCalls", sizeof(ModuleCallsObject), 0, slots);
}

}  // namespace rangefinder
