// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_overview.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string day_of(const Header& header) {
  const auto seconds = static_cast<std::time_t>(header.base_unix_ns / 1'000'000'000);
  std::tm utc{};
  std::array<char, 16> text{};
  if (gmtime_r(&seconds, &utc) == nullptr) return "";
  return std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc) == 0 ? "" : text.data();
}

std::string error_of(const RunSummary& run) {
  const std::optional<double> error = run.bytes ? run.bytes->error_pct() : std::nullopt;
  return error ? "DRAM ± " + error_text(*error) : "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (!part.empty()) out += (out.empty() ? "" : " · ") + part;
  }
  return out;
}

std::string source_text(const TraceTotals& trace) {
  if (trace.header.counters == "exact") return "bytes from exact counters";
  if (trace.sample_intervals_ns.empty()) return "bytes not measured";
  return "bytes from hardware samples, one every " + duration_text(*trace.sample_intervals_ns.begin());
}

std::string conditions_text(const TraceTotals& trace, const RunSummary& run) {
  const std::uint64_t lost = std::accumulate(trace.loss.begin(), trace.loss.end(), std::uint64_t{0});
  const std::string clocks = held_means_text(run);
  return joined({trace.gpus.empty() ? "" : printable(trace.gpus.front().name),
                 clocks.empty() ? "clocks not recorded" : clocks, source_text(trace), error_of(run),
                 counted_text(lost, "record", "records") + (lost == 0 ? " lost" : " lost or incomplete"),
                 day_of(trace.header)});
}

std::string caption_text(const TraceTotals& trace, const RunSummary& run) {
  return joined({opening_of(trace, run).title.front(), day_of(trace.header), source_text(trace),
                 error_of(run), "recorded by Rangefinder " + printable(trace.header.tool_version)});
}

const char* iteration_word(const RunSummary& run) {
  return run.rule == IterationRule::graph ? "replay" : "iteration";
}

/// What the bytes of the median iteration mean for its time.
std::string headline_text(const RunSummary& run, const Opening& opening) {
  const auto of_peak = std::find_if(run.findings.begin(), run.findings.end(), [](const Finding& finding) {
    return finding.id == "graph_below_peak" && finding.saving_each_ns;
  });
  if (of_peak != run.findings.end()) {
    for (const Evidence& one : of_peak->evidence) {
      if (one.key != "dram_peak_share") continue;
      return "`" + of_peak->where + "` moves its bytes at " + cell_text(Cell(one.value), one.unit, false) +
             " of the DRAM peak: up to " + duration_text(*of_peak->saving_each_ns) + " of " +
             duration_text(run.wall_ns) + " could be saved";
    }
  }
  for (const Opening::Line& line : opening.lines) {
    if (line.of != Opening::Line::About::bytes) continue;
    return "One " + std::string(iteration_word(run)) + " moves " + line.value + " through DRAM in " +
           duration_text(run.wall_ns) + ": " + line.about;
  }
  return "";
}

void put_time(OrderedJson& link, const SampleWindow& window) {
  link["view"] = "timeline";
  link["from"] = window.from_ns;
  link["to"] = window.to_ns;
}

}  // namespace

PageOverview::PageOverview(const PageCounts& counts) : counts_(counts) {
  median_ = counts.summary.median_iteration();
  if (median_) picture_.emplace(counts.summary.log(), counts.summary.counted(), *median_);
}

void PageOverview::measure(const TraceTotals& part, const SampledTrace& samples) {
  if (picture_) picture_->measure(part, samples);
}

void PageOverview::begin(const SectionInput& input) {
  if (!median_) return;
  const Iterations& iterations = counts_.found;
  const TraceTotals& part = input.counted == nullptr ? input.trace : input.counted->trace;
  parts_.emplace(part, iterations.by_range() ? iterations.paths : std::unordered_set<std::uint32_t>(),
                 kMaxParts);
  bars_.emplace(counts_.summary.log(), *parts_);
  if (!picture_->is_measured() && input.counted != nullptr && input.trace.header.counters == "exact")
    picture_->measure_exact(part);
}

void PageOverview::add(const SelectedRows& rows) {
  if (!median_) return;
  bars_->add(rows);
  if (picture_) picture_->add(rows);
  const IterationTotals& median = counts_.summary.log().rows()[*median_];
  rows.work(kColumns, [&](const auto& record, bool) {
    const GpuWork& work = record.work;
    if (!is_timed(work) || work.start_ns >= median.to_ns || work.end_ns <= median.from_ns) return;
    SampleWindow& span =
        spans_.try_emplace(work.path, SampleWindow{work.start_ns, work.end_ns}).first->second;
    span = {std::min(span.from_ns, work.start_ns), std::max(span.to_ns, work.end_ns)};
  });
}

std::optional<SampleWindow> PageOverview::span_of(std::uint32_t path, const TraceNames& names) const {
  std::optional<SampleWindow> out;
  for (const auto& [of, span] : spans_) {
    std::uint32_t up = of;
    while (up != 0 && up != path) up = names.parent_of(up);
    if (up != path) continue;
    if (!out) out = span;
    out = {std::min(out->from_ns, span.from_ns), std::max(out->to_ns, span.to_ns)};
  }
  return out;
}

OrderedJson PageOverview::time_link(const char* text) const {
  OrderedJson link{{"text", text}};
  const IterationTotals& median = counts_.summary.log().rows()[*median_];
  put_time(link, {median.from_ns, median.to_ns});
  return link;
}

OrderedJson PageOverview::opening_json(const TraceTotals& trace, const RunSummary& run) const {
  const Opening opening = opening_of(trace, run);
  OrderedJson lines = OrderedJson::array();
  for (const Opening::Line& line : opening.lines) {
    OrderedJson links = OrderedJson::array();
    if (line.of == Opening::Line::About::bytes) {
      if (run.bytes)
        links.push_back({{"text", "modules by DRAM bytes"}, {"view", "modules"}, {"metric", "dram"}});
    } else if (median_) {
      const bool is_first = line.of == Opening::Line::About::time;
      links.push_back(time_link(is_first ? "median iteration in the timeline" : "in the timeline"));
    }
    if (line.of == Opening::Line::About::time && median_)
      links.push_back({{"text", "all iterations"}, {"view", "iterations"}});
    lines.push_back({{"label", line.label}, {"value", line.value}, {"about", line.about}, {"links", links}});
  }
  OrderedJson next = OrderedJson::object();
  if (!opening.next.what.empty())
    next = {{"what", opening.next.what}, {"code", opening.next.code}, {"command", opening.next.command}};
  return {{"title", opening.title},
          {"warnings", opening.warnings},
          {"lines", std::move(lines)},
          {"findings", opening.findings},
          {"next", std::move(next)}};
}

OrderedJson PageOverview::evidence_json(const TraceTotals& trace, const Finding& finding,
                                        const FindingLinks& links, const PageIndices& indices) const {
  OrderedJson out = OrderedJson::array();
  const std::uint32_t path = links.path(finding.where).value_or(0);
  if (path != 0)
    out.push_back({{"text", trace.path_text(path)}, {"view", "modules"}, {"module", indices.module(path)}});
  if (finding.kernel_id && indices.kernel(*finding.kernel_id) >= 0)
    out.push_back(
        {{"text", finding.kernel}, {"view", "kernels"}, {"kernel", indices.kernel(*finding.kernel_id)}});
  const std::optional<SampleWindow> span = path == 0 ? std::nullopt : span_of(path, trace);
  if (span) {
    OrderedJson link{{"text", "in the timeline"}};
    put_time(link, *span);
    if (path != 0) link["module"] = indices.module(path);
    out.push_back(std::move(link));
  } else if (median_ && finding.where.empty()) {
    out.push_back(time_link("median iteration in the timeline"));
  }
  return out;
}

OrderedJson PageOverview::json(const SectionInput& input, const RunSummary& run, const PageIndices& indices) {
  OrderedJson out = opening_json(input.trace, run);
  OrderedJson evidence = OrderedJson::array();
  const FindingLinks links(input.trace, indices);
  for (std::size_t i = 0; i < run.findings.size(); ++i) {
    OrderedJson of_one = evidence_json(input.trace, run.findings[i], links, indices);
    of_one.push_back({{"text", "evidence"}, {"view", "findings"}, {"finding", i}});
    evidence.push_back(std::move(of_one));
  }
  out["evidence"] = std::move(evidence);
  out["conditions"] = conditions_text(input.trace, run);
  if (!median_) return out;
  out["what"] = iteration_word(run);
  out["of"] = run.path;
  out["strip"] = bars_->json(input.trace, indices, *median_);
  if (!picture_ || input.counted == nullptr) return out;
  OrderedJson picture = picture_->json(*input.counted, run, counts_, indices);
  if (picture.is_null()) return out;
  picture["headline"] = headline_text(run, opening_of(input.trace, run));
  picture["caption"] = caption_text(input.trace, run);
  out["picture"] = std::move(picture);
  return out;
}

}  // namespace rangefinder
