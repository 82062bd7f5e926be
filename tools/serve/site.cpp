// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/site.h"

#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/kernel_table.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/queries/section.h"
#include "tools/page/page.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_data.h"
#include "tools/serve/flat_rows.h"
#include "tools/serve/perfetto_file.h"
#include "tools/serve/timeline_rows.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kStatusBadRequest = 400, kNotFound = 404, kServerError = 500;
constexpr std::size_t kStretches = 600;

/// Wrong parameters of a request.
struct BadQuery : std::runtime_error {
  using std::runtime_error::runtime_error;
};

HttpResponse error_answer(int status, const std::string& message) {
  HttpResponse out;
  out.status = status;
  out.body = compact_json({{"error", message}});
  return out;
}

HttpResponse json_answer(std::string text) {
  HttpResponse out;
  out.body = std::move(text);
  return out;
}

std::int64_t number_in(const std::string& name, const std::string& text, std::int64_t min, std::int64_t max) {
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size() || out < min || out > max) {
    throw BadQuery(name + " must be a number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return out;
}

std::int64_t number_of(const HttpRequest& request, const std::string& name, std::int64_t fallback,
                       std::int64_t min, std::int64_t max) {
  const std::string* const text = request.parameter(name);
  return text == nullptr ? fallback : number_in(name, *text, min, max);
}

std::optional<pid_t> pid_of(const HttpRequest& request) {
  const std::string* const text = request.parameter("pid");
  if (text == nullptr) return std::nullopt;
  return static_cast<pid_t>(number_in("pid", *text, 1, 1 << 22));
}

/// Uses the policy in the page itself, and forbids framing.
HttpResponse page_answer(std::string_view policy_of, std::string text) {
  constexpr std::string_view kBegin = "http-equiv=\"Content-Security-Policy\" content=\"";
  const std::size_t at = policy_of.find(kBegin);
  if (at == std::string_view::npos) throw std::logic_error("the page has no policy");
  const std::size_t first = at + kBegin.size();
  HttpResponse out;
  out.type = "text/html; charset=utf-8";
  out.policy =
      std::string(policy_of.substr(first, policy_of.find('"', first) - first)) + "; frame-ancestors 'none'";
  out.body = std::move(text);
  return out;
}

std::string page_text(WholeTrace& trace) {
  std::ostringstream out;
  write_page(trace, out);
  return std::move(out).str();
}

OrderedJson section_json(WholeTrace& trace, const SectionKind& kind) {
  const SectionView view;
  const std::unique_ptr<Section> section = kind.make(view);
  trace.each([&section](const SelectedRows& rows) { section->add(rows); });
  section->finish();
  return section->json({trace.totals(), trace.values(), view});
}

/// Of the two lists of the page.
OrderedJson list_columns() {
  return {{"processes", columns_json(RunningPrograms::columns())},
          {"traces", columns_json(TraceList::columns())}};
}

// The rows of `report --json` about a whole trace, without nested values (flat_rows.h).

OrderedJson module_rows_of(WholeTrace& trace) {
  return flat_modules(section_json(trace, kModulesSection));
}

OrderedJson kernel_rows_of(WholeTrace& trace) {
  return flat_rows(section_json(trace, kKernelsSection).at("kernels"));
}

OrderedJson finding_rows_of(WholeTrace& trace) {
  FindingRules rules(trace.iterations());
  rules.read([&trace](const auto& see) { trace.each(see); });
  const SectionView view;
  return flat_rows(findings_json(rules.findings({trace.totals(), trace.values(), view})));
}

}  // namespace

Site::Site(const std::vector<std::string>& places, const PrometheusLimits& limits,
           const std::atomic<bool>& stopping)
    : index_(places),
      answers_(kPageColumns | kModulesColumns | kKernelsColumns | kTimelineColumns),
      programs_(stopping),
      metrics_(limits, programs_, index_) {}

IndexedTrace Site::trace(const HttpRequest& request) {
  if (const auto pid = pid_of(request)) return RunningPrograms::trace(*pid);
  const std::string* const id = request.parameter("trace");
  return index_.find(id == nullptr ? "" : *id);
}

HttpResponse Site::about_trace(const HttpRequest& request, const std::string& name,
                               const KeptAnswers::Make& make) {
  const KeptAnswers::SharedAnswer answer = answers_.get(trace(request), name, make);
  HttpResponse out = json_answer(answer->text);
  out.damage = printable(answer->damage);
  return out;
}

// The summary of a running program has the sums of modules and kernels, so do not read its trace.
HttpResponse Site::modules(const HttpRequest& request) {
  if (const auto pid = pid_of(request))
    return json_answer(compact_json(flat_modules(OrderedJson(RunningPrograms::summary(*pid)))));
  return about_trace(request, "modules", [](WholeTrace& all) { return compact_json(module_rows_of(all)); });
}

HttpResponse Site::kernels(const HttpRequest& request) {
  if (const auto pid = pid_of(request)) {
    const OrderedJson summary(RunningPrograms::summary(*pid));
    return json_answer(compact_json(flat_rows(summary.value("kernels", OrderedJson::array()))));
  }
  return about_trace(request, "kernels", [](WholeTrace& all) { return compact_json(kernel_rows_of(all)); });
}

HttpResponse Site::live(const HttpRequest& request) {
  const auto pid = pid_of(request);
  if (!pid) throw BadQuery("the parameter pid is missing: ?pid=");
  HttpResponse out;
  out.type = "text/event-stream";
  out.parts = programs_.live(*pid, static_cast<int>(number_of(request, "every_ms", 1000, 100, 60'000)));
  return out;
}

HttpResponse Site::route(const HttpRequest& request) {
  const std::string& path = request.path;
  if (path == "/") return page_answer(live_page(), std::string(live_page()));
  if (path == "/trace")
    return page_answer(page_template(), answers_.get(trace(request), "page", page_text)->text);
  if (path == "/metrics") {
    HttpResponse out = json_answer(metrics_.text(listener_ == nullptr ? nullptr : &listener_->refusals()));
    out.type = "text/plain; version=0.0.4; charset=utf-8";
    return out;
  }
  if (path == "/api/traces") return json_answer(compact_json(facts_.rows(index_.list())));
  if (path == "/api/processes") return json_answer(compact_json(RunningPrograms::rows()));
  if (path == "/api/columns") return json_answer(compact_json(list_columns()));
  if (path == "/api/modules") return modules(request);
  if (path == "/api/kernels") return kernels(request);
  if (path == "/api/findings") {
    return about_trace(request, "findings",
                       [](WholeTrace& all) { return compact_json(finding_rows_of(all)); });
  }
  if (path == "/api/timeline") {
    const auto stretches = static_cast<std::size_t>(number_of(request, "stretches", kStretches, 1, 5'000));
    return about_trace(request, "timeline " + std::to_string(stretches),
                       [stretches](WholeTrace& all) { return compact_json(timeline_rows(all, stretches)); });
  }
  if (path == "/api/live") return live(request);
  if (path == "/api/perfetto") {
    HttpResponse out;
    out.parts = perfetto_file(trace(request).files);
    return out;
  }
  return error_answer(kNotFound, "not found");
}

HttpResponse Site::answer(const HttpRequest& request) noexcept {
  try {
    return route(request);
  } catch (const BadQuery& error) {
    return error_answer(kStatusBadRequest, error.what());
  } catch (const Missing& error) {
    return error_answer(kNotFound, error.what());
  } catch (const std::exception& error) {
    return error_answer(kServerError, error.what());
  }
}

}  // namespace rangefinder
