// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples as points of a line, in bounded memory.
//
//   samples line ─▶ one point per sample; if there are too many, the points of one time slot are merged
//                   and slots become twice as long
//
// Bytes are added; percentages are averaged. Idle samples, which the recorder omits, have no points: between
// points that do not touch, almost no bytes moved. For one GPU. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct SamplePoint {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint64_t samples = 0;
  /// By SampleColumn: units of 32 bytes, or percent times samples.
  std::array<std::uint64_t, kSampleColumns> sums{};
};

class SamplePoints {
 public:
  explicit SamplePoints(std::size_t limit) : limit_(limit) {}

  void add(const SamplesRecord& line);
  [[nodiscard]] const std::vector<SamplePoint>& points() const noexcept { return points_; }
  [[nodiscard]] bool merged() const noexcept { return slot_ns_ != 0; }

 private:
  void merge();

  std::size_t limit_;
  TimeNs slot_ns_ = 0;  // 0: not merged
  std::vector<SamplePoint> points_;
};

}  // namespace rangefinder
