// SPDX-License-Identifier: Apache-2.0
#include "tools/export/trace_outline.h"

#include <algorithm>
#include <variant>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/trace_reader.h"

namespace rangefinder {
namespace {

const std::string kUnknown = "(unknown)";

/// Adds a record to the outline. Lines that are no events define names.
struct Outline {
  TraceOutline& out;
  const Line& line;

  template <typename Record>
  void operator()(const Record& record) const {
    out.CoveredTime::add(record);
    if constexpr (std::is_same_v<Record, UnknownLine>) {
      return;
    } else if constexpr (!is_event(kKind<Record>.name)) {
      out.TraceNames::add(line);
    } else if constexpr (requires { record.work; }) {
      if (is_timed(record.work)) out.worked.insert(record.work.correlation);
    } else if constexpr (is_launch_record<Record>) {
      if (launch_of(record) != nullptr) out.launched.insert(launch_of(record)->correlation);
    }
    if constexpr (std::is_same_v<Record, CategoryRecord>) {
      out.categories.emplace(std::pair(record.domain, record.id), record.name);
    } else if constexpr (std::is_same_v<Record, NameRecord>) {
      out.names.emplace(record.id, record.text);
    } else if constexpr (std::is_same_v<Record, MetricSetRecord>) {
      out.metric_sets.emplace(record.id, record);
    } else if constexpr (requires { out.host_stacks.add(record); }) {
      out.host_stacks.add(record);
    }
  }
};

}  // namespace

const std::string& TraceOutline::text(std::uint32_t name) const {
  const auto it = names.find(name);
  return it == names.end() ? kUnknown : it->second;
}

std::string TraceOutline::thread_name(std::uint32_t thread) const {
  const auto it = threads.find(thread);
  return it == threads.end() || it->second.empty() ? "thread " + std::to_string(thread) : it->second;
}

std::string TraceOutline::domain_name(std::uint32_t domain) const {
  if (domain == 0) return {};
  const auto it = domains.find(domain);
  return it == domains.end() ? kUnknown : it->second;
}

TraceFolder recorded_trace(const TraceFolder& files) {
  if (files.segments.empty()) {
    throw Missing(files.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                  "  An export needs the trace: copy its trace-*.ndjson files next to the summary.");
  }
  TraceFolder out = files;
  out.recorded_paths = true;
  return out;
}

TraceOutline read_outline(const TraceFolder& files) {
  TraceOutline out;
  out.files = recorded_trace(files);
  LineReader reader;
  TraceBeginning beginning;
  out.read = read_lines(
      out.files, reader,
      [&](const Line& line, const LinePlace& place) {
        beginning.line(line, place);
        std::visit(Outline{out, line}, line);
      },
      // After the header, read_damage reports it.
      [&](const std::string& error, const LinePlace& place) { beginning.broken(error, place); });
  TraceBeginning::end(files, out.read);
  if (out.end) out.loss = out.end->loss;
  std::sort(out.gpus.begin(), out.gpus.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

}  // namespace rangefinder
