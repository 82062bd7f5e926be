// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/measured_kernels.h"

#include <algorithm>
#include <initializer_list>
#include <variant>

namespace rangefinder {
namespace {

std::optional<double> share_of(std::optional<double> percent) {
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

/// Absent if all are; an absent value is less than any number.
std::optional<double> highest_of(std::initializer_list<std::optional<double>> shares) {
  return std::max(shares);
}

}  // namespace

std::optional<double> MeasuredKernel::mean(std::string_view metric) const {
  const MetricValue* const found = metrics.find(metric);
  return found == nullptr ? std::nullopt : std::optional(found->launches.mean);
}

std::optional<double> MeasuredKernel::per_launch(std::string_view name) const {
  const auto sum = values.value(name);
  return sum && launches != 0 ? std::optional(*sum / static_cast<double>(launches)) : std::nullopt;
}

std::optional<double> MeasuredKernel::compute_share() const {
  return highest_of({share_of(values.value("compute_throughput")), derived.compute_peak_share});
}

std::optional<double> MeasuredKernel::memory_share() const {
  return highest_of({share_of(values.value("memory_throughput")), dram_share(), derived.l2_peak_share});
}

std::optional<double> MeasuredKernel::dram_share() const {
  return highest_of({share_of(values.value("dram_throughput")), derived.dram_peak_share});
}

void MeasuredKernels::add(const ExactRecord& exact) {
  if (!is_of_one_kernel(exact)) return;
  const auto position = static_cast<std::uint32_t>(lines_.size());
  Lines& lines = lines_.try_emplace(exact.name, Lines{position, 0}).first->second;
  ++lines.launches;
  lines.gpu_ns += static_cast<double>(exact.gpu_ns);
  groups_.add(lines.position, exact);
}

std::uint64_t MeasuredKernels::missing_sets(const Lines& lines, const MetricGroups::SetTimes& times) const {
  // A kernel often has grids that run once, and so in the turn of one set. They may be 5 % of its time.
  constexpr double kMeasured = 0.95;
  const std::size_t sets = groups_.sets().size();
  std::uint64_t missing = times.missing[lines.position];
  for (std::size_t set = 0; set < sets; ++set) {
    if (times.ns[lines.position * sets + set] >= kMeasured * lines.gpu_ns)
      missing &= ~(std::uint64_t{1} << set);
  }
  return missing;
}

std::unordered_map<std::uint32_t, MeasuredKernel> MeasuredKernels::all(
    const std::vector<KernelTotals>& kernels, const GpuPeaks& peaks) const {
  std::unordered_map<std::uint32_t, MeasuredKernel> out;
  const auto metrics = groups_.metrics(lines_.size());
  const MetricGroups::SetTimes times = groups_.set_times(lines_.size());
  for (const KernelTotals& kernel : kernels) {
    const auto lines = lines_.find(kernel.name);
    if (lines == lines_.end()) continue;
    MeasuredKernel& measured = out[kernel.name];
    measured.launches = lines->second.launches;
    measured.metrics = MetricsByName(metrics[lines->second.position], groups_);
    const PathTotals row = kernel_as_path(kernel);
    measured.derived = derive(row, exact_bytes(row, peaks), peaks, measured.metrics);
    measured.values = NamedValues(measured.metrics, measured.derived, missing_sets(lines->second, times),
                                  NamedValues::Partial::as_sample);
  }
  return out;
}

}  // namespace rangefinder
