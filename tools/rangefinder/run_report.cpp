// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/run_report.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/regular_file.h"
#include "tools/analysis/report/kept_end.h"
#include "tools/analysis/report/run_summary.h"
#include "tools/analysis/validate/summary_rewrite.h"
#include "tools/rangefinder/layer_summary_reader.h"

namespace rangefinder {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxReports = 4;

struct Traced {
  std::string folder;  ///< display_path()
  nlohmann::json summary;
  LayerSummary layers;
  std::uint64_t gpu_ns = 0;
  CompletedSummaries::FirstScreen screen;
};

/// As the user would type it: relative if it is below the current folder.
std::string display_path(const fs::path& folder) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const std::string relative = error ? "" : folder.lexically_relative(here).string();
  if (relative.empty() || relative.starts_with("..")) return folder.string();
  return relative;
}

std::string nothing_written(const std::string& program) {
  return "rangefinder: no trace was written: " + printable(program) +
         " and its child processes made no CUDA call\n"
         "  If it does use CUDA, `rangefinder doctor` reports what is missing. A profiler that it starts, "
         "such\n"
         "  as nsys, sets CUDA_INJECTION64_PATH itself, and the driver loads only one library: run without "
         "it.\n";
}

std::vector<Traced> read_summaries(const std::vector<fs::path>& folders, const CompletedSummaries& completed,
                                   std::string& messages) {
  std::vector<Traced> out;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const fs::path& folder = folders[i];
    Traced traced{display_path(folder), {}, {}, 0, completed.screens[i]};
    traced.summary = read_json_file<nlohmann::json>(folder / "summary.json");
    if (!traced.summary.is_object()) {
      messages += "rangefinder: no summary in " + traced.folder +
                  ": the process ended before it wrote one\n  Next:  rangefinder report " +
                  quoted_for_shell(traced.folder) + "\n";
      continue;
    }
    traced.layers = read_layer_summary(traced.summary);
    traced.gpu_ns = total_gpu_ns(traced.layers);
    out.push_back(std::move(traced));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Traced& a, const Traced& b) { return a.gpu_ns > b.gpu_ns; });
  return out;
}

std::string process_title(const nlohmann::json& summary) {
  const auto process = summary.find("process");
  if (process == summary.end() || !process->is_object()) return "process";
  const auto pid = process->find("pid");
  const auto executable = process->find("executable");
  std::string text = "process";
  if (pid != process->end() && pid->is_number_integer())
    text += " " + std::to_string(pid->get<std::int64_t>());
  if (executable != process->end() && executable->is_string())
    text += "  " + printable(executable->get<std::string>());
  return text;
}

/// The number of findings, and the first one, which has the largest potential saving.
std::string findings_line(const Traced& traced) {
  const auto findings = traced.summary.find("findings");
  if (findings == traced.summary.end() || !findings->is_array() || findings->empty()) return {};
  const auto title = findings->front().find("title");
  if (title == findings->front().end() || !title->is_string()) return {};
  return counted_text(findings->size(), "finding", "findings") +
         ", the first: " + printable(title->get<std::string>()) + "\n  rangefinder report " +
         quoted_for_shell(traced.folder) + " --section findings\n";
}

}  // namespace

CompletedSummaries complete_summaries(const std::vector<fs::path>& folders, const TextStyle* style) {
  CompletedSummaries out;
  for (const fs::path& absolute : folders) {
    const std::string folder = display_path(absolute);  // the summary and its hints name it
    CompletedSummaries::FirstScreen& screen = out.screens.emplace_back();
    const std::string kept = complete_summary(
        folder, kMaxBytesToRead, [&screen, style](WholeTrace& trace, const RunSummary& of_trace) {
          if (style == nullptr) return;
          const std::string removed = kept_end_text(trace.totals(), trace.values(), true, *style);
          screen.opening = run_summary_text(trace.totals(), of_trace, *style) + removed + "\n";
          screen.next_step = next_step_text(trace.totals(), of_trace, *style);
        });
    if (!kept.empty()) out.messages += "rangefinder: " + folder + ": " + kept + "\n";
  }
  return out;
}

std::string run_report(const std::vector<fs::path>& folders, const CompletedSummaries& completed,
                       const std::string& program, const LayerReportStyle& style) {
  if (folders.empty()) return nothing_written(program);
  std::string out;
  const std::vector<Traced> traced = read_summaries(folders, completed, out);
  for (std::size_t i = 0; i < std::min(traced.size(), kMaxReports); ++i) {
    LayerReportStyle own = style;
    own.folder = traced[i].folder;
    own.next = traced[i].screen.next_step.empty();
    out += "\n";
    const std::string& text = traced[i].screen.opening;
    if (folders.size() > 1 && text.empty()) out += process_title(traced[i].summary) + "\n";
    out += text + layer_report(traced[i].layers, own);
    out += text.empty() ? findings_line(traced[i]) : "\n" + traced[i].screen.next_step;
  }
  if (traced.size() > kMaxReports) {
    out += "\n" + counted_text(traced.size() - kMaxReports, "more process was", "more processes were") +
           " traced:\n";
    for (std::size_t i = kMaxReports; i < traced.size(); ++i) {
      out += "  " + traced[i].folder + "  " + duration_text(traced[i].gpu_ns) + " of GPU time\n";
    }
  }
  return out;
}

}  // namespace rangefinder
