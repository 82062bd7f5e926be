// SPDX-License-Identifier: Apache-2.0
//
// Values of named metrics (profiler/metrics/named_metrics.h) of a path or a kernel.
//
//   MetricsByName: CUPTI's metrics ─┐
//   Derived: FLOP/s, FLOP/byte ─────┴─▶ NamedValues: those that are known, in the order of the table
//
// Unknown is absent, never 0. A formula whose inputs were planned, but never measured at this row, is
// unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/metrics/named_metrics.h"

namespace rangefinder {

struct NamedValue {
  const NamedMetric* metric = nullptr;
  /// In the metric's unit; MetricForm::sum: total over all launches of the row.
  double value = 0;
  std::uint64_t launches = 0;         ///< measured launches of the input that has the fewest; 0: FLOP metrics
  const MetricInput* part = nullptr;  ///< peak_share: the busiest part
};

class NamedValues {
 public:
  NamedValues() = default;
  /// Values of sets that measured a part of the row's launches.
  enum class Partial : std::uint8_t {
    unused,     ///< as for a module, whose kernels differ
    as_sample,  ///< as for a kernel: they stand for all of it, but not in totals, nor beside another set's
  };
  /// `missing_sets` (PathTotals): those sets.
  NamedValues(const MetricsByName& metrics, const Derived& derived, std::uint64_t missing_sets = 0,
              Partial partial = Partial::unused);

  [[nodiscard]] const std::vector<NamedValue>& all() const noexcept { return values_; }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  /// nullptr: unknown.
  [[nodiscard]] const NamedValue* find(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<double> value(std::string_view name) const noexcept;
  /// Largest first, without `stall_selected`, which is no stall.
  [[nodiscard]] std::vector<NamedValue> stalls() const;

 private:
  std::vector<NamedValue> values_;
};

}  // namespace rangefinder
