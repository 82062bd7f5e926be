// SPDX-License-Identifier: Apache-2.0
//
// Bytes and derived metrics of the rows of a trace, exact or sampled.
//
//   TraceTotals ─▶ exact bytes, metrics ─┐
//   SampledTotals ─▶ sampled bytes ──────┴▶ RowValues: bytes(row), derived(row)
#pragma once

#include <optional>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/totals_json.h"
#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder {

class RowValues {
 public:
  /// `trace` must outlive this. `sampled`: nullopt if the trace has no samples.
  explicit RowValues(const TraceTotals& trace, std::optional<SampledTotals> sampled = std::nullopt);

  /// Exact bytes if there are any, otherwise sampled ones.
  [[nodiscard]] RowBytes bytes(const PathTotals& row) const;
  [[nodiscard]] Derived derived(const PathTotals& row) const;
  [[nodiscard]] const RowContext& context() const noexcept { return context_; }
  /// nullptr: no samples.
  [[nodiscard]] const SampledTotals* sampled() const noexcept { return sampled_ ? &*sampled_ : nullptr; }
  /// nullptr: no samples, or none for that kernel.
  [[nodiscard]] const SampledKernel* sampled_kernel(std::uint32_t name) const noexcept;
  [[nodiscard]] const CopyTruth& truth() const noexcept;

 private:
  RowContext context_;
  std::optional<SampledTotals> sampled_;
  CopyTruth exact_truth_;
};

/// Attributes the samples in `window`. Reads the trace again if it has samples.
[[nodiscard]] RowValues load_row_values(const TraceTotals& trace, const SampleWindow& window = {});

}  // namespace rangefinder
