// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/server_metrics.h"

#include <utility>

#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

/// Minimum interval between polls of the programs, whatever the number of scrapes.
constexpr auto kMinPollInterval = std::chrono::milliseconds(500);

}  // namespace

std::string ServerMetrics::sums() {
  const auto now = std::chrono::steady_clock::now();
  if (!fed_ || now - *fed_ > kMinPollInterval) {
    programs_.feed(ledger_);
    fed_ = std::chrono::steady_clock::now();
  }
  std::string out;
  if (!ledger_.empty()) {
    ledger_.families().append(out);
    return out;
  }
  try {
    return of_trace(index_.find(""));
  } catch (const Missing&) {
    return out;  // no trace and no running program: not an error
  }
}

const std::string& ServerMetrics::of_trace(const IndexedTrace& trace) {
  if (trace_state_ == trace.state) return trace_text_;
  std::string text;
  trace_families({trace.files}, limits_).append(text);
  trace_text_ = std::move(text);
  trace_state_ = trace.state;
  return trace_text_;
}

std::string ServerMetrics::text(const HttpRefusals* refusals) {
  const std::lock_guard lock(mutex_);
  std::string out = sums();
  const auto add = [&out](const char* name, const char* help, const char* type, std::uint64_t value) {
    PrometheusFamily family(name, help, type, PrometheusUnit::one);
    family.set({}, value);
    family.append(out);
  };
  add("rangefinder_programs_running", "Programs that run with Rangefinder.", "gauge", programs_.running());
  add("rangefinder_programs_unresponsive",
      "Programs with Rangefinder that are stopped, or too busy to answer.", "gauge",
      programs_.unresponsive());
  add("rangefinder_windows_missed_total",
      "Windows that began and ended between two looks: they are in no sum.", "counter",
      ledger_.windows_missed());
  if (refusals == nullptr) return out;
  PrometheusFamily refused("rangefinder_serve_refused_requests_total",
                           "Requests that were refused, by reason.", "counter", PrometheusUnit::one);
  refused.set({{"reason", "too_large"}}, refusals->too_large);
  refused.set({{"reason", "too_slow"}}, refusals->too_slow);
  refused.set({{"reason", "too_many"}}, refusals->too_many);
  refused.set({{"reason", "foreign"}}, refusals->foreign);
  refused.set({{"reason", "malformed"}}, refusals->malformed);
  refused.append(out);
  return out;
}

}  // namespace rangefinder
