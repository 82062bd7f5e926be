// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/stack_names.h"

#include <algorithm>

namespace rangefinder {

const FrameRecord& StackNames::frame(std::uint32_t id) const {
  static const FrameRecord kUnknown{0, "(unknown)", "", 0};
  const auto at = frames_.find(id);
  return at == frames_.end() ? kUnknown : at->second;
}

std::uint32_t StackNames::frame_of(std::uint32_t stack) const {
  const auto at = stacks_.find(stack);
  return at == stacks_.end() ? 0 : at->second.frame;
}

std::uint32_t StackNames::caller_of(std::uint32_t stack) const {
  const auto at = stacks_.find(stack);
  return at == stacks_.end() || at->second.caller >= stack ? 0 : at->second.caller;
}

void StackNames::frames_of(std::uint32_t stack, std::vector<std::uint32_t>& out) const {
  out.clear();
  do {
    out.push_back(frame_of(stack));
    stack = caller_of(stack);
  } while (stack != 0 && out.size() < kMaxStackDepth);
  std::reverse(out.begin(), out.end());
}

std::string source_text(const FrameRecord& frame) {
  if (frame.file.empty() || frame.line == 0) return frame.file;
  return frame.file + ":" + std::to_string(frame.line);
}

}  // namespace rangefinder
