// SPDX-License-Identifier: Apache-2.0
//
// Data of the section `kernel` for the requested kernels, and its tables.
//
//   kernel.cpp collects ─▶ KernelDetails ─┬─▶ kernel.cpp                summary, configurations, paths
//                                         └─▶ kernel_metric_tables.cpp  speed of light, memory, occupancy, …
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
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/section.h"

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
  MeasuredKernel measured = {};    ///< set after the last line
};

struct KernelDetails {
  std::string pattern;                ///< as given by the user
  std::vector<KernelDetail> kernels;  ///< matching kernels, in order of first appearance
};

/// The kernel of a row; empty if there is only one.
[[nodiscard]] Cell owner_cell(const KernelDetails& details, const KernelDetail& kernel);

/// Throughputs, with the busiest part of each.
[[nodiscard]] Table kernel_speed_of_light(const KernelDetails& details);
/// L1, shared memory, L2 and DRAM: bytes per launch, hit rate, throughput.
[[nodiscard]] Table kernel_memory(const KernelDetails& details);
/// Loads and stores: sectors per request, bytes used.
[[nodiscard]] Table kernel_accesses(const KernelDetails& details);
[[nodiscard]] Table kernel_occupancy(const KernelDetails& details);
[[nodiscard]] Table kernel_pipes(const KernelDetails& details);
/// `all`: also those below 0.05 %.
[[nodiscard]] Table kernel_stalls(const KernelDetails& details, bool all);
/// What was not measured, and the option that would: complete lines for people, or "".
[[nodiscard]] std::string kernel_not_measured(const KernelDetails& details, const RecordedCounters& recorded);

}  // namespace rangefinder
