// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/trace_list.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "profiler/base/duration.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxHeaders = 4 * TraceIndex::kMaxTraces, kMaxCommand = 500;

std::int64_t unix_ms(std::filesystem::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::milliseconds>(system.time_since_epoch()).count();
}

OrderedJson read_header(const std::filesystem::path& file) {
  try {
    const std::optional<Header> header = first_header(file);
    if (!header) return OrderedJson::object();
    OrderedJson out{{"executable", header->executable},
                    {"command", words_text(header->command).substr(0, kMaxCommand)},
                    {"host", header->host},
                    {"pid", header->pid},
                    {"counters", header->counters},
                    {"started_unix_ms", header->base_unix_ns / kNsPerMs}};
    if (!header->rank.empty()) out["rank"] = header->rank;
    return out;
  } catch (const Missing&) {
    return OrderedJson::object();
  }
}

}  // namespace

OrderedJson TraceList::header_of(const IndexedTrace& trace) {
  const std::filesystem::path& file = trace.files.segments.front().path;
  const std::string key = file.string();
  const std::lock_guard lock(mutex_);
  if (const auto at = headers_.find(key); at != headers_.end()) return at->second;
  OrderedJson header = read_header(file);
  if (header.empty()) return header;
  if (headers_.size() >= kMaxHeaders) headers_.clear();
  return headers_[key] = std::move(header);
}

OrderedJson TraceList::rows(const std::vector<IndexedTrace>& traces) {
  OrderedJson out = OrderedJson::array();
  for (const IndexedTrace& trace : traces) {
    OrderedJson row{{"trace", trace.id}};
    row.update(header_of(trace));
    row["changed_unix_ms"] = unix_ms(trace.changed);
    row["bytes"] = trace.bytes;
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<TableColumn> TraceList::columns() {
  return {{"trace", "trace"},
          {"executable", "program"},
          {"pid", "process"},
          {"rank", "rank"},
          {"counters", "counters"},
          {"started_unix_ms", "started (UTC)"},
          {"bytes", "size", Unit::bytes}};
}

}  // namespace rangefinder
