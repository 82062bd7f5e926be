// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/kernel_facts.h"

#include <algorithm>

namespace rangefinder {

void KernelFacts::line(const Line& line) {
  if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) {
    configs_.emplace(config->id, *config);
  } else if (std::holds_alternative<ExactRecord>(line)) {
    any_exact_ = true;
  }
  lines_.line(line);
}

void KernelFacts::work(const WorkEvent& event) {
  if (event.kind != WorkKind::kernel) return;
  const auto [at, is_new] =
      places_.try_emplace({std::uint64_t{event.name} << 32 | event.config, event.work.path});
  KernelPlace& place = at->second;
  if (is_new) {
    place.use.name = event.name;
    place.use.config = event.config;
    place.path = event.work.path;
    place.first_ns = event.work.start_ns;
  }
  ++place.use.count;
  place.use.total_ns += event.duration();
  place.graph = event.work.graph;
  place.last_end_ns = event.work.end_ns;
}

std::vector<KernelPlace> KernelFacts::places() const {
  std::vector<KernelPlace> out;
  out.reserve(places_.size());
  for (const auto& [key, place] : places_) out.push_back(place);
  return out;
}

const LaunchConfigRecord* KernelFacts::config(std::uint32_t id) const {
  const auto at = configs_.find(id);
  return at == configs_.end() ? nullptr : &at->second;
}

void KernelFacts::evaluate(const std::vector<KernelTotals>& kernels, const GpuPeaks& peaks) {
  measured_ = lines_.all(kernels, peaks);
}

const MeasuredKernel& KernelFacts::measured(std::uint32_t name) const {
  static const MeasuredKernel kNone;
  const auto at = measured_.find(name);
  return at == measured_.end() ? kNone : at->second;
}

bool KernelFacts::any_metric(std::string_view metric) const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [metric](const auto& kernel) { return kernel.second.metrics.find(metric) != nullptr; });
}

bool KernelFacts::any_value(std::string_view name) const {
  return std::any_of(measured_.begin(), measured_.end(),
                     [name](const auto& kernel) { return kernel.second.values.find(name) != nullptr; });
}

}  // namespace rangefinder
