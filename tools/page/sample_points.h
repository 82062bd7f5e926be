// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples as points of a line, in bounded memory.
//
//   samples line ─▶ points, one a sample; when there are too many, those of one slot of time merge and
//                   slots become twice as long
//
// Bytes add up; percentages are averaged. Samples that the recorder left out because nothing ran are no
// points: between points that do not touch, next to nothing moved. Of one GPU; not thread-safe.
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
  explicit SamplePoints(std::size_t most) : most_(most) {}

  void add(const SamplesRecord& line);
  [[nodiscard]] const std::vector<SamplePoint>& points() const noexcept { return points_; }
  [[nodiscard]] bool merged() const noexcept { return slot_ns_ != 0; }

 private:
  void merge();

  std::size_t most_;
  TimeNs slot_ns_ = 0;  // 0: as they came
  std::vector<SamplePoint> points_;
};

}  // namespace rangefinder
