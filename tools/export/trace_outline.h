// SPDX-License-Identifier: Apache-2.0
//
// The data of a trace that exporters need before its first event: names, GPUs, threads, the time span, and
// the ids of launches and GPU work that belong together.
//
//   trace ─▶ read_outline() ─▶ TraceOutline ─▶ a second pass writes the events
//
// Memory grows with the number of names, plus two bits per launch.
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
  std::vector<GpuRecord> gpus;  ///< sorted by id
  std::map<std::uint32_t, ContextRecord> contexts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, StreamRecord> streams;  ///< by context and id
  std::map<std::uint32_t, std::string> threads;                             ///< the latest name
  std::map<std::uint32_t, std::string> domains;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories;  ///< by domain and id
  std::map<std::uint32_t, MetricSetRecord> metric_sets;
  std::map<std::uint32_t, PathRecord> paths;  ///< parents before children
  std::unordered_map<std::uint32_t, std::string> names;
  std::unordered_map<std::uint32_t, KernelNameRecord> kernel_names;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs;

  IdBitmap launched;                 ///< correlation ids with a launch or exact line
  IdBitmap worked;                   ///< correlation ids with timed GPU work
  TimeNs first_ns = 0, last_ns = 0;  ///< minimum and maximum of 0 and all times in the trace
  std::uint64_t untimed = 0;         ///< GPU records without times, which no timeline shows
  bool has_samples = false;          ///< hardware samples of at least one GPU
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< from `end`, otherwise from the last heartbeat
  std::optional<EndRecord> end;                          ///< absent: the program was killed
  ReadSummary read;

  [[nodiscard]] const GpuRecord* gpu(std::uint32_t id) const noexcept;
  [[nodiscard]] const KernelNameRecord& kernel_name(std::uint32_t id) const;
  /// "(unknown)" for ids without a name in the trace.
  [[nodiscard]] const std::string& own_name(std::uint32_t path) const;
  [[nodiscard]] const std::string& text(std::uint32_t name) const;
  /// 0: outermost.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// The name of a thread; "thread 4711" if it has none.
  [[nodiscard]] std::string thread_name(std::uint32_t thread) const;
  /// "" for the default domain.
  [[nodiscard]] std::string domain_name(std::uint32_t domain) const;
};

/// Throws Missing if the files cannot be read or are not a trace of this major version.
[[nodiscard]] TraceOutline read_outline(const TraceFolder& files);

}  // namespace rangefinder
