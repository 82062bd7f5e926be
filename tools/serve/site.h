// SPDX-License-Identifier: Apache-2.0
//
// Routes of `serve`.
//
//   /                  the page of `serve`: programs, traces, one program live        tools/web, live.html
//   /trace             the page of `report --html`                                    ?trace=
//   /metrics           for Prometheus
//   /api/traces, /api/processes                               flat rows
//   /api/columns       titles and units of these two, for the page
//   /api/modules, /api/kernels, /api/findings, /api/timeline     flat rows            ?trace= or ?pid=
//   /api/live          Server-Sent Events                                             ?pid= &every_ms=
//   /api/perfetto      the trace for ui.perfetto.dev                                  ?trace= or ?pid=
//
// All routes are read-only. Without ?trace= and ?pid= they answer for the latest trace.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "tools/export/prometheus_families.h"
#include "tools/serve/http.h"
#include "tools/serve/kept_answers.h"
#include "tools/serve/running_programs.h"
#include "tools/serve/server_metrics.h"
#include "tools/serve/trace_index.h"
#include "tools/serve/trace_list.h"

namespace rangefinder {

/// The page of `serve`: tools/web/dist/live.html, embedded at build time.
[[nodiscard]] std::string_view live_page() noexcept;

/// Any thread.
class Site {
 public:
  /// Throws Missing if one of `places` is not a folder. `stopping`: streams end when it becomes true.
  Site(const std::vector<std::string>& places, const PrometheusLimits& limits,
       const std::atomic<bool>& stopping);

  /// The listener whose refusals /metrics reports. Call before the first answer().
  void set_listener(const HttpListener* listener) { listener_ = listener; }
  /// Turns errors into responses.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) noexcept;

 private:
  [[nodiscard]] HttpResponse route(const HttpRequest& request);
  [[nodiscard]] HttpResponse modules(const HttpRequest& request);
  [[nodiscard]] HttpResponse kernels(const HttpRequest& request);
  [[nodiscard]] HttpResponse live(const HttpRequest& request);
  /// `name`: of the answer, with its parameters.
  [[nodiscard]] HttpResponse about_trace(const HttpRequest& request, const std::string& name,
                                         const KeptAnswers::Make& make);
  [[nodiscard]] IndexedTrace trace(const HttpRequest& request);

  TraceIndex index_;
  TraceList facts_;
  KeptAnswers answers_;
  RunningPrograms programs_;
  ServerMetrics metrics_;
  const HttpListener* listener_ = nullptr;
};

}  // namespace rangefinder
