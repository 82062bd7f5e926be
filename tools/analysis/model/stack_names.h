// SPDX-License-Identifier: Apache-2.0
//
// The frames and call stacks that samples of host threads refer to.
//
//   stack 7 ─▶ frame 3: decode_image, data.py:41      innermost
//      └ caller: stack 5 ─▶ frame 2: train, train.py:30
//
//   names.each_stack(7, see)      see(7, 3), see(5, 2)
//   names.frames_of(7, frames)    2, 3: outermost first
//
// Every segment repeats the lines: the first one counts. A damaged trace lacks callers, or has one that is no
// smaller than its stack: such a stack is outermost. Memory grows with the lines. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/stack_record.h"

namespace rangefinder {

class StackNames {
 public:
  void add(const FrameRecord& frame) { frames_.emplace(frame.id, frame); }
  void add(const StackRecord& stack) { stacks_.emplace(stack.id, stack); }

  /// True: the trace has no samples of stacks, so far.
  [[nodiscard]] bool empty() const noexcept { return stacks_.empty(); }
  /// By id, as the lines have them.
  [[nodiscard]] const std::unordered_map<std::uint32_t, FrameRecord>& frames() const noexcept {
    return frames_;
  }
  [[nodiscard]] const std::unordered_map<std::uint32_t, StackRecord>& stacks() const noexcept {
    return stacks_;
  }
  /// "(unknown)" for an id without a line.
  [[nodiscard]] const FrameRecord& frame(std::uint32_t id) const;
  /// The innermost frame of a stack; 0: it has no line.
  [[nodiscard]] std::uint32_t frame_of(std::uint32_t stack) const;
  /// Smaller than `stack`; 0: it is outermost.
  [[nodiscard]] std::uint32_t caller_of(std::uint32_t stack) const;
  /// see(stack, frame), innermost first, at most kMaxStackDepth.
  template <typename See>
  void each_stack(std::uint32_t stack, See&& see) const {
    for (std::size_t depth = 0; depth < kMaxStackDepth; ++depth) {
      const std::uint32_t frame = frame_of(stack);
      if (frame == 0) return;
      see(stack, frame);
      stack = caller_of(stack);
    }
  }
  /// Replaces `out` by the frames of a stack, outermost first; 0: unknown. At least one, at most
  /// kMaxStackDepth.
  void frames_of(std::uint32_t stack, std::vector<std::uint32_t>& out) const;

 private:
  std::unordered_map<std::uint32_t, FrameRecord> frames_;
  std::unordered_map<std::uint32_t, StackRecord> stacks_;
};

/// "/app/data.py:41"; without a line "/app/data.py"; "" without a file.
[[nodiscard]] std::string source_text(const FrameRecord& frame);

/// Time of a sample of the line.
[[nodiscard]] constexpr TimeNs sample_time_ns(const StackSampleRecord& record, const StackSample& sample) {
  constexpr TimeNs kNsPerUs = 1'000;
  return record.start_ns + sample.after_us * kNsPerUs;
}

}  // namespace rangefinder
