// SPDX-License-Identifier: Apache-2.0
//
// /metrics: programs that run or ran while `serve` runs, else the latest trace; and `serve` itself.
//
//   RunningPrograms::feed ─▶ ProcessLedger ─┐
//   no program yet: trace_families ─────────┴▶ text for Prometheus (prometheus_families.h)
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "tools/export/prometheus_families.h"
#include "tools/serve/process_ledger.h"
#include "tools/serve/running_programs.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class ServerMetrics {
 public:
  ServerMetrics(const PrometheusLimits& limits, RunningPrograms& programs, TraceIndex& index)
      : limits_(limits), programs_(programs), index_(index), ledger_(limits) {}

  /// `refusals`: nullptr in tests without a listener.
  [[nodiscard]] std::string text(const HttpRefusals* refusals);

 private:
  [[nodiscard]] std::string sums();
  /// Of the latest trace. It is read when it has changed.
  [[nodiscard]] const std::string& of_trace(const IndexedTrace& trace);

  const PrometheusLimits limits_;
  RunningPrograms& programs_;
  TraceIndex& index_;
  std::mutex mutex_;
  ProcessLedger ledger_;                                      // guarded by mutex_
  std::optional<std::chrono::steady_clock::time_point> fed_;  // guarded by mutex_
  std::string trace_state_, trace_text_;                      // guarded by mutex_
};

}  // namespace rangefinder
