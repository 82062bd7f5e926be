// SPDX-License-Identifier: Apache-2.0
//
// A counter image of PM sampling: what cuptiPmSamplingDecodeData writes and evaluation reads.
//
//   empty ─▶ decoded into, again and again ─▶ evaluated, emptied ─▶ …
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

struct PmImage {
  struct Time {
    std::int64_t start_ns = 0, end_ns = 0;
    bool wanted = true;  ///< false: has no values for us
  };
  std::vector<std::uint8_t> data;
  std::vector<Time> times;  ///< of the samples in `data`, by their index

  [[nodiscard]] bool empty() const noexcept { return times.empty(); }
};

}  // namespace rangefinder
