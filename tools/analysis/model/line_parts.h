// SPDX-License-Identifier: Apache-2.0
//
// Parts shared by several kinds of records: GPU work, a host call, a launch, start and end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
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

/// The driver function of a capture's step.
[[nodiscard]] inline std::string_view capture_api(const CaptureRecord& step) noexcept {
  if (step.step == CaptureStep::broken_by) return step.api;
  return step.step == CaptureStep::begin ? "cuStreamBeginCapture" : "cuStreamEndCapture";
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

/// The launch of a line with or without counters; nullptr for a counter range of several launches.
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

/// Start and end of a record of any kind, for readers that refuse one that ends before it starts. kNoTime:
/// the record has none.
struct LineTimes {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  [[nodiscard]] bool reversed() const noexcept {
    return start_ns != kNoTime && end_ns != kNoTime && end_ns < start_ns;
  }
  [[nodiscard]] std::string refusal(std::string_view kind) const {
    return std::string(kind) + ": ends at " + std::to_string(end_ns) + " ns, before its start at " +
           std::to_string(start_ns) + " ns";
  }
};

template <typename Record>
[[nodiscard]] LineTimes times_of(const Record& record) noexcept {
  if constexpr (requires { record.work.start_ns; }) {
    return {record.work.start_ns, record.work.end_ns};
  } else if constexpr (requires { record.wait.start_ns; }) {
    return {record.wait.start_ns, record.wait.end_ns};
  } else if constexpr (requires { record.host.start_ns; }) {
    return {record.host.start_ns, record.host.end_ns};
  } else if constexpr (requires { record.launch.host; }) {
    return {record.launch.host.start_ns, record.launch.host.end_ns};
  } else if constexpr (requires { record.start_ns; }) {
    return {record.start_ns, record.end_ns};
  } else {
    return {};
  }
}
[[nodiscard]] inline LineTimes times_of(const Line& line) noexcept {
  return std::visit([](const auto& record) { return times_of(record); }, line);
}

/// Sums over all lines of a trace. Those of a report are over a part of the lines, so they cannot wrap unless
/// one of these is full.
class TraceSums {
 public:
  template <typename Record>
  void add(const Record& record) noexcept {
    const LineTimes times = times_of(record);
    if (times.start_ns != kNoTime && times.end_ns > times.start_ns)
      add(has_work<Record> ? gpu_ns_ : host_ns_, static_cast<std::uint64_t>(times.end_ns - times.start_ns));
    if constexpr (requires { record.bytes; }) add(bytes_, record.bytes);
    if constexpr (is_exact_record<Record>) {
      add(gpu_ns_, record.gpu_ns);
      for (const std::uint64_t bytes : {record.dram_read_bytes, record.dram_write_bytes, record.l2_bytes})
        add(bytes_, bytes);
    }
  }
  void add(const TraceSums& other) noexcept {
    add(gpu_ns_, other.gpu_ns_);
    add(host_ns_, other.host_ns_);
    add(bytes_, other.bytes_);
  }
  /// What is full; "": nothing.
  [[nodiscard]] std::string_view full() const noexcept {
    constexpr std::uint64_t kFull = UINT64_MAX;
    return gpu_ns_ == kFull    ? "times of GPU work"
           : host_ns_ == kFull ? "times of calls and ranges"
           : bytes_ == kFull   ? "bytes"
                               : "";
  }

 private:
  template <typename Record>
  static constexpr bool has_work = requires(const Record& record) {
    record.work;
  };
  static void add(std::uint64_t& sum, std::uint64_t more) noexcept {
    sum += std::min(more, UINT64_MAX - sum);
  }
  std::uint64_t gpu_ns_ = 0, host_ns_ = 0, bytes_ = 0;
};

}  // namespace rangefinder
