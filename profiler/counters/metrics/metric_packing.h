// SPDX-License-Identifier: Apache-2.0
//
// Packs metrics greedily into groups of one pass each. CUPTI reports how many passes a group
// takes. Each query costs 1 to 3 ms of host time, so the packing minimises queries rather than
// the number of groups.
#pragma once

#include <atomic>
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

/// Counts the passes that metrics need together on one chip. Holds references to its arguments.
class PassCounter {
 public:
  /// `cancelled`: once true, CUPTI is not called any more; nullptr: never.
  PassCounter(const CuptiFunctions& cupti, const std::string& chip,
              std::span<const std::uint8_t> availability,
              const std::atomic<bool>* cancelled = nullptr) noexcept
      : cupti_(cupti), chip_(chip), availability_(availability), cancelled_(cancelled) {}

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_ != nullptr && cancelled_->load(); }
  /// Passes of `group` and `more` together; 0: CUPTI refuses the combination, or the planning was cancelled.
  [[nodiscard]] std::size_t passes(std::span<const std::string> group,
                                   std::span<const std::string> more) const;

 private:
  const CuptiFunctions& cupti_;
  const std::string& chip_;
  std::span<const std::uint8_t> availability_;
  const std::atomic<bool>* cancelled_;
};

/// One group: the sentinels, and as many offered metrics as fit in one pass.
class MetricPacking {
 public:
  explicit MetricPacking(const PassCounter& counter);

  /// Adds metrics in order. Those that do not fit go to `left`, in order. Those that do not fit in
  /// one pass even alone go to `impossible`.
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
