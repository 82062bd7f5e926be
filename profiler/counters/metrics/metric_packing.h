// SPDX-License-Identifier: Apache-2.0
//
// Packs metrics into groups of one pass each, greedily, by asking CUPTI how many passes a
// group takes. Every answer costs 1 to 3 ms of host time, so the packing asks little rather
// than finding the fewest groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/cupti/functions.h"

namespace rangefinder {

/// The passes that metrics take together on one chip. References what it is made of.
class PassCounter {
 public:
  PassCounter(const CuptiFunctions& cupti, const std::string& chip,
              std::span<const std::uint8_t> availability) noexcept
      : cupti_(cupti), chip_(chip), availability_(availability) {}

  /// 0: CUPTI refuses the combination.
  [[nodiscard]] std::size_t passes(std::span<const std::string> group,
                                   std::span<const std::string> more) const;

 private:
  const CuptiFunctions& cupti_;
  const std::string& chip_;
  std::span<const std::uint8_t> availability_;
};

/// One group: the sentinels, and as many of the offered metrics as one pass holds.
class MetricPacking {
 public:
  explicit MetricPacking(const PassCounter& counter);

  /// Takes the first ones first. What finds no room is in `left`, in its order; what one pass
  /// cannot hold even alone is in `impossible`.
  void offer(std::span<const std::string> wanted);

  std::vector<std::string> metrics;
  std::vector<std::string> left;
  std::vector<ImpossibleMetric> impossible;

 private:
  void refuse(const std::string& metric, std::size_t passes);

  const PassCounter& counter_;
  std::map<std::string, int, std::less<>> refusals_;  ///< by hardware unit
};

}  // namespace rangefinder
