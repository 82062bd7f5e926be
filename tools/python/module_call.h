// SPDX-License-Identifier: Apache-2.0
//
// One call of one module, as ModuleRanges.replacement() in rangefinder/torch/modules.py has it, in C.
//
//   run()   one look-up in the caller's Call, pushes, PyTorch's own __call__, pops
//
// Rare cases are Python's: a module called for the first time, an exception, nested containers. All of it
// runs with Python's lock.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "tools/python/nvtx_name.h"

namespace rangefinder {

struct CallObject {
  PyObject_HEAD PyObject* names;               ///< tuple of str: the ranges that the call pushes
  PyObject* calls;                             ///< dict: id of a module called in this call -> Call
  PyObject* hook;                              ///< prehook of autograd nodes that this call creates, or None
  std::vector<nvtxEventAttributes_t>* events;  ///< one for each of `names`, once they are pushed
  std::vector<std::unique_ptr<Name>>* own;     ///< names beyond the cache
};

struct ThreadObject {
  PyObject_HEAD PyObject* stack;  ///< list of Call: calls in progress
  PyObject* tasks;                ///< list of TaskObject: backward passes
  PyObject* compiled;  ///< tuple of str: the ranges of the compiled graph in progress; None: no graph
  char marking;        ///< the outermost call builds an autograd graph
  unsigned long long boundary;  ///< sequence number: older nodes have their path already
  unsigned long long hooked;    ///< sequence number of the node that was hooked last
};

/// The arguments of ModuleCalls, in the order of kCallbacks.
enum Callback : std::size_t {
  kOriginal,
  kRoot,
  kLocal,
  kNewCall,
  kUnwind,
  kDisable,
  kNoteSource,
  kBegin,
  kEnd,
  kTensor,
  kMarkWithin,
  kSequenceNumber,
  kHookOf,
  kPush,
  kPop,
  kCallbackCount
};
inline constexpr std::array<const char*, kCallbackCount> kCallbacks = {
    "original", "root",   "local",       "new_call",        "unwind",  "disable", "note_source", "begin",
    "end",      "tensor", "mark_within", "sequence_number", "hook_of", "push",    "pop"};

struct ModuleCallsObject {
  PyObject_HEAD std::array<PyObject*, kCallbackCount> callbacks;
  bool native;  ///< push and pop are NVTX's
};

inline CallObject* call_of(PyObject* self) {
  return reinterpret_cast<CallObject*>(self);
}

/// A strong reference that ends with its scope.
class Reference {
 public:
  explicit Reference(PyObject* owned) : object_(owned) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() { Py_XDECREF(object_); }
  static PyObject* to(PyObject* borrowed) {
    Py_INCREF(borrowed);
    return borrowed;
  }
  [[nodiscard]] PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

/// Borrowed, of the calling thread. `local`: the Local of modules.py. Null, with an exception: out of memory.
ThreadObject* thread_of(PyObject* local);

/// Gives the current exception to Python's disable(). The program goes on without it.
void give_error(PyObject* disable);

/// Throws std::bad_alloc.
class ModuleCall {
 public:
  ModuleCall(ModuleCallsObject& calls, PyObject* args, PyObject* kwargs)
      : calls_(calls), args_(args), kwargs_(kwargs), module_(PyTuple_GetItem(args, 0)) {}

  PyObject* run();

 private:
  [[nodiscard]] PyObject* callback(Callback which) const { return calls_.callbacks[which]; }
  PyObject* original() { return PyObject_Call(callback(kOriginal), args_, kwargs_); }
  PyObject* find_call(PyObject* parent);
  bool enter(PyObject* parent, PyObject* call);
  bool leave(PyObject* parent, PyObject* call, PyObject* output);
  bool push_names(PyObject* call);
  bool pop_names(PyObject* call);
  bool note_source(PyObject* call);
  bool make_events(CallObject* call, Py_ssize_t count);
  void unwind(PyObject* call);
  void disable() { give_error(callback(kDisable)); }
  bool mark(PyObject* call, PyObject* value, bool& found);
  bool mark_node(PyObject* call, PyObject* tensor, bool& found);
  bool mark_container(PyObject* call, PyObject* container, int depth, bool& found);
  bool end_mark(bool found);

  ModuleCallsObject& calls_;
  PyObject* args_;
  PyObject* kwargs_;
  PyObject* module_;
  ThreadObject* thread_ = nullptr;  // held by the dictionary of the Python thread
  bool is_first_ = false;           // the caller had no Call of the module
};

}  // namespace rangefinder
