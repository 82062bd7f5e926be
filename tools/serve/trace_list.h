// SPDX-License-Identifier: Apache-2.0
//
// Rows of the list of traces, from the first line of each trace.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/analysis/table/table.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class TraceList {
 public:
  /// [{trace, executable, command, host, pid, rank, counters, started_unix_ms, changed_unix_ms, bytes}]
  [[nodiscard]] nlohmann::ordered_json rows(const std::vector<IndexedTrace>& traces);
  /// Those that the page of `serve` shows of them.
  [[nodiscard]] static std::vector<TableColumn> columns();

 private:
  /// Fields of the header; empty: unreadable.
  [[nodiscard]] nlohmann::ordered_json header_of(const IndexedTrace& trace);

  std::mutex mutex_;
  /// By file; guarded by mutex_. A header never changes, so only unreadable ones are read again.
  std::map<std::string, nlohmann::ordered_json> headers_;
};

}  // namespace rangefinder
