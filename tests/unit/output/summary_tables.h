// SPDX-License-Identifier: Apache-2.0
//
// Input for tests of summaries: totals with names, and short records.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include <nlohmann/json.hpp>

#include "profiler/output/summary.h"
#include "tests/unit/schema/example_trace.h"

namespace rangefinder::summary_tables {

// Totals, and the names that a summary reads.
struct Tables {
  TotalsBuilder totals;
  std::map<std::uint32_t, PathRecord> paths;
  std::map<std::uint32_t, KernelNameRecord> kernels;

  void path(const PathRecord& record) {
    paths[record.id] = record;
    totals.add_path(record);
  }
  [[nodiscard]] SummaryInput input() const {
    SummaryInput in{example::header(), {example::gpu()}, totals, {}, {}, {}, {}, {}, false, 100000, nullptr};
    in.path_name = [this](std::uint32_t id) { return std::string_view(paths.at(id).name); };
    in.path_parent = [this](std::uint32_t id) { return paths.at(id).parent; };
    in.kernel_name = [this](std::uint32_t id) {
      const auto it = kernels.find(id);
      return it == kernels.end() ? nullptr : &it->second;
    };
    return in;
  }
  [[nodiscard]] nlohmann::ordered_json json() const {
    return nlohmann::ordered_json::parse(summary_json(input()));
  }
};

inline KernelRecord kernel(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint32_t name = 1,
                           std::uint32_t correlation = 1) {
  return {{start_ns, end_ns, 0, 1, 7, correlation, path, 0, 0, 0}, name, 1};
}

inline ExactRecord exact(std::uint32_t path, bool measured, std::uint32_t correlation = 2) {
  ExactRecord record;
  record.launch.host.path = path;
  record.launch.correlation = correlation;
  record.name = 1;
  record.measured = measured;
  record.gpu_ns = 7;
  record.l2_bytes = 64;
  return record;
}

}  // namespace rangefinder::summary_tables
