// SPDX-License-Identifier: Apache-2.0
//
// Which question gets which answer.
//
//   /                  the page of `serve`: programs, traces, one program live        tools/web, live.html
//   /trace             the page of `report --html`                                    ?trace=
//   /metrics           for Prometheus
//   /api/traces, /api/processes
//   /api/modules, /api/kernels, /api/findings, /api/timeline     flat rows            ?trace= or ?pid=
//   /api/live          Server-Sent Events                                             ?pid= &every_ms=
//   /api/perfetto      the trace for ui.perfetto.dev                                  ?trace= or ?pid=
//
// Everything only reads. Without ?trace= and ?pid= it is the latest trace.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "tools/export/prometheus_families.h"
#include "tools/serve/http.h"
#include "tools/serve/running_programs.h"
#include "tools/serve/server_metrics.h"
#include "tools/serve/trace_answers.h"
#include "tools/serve/trace_index.h"
#include "tools/serve/trace_list.h"

namespace rangefinder {

/// Any thread.
class Site {
 public:
  /// Throws Missing where one of `places` is no folder. `stopping`: streams end.
  Site(const std::vector<std::string>& places, const PrometheusLimits& limits,
       const std::atomic<bool>& stopping)
      : index_(places), programs_(stopping), metrics_(limits, programs_, index_, answers_) {}

  /// Whose refusals /metrics tells of. Before the first answer.
  void set_listener(const HttpListener* listener) { listener_ = listener; }
  /// Never throws: what goes wrong is an answer as well.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) noexcept;

 private:
  [[nodiscard]] HttpResponse route(const HttpRequest& request);
  [[nodiscard]] HttpResponse rows(const HttpRequest& request, TraceAnswers::Rows which);
  [[nodiscard]] HttpResponse live(const HttpRequest& request);
  [[nodiscard]] HttpResponse perfetto(const HttpRequest& request);
  [[nodiscard]] IndexedTrace trace(const HttpRequest& request);

  TraceIndex index_;
  TraceList facts_;
  TraceAnswers answers_;
  RunningPrograms programs_;
  ServerMetrics metrics_;
  const HttpListener* listener_ = nullptr;
};

}  // namespace rangefinder
