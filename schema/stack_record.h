// SPDX-License-Identifier: Apache-2.0
//
// Samples of the host's call stacks, and the functions that they name.
//
//   stack 7 ─▶ frame 3: decode_image, data.py:41      innermost
//      └ caller: stack 5 ─▶ frame 2: __next__, loader.py:88
//           └ caller: 0                              outermost
//
// Part of record.h, which describes how lines and structs relate. A stack that begins alike is written once:
// stacks are a tree, as paths are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/base/duration.h"

namespace rangefinder {

/// A line of a function of the program, interned.
struct FrameRecord {
  std::uint32_t id = 0;
  std::string function;    ///< qualified: "Loader.decode_image"; "(garbage collection)", "(other)"
  std::string file;        ///< as the interpreter has it; empty: none, or redacted
  std::uint32_t line = 0;  ///< that runs, from 1; 0: unknown
};

/// Frames of a stack at most: further ones, those farthest from the innermost, are omitted.
inline constexpr std::uint32_t kMaxStackDepth = 128;

/// A call stack, interned: its innermost frame, and the stack of its caller.
struct StackRecord {
  std::uint32_t id = 0;
  std::uint32_t caller = 0;  ///< smaller than `id`; 0: outermost
  std::uint32_t frame = 0;
};

struct StackSample {
  std::uint32_t after_us = 0;  ///< since the start of its line
  std::uint32_t stack = 0;
  bool operator==(const StackSample&) const = default;
};

/// Readers refuse more in one line. The writer ends a line after some hundred.
inline constexpr std::size_t kMaxLineStacks = 100'000;

/// Samples of one thread, in order of time. Source: the frames of the Python interpreter.
struct StackSampleRecord {
  TimeNs start_ns = 0;            ///< of the first sample
  TimeNs end_ns = 0;              ///< `interval_ns` after the last
  std::uint32_t thread = 0;       ///< gettid()
  std::uint32_t interval_ns = 0;  ///< between two readings: each sample stands for so much time
  std::vector<StackSample> samples;
};

}  // namespace rangefinder
