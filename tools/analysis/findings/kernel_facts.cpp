// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/kernel_facts.h"

#include <algorithm>

namespace rangefinder {

void KernelFacts::add(const SelectedRows& rows) {
  rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) { metrics_.add(set); });
  rows.exact([this](const ExactRecord& exact, bool) {
    any_exact_ = true;
    metrics_.add(exact);
  });
}

void KernelFacts::add(const WorkEvent& event) {
  if (event.kind != WorkKind::kernel) return;
  const std::uint32_t path = event.work.path;
  KernelPlace& place = places_[{std::uint64_t{event.name} << 32 | event.config, path}];
  if (place.use.count == 0) place = {{event.name, event.config}, path, 0, event.work.start_ns};
  ++place.use.count;
  place.use.total_ns += event.duration();
  place.graph = event.work.graph;
  place.last_end_ns = event.work.end_ns;
}

std::vector<KernelPlace> KernelFacts::places() const {
  std::vector<KernelPlace> out;
  out.reserve(places_.map().size());
  for (const auto& [key, place] : places_.map()) out.push_back(place);
  return out;
}

const LaunchConfigRecord* KernelFacts::config(std::uint32_t id) const {
  const auto at = trace_->configs.find(id);
  return at == trace_->configs.end() ? nullptr : &at->second;
}

void KernelFacts::evaluate(const TraceTotals& trace, const GpuPeaks& peaks) {
  trace_ = &trace;
  measured_ = metrics_.all(trace.totals.kernels(), peaks);
}

const MeasuredKernel& KernelFacts::measured(std::uint32_t name) const {
  static const MeasuredKernel kNone;
  const auto at = measured_.find(name);
  return at == measured_.end() ? kNone : at->second;
}

bool KernelFacts::any_measured(std::string_view metric) const {
  return std::any_of(measured_.begin(), measured_.end(), [metric](const auto& kernel) {
    return kernel.second.metrics.find(metric) != nullptr || kernel.second.values.find(metric) != nullptr;
  });
}

}  // namespace rangefinder
