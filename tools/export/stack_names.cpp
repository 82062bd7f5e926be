// SPDX-License-Identifier: Apache-2.0
#include "tools/export/stack_names.h"

#include <algorithm>

namespace rangefinder {

const FrameRecord& StackNames::frame(std::uint32_t id) const {
  static const FrameRecord kUnknown{0, "(unknown)", {}, 0};
  const auto at = frames.find(id);
  return at == frames.end() ? kUnknown : at->second;
}

void StackNames::frames_of(std::uint32_t stack, std::vector<std::uint32_t>& out) const {
  out.clear();
  while (out.size() < kMaxStackDepth) {
    const auto at = stacks.find(stack);
    out.push_back(at == stacks.end() ? 0 : at->second.frame);
    if (at == stacks.end() || at->second.caller == 0 || at->second.caller >= stack) break;
    stack = at->second.caller;
  }
  std::reverse(out.begin(), out.end());
}

std::string source_text(const FrameRecord& frame) {
  if (frame.file.empty() || frame.line == 0) return frame.file;
  return frame.file + ":" + std::to_string(frame.line);
}

}  // namespace rangefinder
