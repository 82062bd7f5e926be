// SPDX-License-Identifier: Apache-2.0
//
// The true bytes of made GPU work, and their sums by path.
//
//   kernel(path, name, duration) ─▶ duration times the byte rates of (path, name), a few percent more or less
//   copy(bytes, direction)       ─▶ its own bytes
//
// Rates are spread over two decades, so that sharing a sample by time is wrong and fitting its rates is
// right. DRAM read plus written stays below the peak of the made GPU. The same calls give the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "schema/record.h"

namespace rangefinder::bench {

/// By SharedColumn; whole sectors.
using MadeBytes = std::array<std::uint64_t, kSharedColumns>;

class MadeCounters {
 public:
  [[nodiscard]] MadeBytes kernel(std::uint32_t path, std::uint32_t name, TimeNs took_ns);
  /// Outside of any range.
  [[nodiscard]] MadeBytes copy(std::uint64_t bytes, bool to_device);

  /// One line for each path: its text, then DRAM read, DRAM written and L2 bytes of itself and all paths
  /// below, separated by tabs. `paths`: parents first. Throws std::runtime_error if it cannot be written.
  void write_truth(const std::string& file, const std::vector<PathRecord>& paths) const;

 private:
  void add(std::uint32_t path, const MadeBytes& bytes);

  std::vector<MadeBytes> sums_;  // by path, without those below
  std::uint64_t launches_ = 0;
};

}  // namespace rangefinder::bench
