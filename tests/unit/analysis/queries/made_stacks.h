// SPDX-License-Identifier: Apache-2.0
//
// Frames and stacks for tests, as lines and as names.
//
//   MadeStacks made;  made.stack({{"train", "/app/train.py", 30}, {"load", "/app/data.py", 41}}) ─▶ 2
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tools/analysis/model/stack_names.h"

namespace rangefinder::test {

struct MadeFrame {
  std::string function, file;
  std::uint32_t line = 0;
};

class MadeStacks {
 public:
  StackNames names;
  std::vector<std::variant<FrameRecord, StackRecord>> records;  ///< in the order of the trace

  /// `frames`: outermost first. Each has a frame line and a stack line of its own.
  std::uint32_t stack(std::initializer_list<MadeFrame> frames) {
    std::uint32_t caller = 0;
    for (const MadeFrame& made : frames) {
      const std::uint32_t id = ++last_;
      put(FrameRecord{id, made.function, made.file, made.line});
      put(StackRecord{id, caller, id});
      caller = id;
    }
    return caller;
  }

 private:
  template <typename Record>
  void put(const Record& record) {
    names.add(record);
    records.emplace_back(record);
  }
  std::uint32_t last_ = 0;
};

/// Samples of one thread, `count` from `start` on, `interval` apart.
inline StackSampleRecord samples_of(std::uint32_t thread, TimeNs start, std::uint32_t interval_ns,
                                    std::size_t count, std::uint32_t stack) {
  StackSampleRecord out{start, start, thread, interval_ns, {}};
  for (std::size_t i = 0; i < count; ++i) {
    out.samples.push_back({static_cast<std::uint32_t>(i * interval_ns / 1000), stack});
    out.end_ns += interval_ns;
  }
  return out;
}

}  // namespace rangefinder::test
