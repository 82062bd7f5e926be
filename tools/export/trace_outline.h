// SPDX-License-Identifier: Apache-2.0
//
// The data of a trace that exporters need before its first event: names, GPUs, threads, the time span, and
// the ids of launches and GPU work that belong together.
//
//   trace ─▶ read_outline() ─▶ TraceOutline ─▶ a second pass writes the events
//
// Memory grows with the number of names, plus two bits per launch.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/stack_names.h"
#include "tools/analysis/model/trace_names.h"
#include "tools/export/time_span.h"

namespace rangefinder {

struct TraceOutline : TraceNames, CoveredTime {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories;  ///< by domain and id
  std::unordered_map<std::uint32_t, MetricSetRecord> metric_sets;
  std::unordered_map<std::uint32_t, std::string> names;
  StackNames host_stacks;
  IdBitmap launched;  ///< correlation ids with a launch or exact line
  IdBitmap worked;    ///< correlation ids with timed GPU work

  /// "(unknown)" for ids without a name in the trace.
  [[nodiscard]] const std::string& text(std::uint32_t name) const;
  /// The name of a thread; "thread 4711" if it has none.
  [[nodiscard]] std::string thread_name(std::uint32_t thread) const;
  /// "" for the default domain.
  [[nodiscard]] std::string domain_name(std::uint32_t domain) const;
};

/// The trace with paths as recorded. Throws Missing if it has no segments.
[[nodiscard]] TraceFolder recorded_trace(const TraceFolder& files);
/// Throws Missing if the files cannot be read or are not a trace of this major version.
[[nodiscard]] TraceOutline read_outline(const TraceFolder& files);

}  // namespace rangefinder
