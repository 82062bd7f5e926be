// SPDX-License-Identifier: Apache-2.0
//
// What the section `kernel` knows of the kernels that were asked for, and the tables made of it.
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

/// Of launches that have something in common.
struct KernelLaunches {
  DurationHistogram durations;  ///< of those with a time
  std::uint64_t count = 0;
  void add(std::uint64_t ns, bool timed) {
    ++count;
    if (timed) durations.add(ns);
  }
};

struct KernelDetail {
  KernelNameRecord name;
  KernelLaunches all;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KernelLaunches>
      configurations;  ///< by configuration, GPU
  std::map<std::uint32_t, KernelLaunches> paths;
  Spread gpu_ns, read, write, l2;  ///< of exact lines, a launch each
};

struct KernelDetails {
  std::string pattern;                ///< as the user gave it
  std::vector<KernelDetail> kernels;  ///< that match, in order of first appearance
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configurations;
  MetricGroups groups;                 ///< by position in kernels
  std::vector<MetricsByName> metrics;  ///< the same, once all was read
};

[[nodiscard]] Table kernel_summary(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_configurations(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_paths(const KernelDetails& details, const SectionInput& input);
[[nodiscard]] Table kernel_metrics(const KernelDetails& details);
[[nodiscard]] Table kernel_stalls(const KernelDetails& details);

}  // namespace rangefinder
