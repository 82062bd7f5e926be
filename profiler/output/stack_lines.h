// SPDX-License-Identifier: Apache-2.0
//
// The lines of stacks and frames that samples refer to: each once, a caller before those it calls.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/events/recorder.h"
#include "profiler/output/id_set.h"
#include "schema/stack_record.h"

namespace rangefinder {

class StackLines {
 public:
  explicit StackLines(const Recorder& recorder) noexcept : recorder_(recorder) {}

  /// Calls `write` with each FrameRecord and StackRecord that `stack` needs and that was not written since
  /// clear(). At most kMaxStackDepth calls deep.
  template <typename Write>
  void need(std::uint32_t stack, const Write& write) {
    if (stack == 0 || !stacks_.add(stack)) return;
    const StackNode node = recorder_.stacks.stack_at(stack);
    need(node.caller, write);
    if (frames_.add(node.frame)) {
      const StackFrame frame = recorder_.stacks.frame_at(node.frame);
      write(FrameRecord{node.frame, text_of(frame.function), text_of(frame.file), frame.line});
    }
    write(StackRecord{stack, node.caller, node.frame});
  }
  void clear() noexcept {
    stacks_.clear();
    frames_.clear();
  }

 private:
  [[nodiscard]] std::string text_of(std::uint32_t name) const {
    return name == 0 ? std::string() : std::string(recorder_.names.text(name));
  }

  const Recorder& recorder_;
  IdSet stacks_, frames_;  // that were written
};

}  // namespace rangefinder
