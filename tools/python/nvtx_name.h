// SPDX-License-Identifier: Apache-2.0
//
// A domain of NVTX and the names registered in it, cached for the life of the process.
//
//   "step" ──▶ dictionary of the domain ──▶ Name{text, handle}     one registration a name
//
// All functions: with Python's lock. They throw std::bad_alloc. What is cached is never freed: a tool may
// keep it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <memory>
#include <string>

namespace rangefinder {

struct Name {
  std::string text;
  nvtxStringHandle_t handle = nullptr;  ///< null: no tool, or too many names. Then `text` is the message
};

struct Domain {
  nvtxDomainHandle_t handle = nullptr;  ///< null: NVTX's default domain
  PyObject* names = nullptr;            ///< str -> address of a Name
  bool has_bytes_category = false;
};

/// Identifies the category `rangefinder.bytes` in each domain.
constexpr std::uint32_t kBytesCategory = 0x5246;

/// The domain called `name`; None: the default one. Null, with an exception: `name` is no text, or out of
/// memory.
Domain* domain_of(PyObject* name);

/// `own` gets the name if the domain has too many. Null, with an exception: `text` is no text, or out of
/// memory.
const Name* name_of(Domain& domain, PyObject* text, std::unique_ptr<Name>& own);

/// Begins a range of the default domain; `level`, if it is not null, gets what NVTX returns. False, with an
/// exception: `text` is no text, or out of memory.
bool push_range(PyObject* text, int* level);

/// Names the category, once a domain.
void name_bytes_category(Domain& domain);

/// An event with the message `name`.
nvtxEventAttributes_t event_of(const Name& name);

/// True if NVTX has looked for a tool: another environment has no effect any more.
bool nvtx_was_used();

}  // namespace rangefinder
