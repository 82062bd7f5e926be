// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/kernel_facts.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {

void KernelFacts::line(const Line& line) {
  if (const auto* const config = std::get_if<LaunchConfigRecord>(&line)) {
    configs_.emplace(config->id, *config);
  } else if (const auto* const set = std::get_if<MetricSetRecord>(&line)) {
    sets_.emplace(set->id, set->metrics);
  } else if (const auto* const exact = std::get_if<ExactRecord>(&line)) {
    any_exact_ = true;
    if (exact->kind == WorkKind::kernel && exact->measured && exact->metric_set != 0) add_values(*exact);
  }
}

void KernelFacts::add_values(const ExactRecord& exact) {
  const auto set = sets_.find(exact.metric_set);
  if (set == sets_.end()) return;
  auto& means = metrics_[exact.name];
  for (std::size_t i = 0; i < std::min(set->second.size(), exact.values.size()); ++i) {
    if (!std::isfinite(exact.values[i])) continue;  // a ratio whose denominator is 0
    Mean& mean = means[set->second[i]];
    mean.sum += exact.values[i];
    ++mean.n;
  }
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

std::optional<double> KernelFacts::metric(std::uint32_t name, std::string_view metric) const {
  const auto kernel = metrics_.find(name);
  if (kernel == metrics_.end()) return std::nullopt;
  const auto mean = kernel->second.find(std::string(metric));
  if (mean == kernel->second.end()) return std::nullopt;
  return mean->second.sum / static_cast<double>(mean->second.n);
}

std::optional<double> KernelFacts::metric_sum(std::uint32_t name,
                                              const std::vector<std::string_view>& metrics) const {
  std::optional<double> sum;
  for (const std::string_view metric_name : metrics) {
    if (const auto value = metric(name, metric_name)) sum = sum.value_or(0) + *value;
  }
  return sum;
}

bool KernelFacts::any_metric(std::string_view metric) const {
  const std::string name(metric);
  return std::any_of(metrics_.begin(), metrics_.end(),
                     [&name](const auto& kernel) { return kernel.second.count(name) != 0; });
}

}  // namespace rangefinder
