// SPDX-License-Identifier: Apache-2.0
//
// How much of each moment a stream was busy: what the page draws where single pieces are not kept.
//
//   [start, end) of a kernel ─▶ its length, divided over the bins that it covers
//
// Bins are equally wide, their number is fixed, streams beyond the lanes count in the last lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class StreamBusy {
 public:
  StreamBusy(std::size_t lanes, std::size_t bins, TimeNs first_ns, TimeNs last_ns);

  void add(std::size_t lane, bool is_kernel, TimeNs start, TimeNs end);
  [[nodiscard]] TimeNs width_ns() const noexcept { return width_ns_; }
  /// Parts of a thousand, at most 1000: work of graphs may overlap on one stream.
  [[nodiscard]] std::vector<std::int64_t> permille(std::size_t lane, bool of_kernels) const;

 private:
  [[nodiscard]] std::vector<float>& row(std::size_t lane, bool of_kernels) {
    return busy_ns_[2 * lane + (of_kernels ? 1U : 0U)];
  }
  TimeNs first_ns_, width_ns_;
  std::size_t bins_;
  std::vector<std::vector<float>> busy_ns_;
};

}  // namespace rangefinder
