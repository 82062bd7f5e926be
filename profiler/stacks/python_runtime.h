// SPDX-License-Identifier: Apache-2.0
//
// The CPython interpreter of this process: its version, and where it keeps threads and frames.
//
//   _PyRuntime, PyCode_Type ─ dlsym ─▶ 3.9 to 3.12: a row of python_offsets.h
//                                      3.13, 3.14:  its own _Py_DebugOffsets ─▶ PythonRuntime
//
// Calls nothing of the interpreter but Py_GetVersion(), which needs no GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/stacks/own_memory.h"
#include "profiler/stacks/python_offsets.h"

namespace rangefinder {

struct PythonRuntime {
  std::string version;  ///< "3.12.3"
  /// From 3.13 on, thread.frame is the offset of current_frame, and frame.code may have bits set below
  /// kPointerMask.
  PythonOffsets at{};
  std::uintptr_t runtime = 0;    ///< of _PyRuntime
  std::uintptr_t code_type = 0;  ///< of PyCode_Type

  static constexpr std::uintptr_t kPointerMask = ~std::uintptr_t{7};
  /// The position of a frame is in units of 2 bytes, or its instruction pointer: 3.9 has bytes.
  [[nodiscard]] bool has_byte_positions() const noexcept { return at.minor == 9; }
};

/// Whether this process has loaded a Python interpreter. Any thread; takes the loader's lock.
[[nodiscard]] bool has_python() noexcept;

/// Absent: `problem` says why, "" if there is no Python.
[[nodiscard]] std::optional<PythonRuntime> find_python(const OwnMemory& memory, std::string& problem);

/// The offsets that _Py_DebugOffsets of Python 3.`minor` states; `words`: its contents, 8 bytes each. Absent:
/// another layout.
[[nodiscard]] std::optional<PythonOffsets> read_debug_offsets(std::uint8_t minor, const std::uint64_t* words);

}  // namespace rangefinder
