// SPDX-License-Identifier: Apache-2.0
//
// Busy time of each stream over time, which the page draws where it does not keep single pieces of work.
//
//   [start, end) of a kernel ─▶ its length, distributed over the bins that it covers
//
// A fixed number of bins of equal width. Streams without a lane count in the last lane.
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
  /// Busy time in permille, clamped to 1000: graph nodes may overlap on one stream.
  [[nodiscard]] std::vector<std::int64_t> permille(std::size_t lane, bool of_kernels) const;

 private:
  TimeNs first_ns_, width_ns_;
  std::size_t bins_;
  std::vector<std::vector<float>> busy_ns_;  // of each lane: copies, kernels
};

}  // namespace rangefinder
