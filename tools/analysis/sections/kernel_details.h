// SPDX-License-Identifier: Apache-2.0
//
// Data of the section `kernel` for the requested kernels, and its tables.
//
//   kernel.cpp collects ─▶ KernelDetails ─▶ kernel_tables.cpp ─▶ summary, configurations, paths, metrics,
//   stalls
//
// Memory grows with kernels, their configurations and paths, not with launches.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/metric_groups.h"
#include "tools/analysis/tables/section.h"
#include "tools/analysis/timeline/duration_histogram.h"

namespace rangefinder {

/// A group of launches, for example of one path.
struct KernelLaunches {
  DurationHistogram durations;  ///< of the launches with a time
  std::uint64_t count = 0;
  void add(std::uint64_t ns, bool timed) {
    ++count;
    if (timed) durations.add(ns);
  }
};

struct KernelDetail {
  KernelNameRecord name;
  std::string label = {};  ///< short; set after the last line
  KernelLaunches all;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KernelLaunches>
      configurations;  ///< by configuration, GPU
  std::map<std::uint32_t, KernelLaunches> paths;
  Spread gpu_ns, read, write, l2;  ///< from exact lines, one value per launch
};

struct KernelDetails {
  std::string pattern;                ///< as given by the user
  std::vector<KernelDetail> kernels;  ///< matching kernels, in order of first appearance
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configurations;
  MetricGroups groups;                 ///< by position in kernels
  std::vector<MetricsByName> metrics;  ///< by position in kernels; filled after the last line
};

[[nodiscard]] Table kernel_summary(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_configurations(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_paths(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_metrics(const KernelDetails& details);
[[nodiscard]] Table kernel_stalls(const KernelDetails& details);

}  // namespace rangefinder
