// SPDX-License-Identifier: Apache-2.0
//
// When samples of a trace were lost: time between its samples that idle ones do not account for.
//
//   SamplesRecord ─▶ add ─▶ gaps of lines that lack samples ─▶ lost_ns(gpu, work's start, its end)
//
// A line, some 0.1 s, tells how many idle samples it leaves out, not where they were. For work that makes no
// difference: what runs between a line's samples was in a lost one, for in an idle one next to nothing runs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class SampleGaps {
 public:
  /// In the order of the trace. Bounded: 1 M gaps, what comes later is not counted as lost.
  void add(const SamplesRecord& samples);
  [[nodiscard]] bool none() const noexcept { return gaps_.empty(); }
  /// Of work in [from_ns, to_ns), what lies in such gaps.
  [[nodiscard]] std::uint64_t lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept;

 private:
  struct Gap {
    TimeNs start_ns, end_ns;
  };
  struct Last {
    TimeNs end_ns = 0;
    double interval_ns = 0;
    double idle_ns = 0;  // of lines without runs since then
    bool any = false;
  };
  std::map<std::uint32_t, Last> last_;              // by GPU
  std::map<std::uint32_t, std::vector<Gap>> gaps_;  // by GPU; in order
  std::size_t count_ = 0;
};

}  // namespace rangefinder
