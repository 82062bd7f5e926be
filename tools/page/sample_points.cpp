// SPDX-License-Identifier: Apache-2.0
#include "tools/page/sample_points.h"

#include <algorithm>

namespace rangefinder {

void SamplePoints::add(const SamplesRecord& line) {
  std::size_t at = 0;
  for (const SampleRun& run : line.runs) {
    const TimeNs length = run.end_ns - run.start_ns;
    const auto start_of = [&](std::uint32_t i) {
      return run.start_ns + static_cast<TimeNs>(i) * length / static_cast<TimeNs>(run.count);
    };
    for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
      SamplePoint point{start_of(i), start_of(i + 1), 1, {}};
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::vector<std::uint32_t>& values = line.columns[column];
        if (at < values.size()) point.sums[column] = values[at];
      }
      points_.push_back(point);
    }
  }
  while (points_.size() > 2 * limit_) merge();
}

void SamplePoints::merge() {
  slot_ns_ = std::max<TimeNs>(1024, 2 * slot_ns_);
  std::vector<SamplePoint> out;
  for (const SamplePoint& point : points_) {
    if (out.empty() || point.start_ns / slot_ns_ != out.back().start_ns / slot_ns_) {
      out.push_back(point);
      continue;
    }
    SamplePoint& last = out.back();
    last.end_ns = std::max(last.end_ns, point.end_ns);
    last.samples += point.samples;
    for (std::size_t column = 0; column < kSampleColumns; ++column) last.sums[column] += point.sums[column];
  }
  points_ = std::move(out);
}

}  // namespace rangefinder
