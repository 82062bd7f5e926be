// SPDX-License-Identifier: Apache-2.0
//
// Parts shared by several kinds of lines: GPU work, a host call, a launch.
#pragma once

#include <type_traits>
#include <variant>

#include "schema/read_line.h"

namespace rangefinder {

/// The work of a kernel, copy, memset or whole graph; else nullptr.
[[nodiscard]] inline const GpuWork* gpu_work(const Line& line) noexcept {
  if (const auto* const kernel = std::get_if<KernelRecord>(&line)) return &kernel->work;
  if (const auto* const copy = std::get_if<MemcpyRecord>(&line)) return &copy->work;
  if (const auto* const memset = std::get_if<MemsetRecord>(&line)) return &memset->work;
  if (const auto* const graph = std::get_if<GraphRecord>(&line)) return &graph->work;
  return nullptr;
}

template <typename Record>
[[nodiscard]] constexpr bool is_kernel(const Record&) noexcept {
  return std::is_same_v<Record, KernelRecord>;
}
/// Of the declared type of a record, with `if constexpr`.
template <typename Declared>
inline constexpr bool is_kernel_record = std::is_same_v<std::remove_cvref_t<Declared>, KernelRecord>;
template <typename Declared>
inline constexpr bool is_graph_record = std::is_same_v<std::remove_cvref_t<Declared>, GraphRecord>;
template <typename Declared>
inline constexpr bool is_launch_record = std::is_same_v<std::remove_cvref_t<Declared>, LaunchRecord> ||
                                         std::is_same_v<std::remove_cvref_t<Declared>, ExactRecord>;
template <typename Declared>
inline constexpr bool is_exact_record = std::is_same_v<std::remove_cvref_t<Declared>, ExactRecord>;
template <typename Record>
[[nodiscard]] constexpr bool is_graph(const Record&) noexcept {
  return std::is_same_v<Record, GraphRecord>;
}

/// A launch, with or without counters; nullptr for all else, including a counter range of several launches.
[[nodiscard]] inline const LaunchRecord* launch_of(const Line& line) noexcept {
  if (const auto* const launch = std::get_if<LaunchRecord>(&line)) return launch;
  const auto* const exact = std::get_if<ExactRecord>(&line);
  return exact == nullptr || exact->is_counter_range ? nullptr : &exact->launch;
}

[[nodiscard]] inline const LaunchRecord* launch_of(const LaunchRecord& launch) noexcept {
  return &launch;
}
[[nodiscard]] inline const LaunchRecord* launch_of(const ExactRecord& exact) noexcept {
  return exact.is_counter_range ? nullptr : &exact.launch;
}

/// Of a record of a driver call.
template <typename Record>
[[nodiscard]] const HostWork& host_of(const Record& call) noexcept {
  if constexpr (requires { call.launch.host; }) {
    return call.launch.host;
  } else {
    return call.host;
  }
}

}  // namespace rangefinder
