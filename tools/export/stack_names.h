// SPDX-License-Identifier: Apache-2.0
//
// Frames and host stacks of a trace, by id.
//
//   stack 2 ─▶ caller 1, frame 2      frames_of(2)  ─▶  frames 1, 2: outermost first
//
// A damaged trace may lack frames and stacks: they are "(unknown)". Callers that no writer has, as in a
// cycle, end a stack. Memory grows with distinct frames and stacks. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct StackNames {
  std::unordered_map<std::uint32_t, FrameRecord> frames;
  std::unordered_map<std::uint32_t, StackRecord> stacks;

  /// Every segment repeats frames and stacks: the first line of an id counts.
  void add(const FrameRecord& frame) { frames.emplace(frame.id, frame); }
  void add(const StackRecord& stack) { stacks.emplace(stack.id, stack); }

  /// "(unknown)" for an id without a line.
  [[nodiscard]] const FrameRecord& frame(std::uint32_t id) const;
  /// Replaces `out` by the frames of a stack, outermost first; 0: unknown. At least one, at most
  /// kMaxStackDepth.
  void frames_of(std::uint32_t stack, std::vector<std::uint32_t>& out) const;
};

/// "/app/data.py:41"; without a line "/app/data.py"; "" without a file.
[[nodiscard]] std::string source_text(const FrameRecord& frame);

/// Time of a sample of the line.
[[nodiscard]] constexpr TimeNs sample_time_ns(const StackSampleRecord& record, const StackSample& sample) {
  constexpr TimeNs kNsPerUs = 1'000;
  return record.start_ns + sample.after_us * kNsPerUs;
}

}  // namespace rangefinder
