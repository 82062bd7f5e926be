// SPDX-License-Identifier: Apache-2.0
//
// The time in which samples of a trace were lost: gaps between samples that idle samples do not explain.
//
//   SamplesRecord ─▶ add ─▶ gaps of lines that lack samples ─▶ lost_ns(gpu, work's start, its end)
//
// A line covers about 0.1 s. It has the number of idle samples that it omits, not their places. Work is not
// affected: almost nothing runs in an idle sample, so work in a gap of such a line was in a lost one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class SampleGaps {
 public:
  /// Call it in the order of the trace. Keeps at most 1 M gaps; later ones do not count as lost.
  void add(const SamplesRecord& samples);
  [[nodiscard]] bool none() const noexcept { return gaps_.empty(); }
  /// The part of [from_ns, to_ns) inside gaps with lost samples.
  [[nodiscard]] std::uint64_t lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept;

 private:
  struct Gap {
    TimeNs start_ns, end_ns;
  };
  struct Last {
    TimeNs end_ns = 0;
    double interval_ns = 0;
    double idle_ns = 0;  // idle time of lines without runs since end_ns
    bool any = false;
  };
  std::map<std::uint32_t, Last> last_;              // by GPU
  std::map<std::uint32_t, std::vector<Gap>> gaps_;  // by GPU; in time order
  std::size_t count_ = 0;
};

}  // namespace rangefinder
