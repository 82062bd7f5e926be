// SPDX-License-Identifier: Apache-2.0
//
// What the writers of event formats must know before the first event: names, GPUs, threads, the
// span of time, and which launches and GPU records find each other.
//
//   trace ─▶ read_outline() ─▶ TraceOutline ─▶ a second reading writes the events
//
// Memory grows with the number of names; of launches it keeps two bits each.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/read/trace_reader.h"
#include "tools/analysis/timeline/id_bitmap.h"

namespace rangefinder {

struct TraceOutline {
  TraceFolder files;
  Header header;
  std::vector<GpuRecord> gpus;  ///< by id
  std::map<std::uint32_t, ContextRecord> contexts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, StreamRecord> streams;  ///< by context and id
  std::map<std::uint32_t, std::string> threads;                             ///< the name it had last
  std::map<std::uint32_t, std::string> domains;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories;  ///< by domain and id
  std::map<std::uint32_t, MetricSetRecord> metric_sets;
  std::map<std::uint32_t, PathRecord> paths;  ///< parents before children
  std::unordered_map<std::uint32_t, std::string> names;
  std::unordered_map<std::uint32_t, KernelNameRecord> kernel_names;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs;

  IdBitmap launched;                 ///< correlation ids that have a launch or exact line
  IdBitmap worked;                   ///< those that have GPU work with times
  TimeNs first_ns = 0, last_ns = 0;  ///< of all times in the trace, and 0
  std::uint64_t untimed = 0;         ///< GPU records without times: no timeline shows them
  bool has_samples = false;          ///< hardware samples of at least one GPU
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< of the end, else of the last heartbeat
  std::optional<EndRecord> end;                          ///< absent: the program was killed
  ReadSummary read;

  [[nodiscard]] const GpuRecord* gpu(std::uint32_t id) const noexcept;
  [[nodiscard]] const KernelNameRecord& kernel_name(std::uint32_t id) const;
  /// "(unknown)" for ids that the trace does not name.
  [[nodiscard]] const std::string& own_name(std::uint32_t path) const;
  [[nodiscard]] const std::string& text(std::uint32_t name) const;
  /// 0: outermost.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// Of a thread; "thread 4711" where it has none.
  [[nodiscard]] std::string thread_name(std::uint32_t thread) const;
  /// "" for the default domain.
  [[nodiscard]] std::string domain_name(std::uint32_t domain) const;
};

/// Throws Missing when the files cannot be read or are no trace of this major version.
[[nodiscard]] TraceOutline read_outline(const TraceFolder& files);

}  // namespace rangefinder
