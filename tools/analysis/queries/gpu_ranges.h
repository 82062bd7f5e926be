// SPDX-License-Identifier: Apache-2.0
//
// NVTX ranges on the GPU: spans of consecutive work of one path on a stream, and of the paths above it.
//
//   stream 7    [k a/0][k a/0][k a/1][k b]          paths of the launch, or of the capture of a graph node
//   spans       |     a/0     | a/1  | b |          those of a replayed graph have no ranges of the host
//               |          a         |
//
// As the annotations of the Perfetto export. Work outside of any range ends the spans of its stream.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/queries/gpu_timeline.h"

namespace rangefinder {

struct GpuRange {
  std::uint32_t path = 0;
  std::uint32_t level = 0;  ///< 0: outermost of its chain
  TimeNs start_ns = 0, end_ns = 0;
};

class GpuRanges {
 public:
  using Visit = std::function<void(const GpuRange&)>;
  explicit GpuRanges(Visit visit) : visit_(std::move(visit)) {}

  /// In order of start on its stream. `chain`: its paths to show, outermost first; empty: none.
  void add(const StreamKey& stream, TimeNs start_ns, TimeNs end_ns, const std::vector<std::uint32_t>& chain);
  /// Call it after the last work.
  void finish();

 private:
  void close(std::vector<GpuRange>& open, std::size_t levels);

  Visit visit_;
  std::map<StreamKey, std::vector<GpuRange>> open_;
};

}  // namespace rangefinder
