// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/row_values.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/tables/graph_split.h"

namespace rangefinder {

RowValues::RowValues(const TraceTotals& trace, std::optional<SampledTotals> sampled)
    : context_(trace.gpus, trace.totals), sampled_(std::move(sampled)), exact_truth_(trace.totals.truth()) {}

RowBytes RowValues::bytes(const PathTotals& row) const {
  RowBytes out = exact_bytes(row, context_.peaks);
  if (out.source != RowBytes::Source::none) return out;
  if (const auto part = split_.find(row.path); part != split_.end()) return part->second;
  if (!sampled_) return out;
  const SampledPath* const path = sampled_->find(row.path);
  if (path == nullptr) return out;
  const auto& [read, write, l2] = path->inclusive;
  out = sampled_bytes(row, {read.bytes, write.bytes, l2.bytes}, path->inclusive_work_ns,
                      path->inclusive_overlap_ns, path->inclusive_estimated_ns);
  out.read_error = static_cast<double>(read.error_bytes);
  out.write_error = static_cast<double>(write.error_bytes);
  out.l2_error = static_cast<double>(l2.error_bytes);
  out.samples = path->samples;
  out.inseparable = path->inseparable;
  return out;
}

bool RowValues::split_by(const TraceTotals& trace, const TraceTotals& other, const SampledTotals& samples) {
  split_ = split_graph_bytes(trace, other, samples);
  return !split_.empty();
}

Derived RowValues::derived(const PathTotals& row) const {
  return derive(row, bytes(row), context_.peaks, context_.metrics_of(row.path));
}

const SampledKernel* RowValues::sampled_kernel(std::uint32_t name) const noexcept {
  if (!sampled_ || name == 0) return nullptr;
  const auto& kernels = sampled_->kernels;
  const auto at =
      std::lower_bound(kernels.begin(), kernels.end(), name,
                       [](const SampledKernel& kernel, std::uint32_t id) { return kernel.name < id; });
  return at == kernels.end() || at->name != name ? nullptr : &*at;
}

const CopyTruth& RowValues::truth() const noexcept {
  return exact_truth_.copies != 0 || !sampled_ ? exact_truth_ : sampled_->truth;
}

RowValues load_row_values(const TraceTotals& totals, Trace& trace, const Selection& selection) {
  if (totals.samples_lines == 0) return RowValues(totals);
  const std::optional<SampledTrace> samples = SampledTrace::load(trace, &selection);
  if (!samples) return RowValues(totals);
  return RowValues(totals, samples->totals());
}

}  // namespace rangefinder
