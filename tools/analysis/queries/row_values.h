// SPDX-License-Identifier: Apache-2.0
//
// Bytes and derived metrics of the rows of a trace, exact or sampled.
//
//   TraceTotals ─▶ exact bytes, metrics ─┐
//   SampledTotals ─▶ sampled bytes ──────┼▶ RowValues: bytes(row), derived(row)
//   DramSplit ─▶ bytes of NVML's GPM ────┤
//   split_by() ─▶ parts of graphs ───────┘
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/totals_json.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/sampling/dram_split.h"
#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder {

class RowValues {
 public:
  /// `trace` must outlive this. `sampled`: nullopt if the trace has no samples.
  explicit RowValues(const TraceTotals& trace, std::optional<SampledTotals> sampled = std::nullopt);

  /// Gives paths of graph nodes their part of the exact bytes of graph launches. False: no path has one.
  [[nodiscard]] bool split_by(const TraceTotals& trace, const TraceTotals& other,
                              const SampledTotals& samples);

  /// Bytes of rows by path that have no others.
  void set_gpm(std::unordered_map<std::uint32_t, DramShare> shares) { gpm_ = std::move(shares); }
  [[nodiscard]] bool has_gpm() const noexcept { return !gpm_.empty(); }

  /// Exact bytes if there are any, otherwise parts of graph launches, otherwise sampled ones, otherwise those
  /// of NVML's GPM.
  [[nodiscard]] RowBytes bytes(const PathTotals& row) const;
  /// Exact bytes if there are any, otherwise sampled ones.
  [[nodiscard]] RowBytes bytes(const KernelTotals& kernel) const;
  [[nodiscard]] Derived derived(const PathTotals& row) const;
  /// What a finding may be built on: shown_values().
  [[nodiscard]] Derived shown(const PathTotals& row) const;
  [[nodiscard]] const RowContext& context() const noexcept { return context_; }
  /// nullptr: no samples.
  [[nodiscard]] const SampledTotals* sampled() const noexcept { return sampled_ ? &*sampled_ : nullptr; }
  [[nodiscard]] const CopyTruth& truth() const noexcept;

 private:
  /// nullptr: no samples, or none for that kernel.
  [[nodiscard]] const SampledKernel* sampled_kernel(std::uint32_t name) const noexcept;

  RowContext context_;
  std::optional<SampledTotals> sampled_;
  std::unordered_map<std::uint32_t, RowBytes> split_;  // by path
  std::unordered_map<std::uint32_t, DramShare> gpm_;   // by path
  CopyTruth exact_truth_;
};

/// Explains bytes that are estimated because metric sets take turns, by the heaviest row that has such bytes.
class EstimateRemark {
 public:
  void add(std::uint64_t gpu_ns, const RowBytes& bytes);
  /// `row`: "module". Empty: no row has such bytes.
  [[nodiscard]] std::string text(const char* row) const;

 private:
  std::optional<RowBytes> heaviest_;
  std::uint64_t heaviest_ns_ = 0;
};

/// `trace`: what `totals` was made of, with SampledTrace::kColumns.
[[nodiscard]] RowValues load_row_values(const TraceTotals& totals, Trace& trace, const Selection& selection);

/// Totals of a part of a trace.
struct TracePart {
  TraceTotals trace;
  std::optional<RowValues> values;  ///< set
};
/// The part from iteration `first` on, with the work between iterations. `whole`: totals of all of `trace`,
/// which has TotalsFold::kColumns; `values` becomes theirs. `see`: sees the samples of the part, if there are
/// any, with its totals.
using SeeSamples = std::function<void(const TraceTotals&, const SampledTrace&)>;
[[nodiscard]] std::unique_ptr<TracePart> part_from(std::size_t first, Iterations iterations, Trace& trace,
                                                   const TraceTotals& whole, std::optional<RowValues>& values,
                                                   const SeeSamples& see = nullptr);

}  // namespace rangefinder
