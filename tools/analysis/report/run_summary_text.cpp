// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/report/run_summary.h"

namespace rangefinder {
namespace {

constexpr std::size_t kTitles = 3;
constexpr double kMinMeanDifference = 0.05;
constexpr double kMinShare = 0.001;  // smaller causes of idle time are not listed

std::string program_text(const Header& header) {
  std::string out = std::filesystem::path(header.executable).filename().string();
  for (std::size_t i = 1; i < header.command.size(); ++i) out += " " + header.command[i];
  constexpr std::size_t kWidth = 48;
  return cut_back(printable(out), kWidth);
}

std::string gpus_text(const std::vector<GpuRecord>& gpus) {
  if (gpus.empty()) return "";
  const std::string name = printable(gpus.front().name);
  return " on " + (gpus.size() == 1 ? name : count_text(gpus.size()) + " GPUs (" + name + ")");
}

std::vector<std::string> title(const TraceTotals& trace) {
  const Header& header = trace.header;
  std::string of = printable(trace.files.folder.string()) + ": process " + std::to_string(header.pid) +
                   " on " + printable(header.host);
  if (!header.rank.empty()) of += ", rank " + printable(header.rank);
  if (!header.driver_release.empty()) of += ", driver " + printable(header.driver_release);
  if (header.runtime_version > 0) of += ", CUDA runtime " + cuda_version_text(header.runtime_version);
  return {program_text(header) + gpus_text(trace.gpus) + ", " +
              duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(trace.last_ns, 0))),
          of};
}

std::string text_of(const std::vector<Opening::Line>& lines, std::size_t width) {
  constexpr std::size_t kLabel = 14, kValue = 9, kAbout = 2 + kLabel + kValue + 3;
  std::string out;
  for (const auto& [of, label, value, about] : lines) {
    out += "  " + label + std::string(kLabel - std::min(kLabel, text_width(label)), ' ');
    out += std::string(kValue - std::min(kValue, text_width(value)), ' ') + value;
    const std::string wrapped = wrapped_text(about, width, std::string(kAbout, ' '));
    out += wrapped.empty() ? "\n" : "   " + wrapped.substr(kAbout);
  }
  return out;
}

std::string iteration_about(const RunSummary& run) {
  if (run.path.empty()) return "from the first to the last GPU work; no iterations were found";
  const char* const of = run.rule == IterationRule::kernels ? " iterations, one "
                         : run.rule == IterationRule::graph ? " launches of "
                                                            : " of ";
  std::string out = "median of " + count_text(run.count) + of + printable(run.path) + ", ";
  out +=
      run.p95_ns ? "95 % within " + duration_text(*run.p95_ns) : "longest " + duration_text(*run.longest_ns);
  // Both are shown where they differ: outliers decide the mean.
  const auto median = static_cast<double>(run.wall_ns);
  if (std::abs(static_cast<double>(run.mean_ns) - median) > kMinMeanDifference * median)
    out += ", mean " + duration_text(run.mean_ns);
  if (run.warm_up != 0) out += ", without " + count_text(run.warm_up) + " of warm-up";
  return out;
}

/// Shares of the wall time by cause, largest first: those above `least`.
std::vector<std::pair<double, IdleCause>> causes_of(const RunSummary& run, double least) {
  std::vector<std::pair<double, IdleCause>> out;
  double sum = 0;
  for (const std::uint64_t ns : run.idle) sum += static_cast<double>(ns);
  if (sum == 0 || !run.busy_share) return out;
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    const double share = (1 - *run.busy_share) * static_cast<double>(run.idle[i]) / sum;
    if (share > least) out.emplace_back(share, static_cast<IdleCause>(i));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

std::string idle_about(const RunSummary& run) {
  std::string out;
  for (const auto& [share, cause] : causes_of(run, kMinShare)) {
    out += (out.empty() ? "" : ", ") + std::string(idle_cause_text(cause)) + " " + percent_text(share);
  }
  for (const auto& [function, cause] :
       {std::pair{&run.host_code, IdleCause::host_code}, std::pair{&run.host_waiting, IdleCause::waiting}}) {
    if (!*function) continue;
    out += "; " + std::string(idle_cause_text(cause)) + ": " + (*function)->text();
    if (const std::string note = (*function)->note(); !note.empty()) out += ". " + note;
  }
  return out;
}

/// Bytes of one iteration. Work without samples counts at the mean rate of the sampled work.
std::uint64_t per_iteration(const RunSummary& run, std::uint64_t sum) {
  const double share = run.bytes->partly_sampled() ? std::max(run.bytes->sampled_share, 0.01) : 1;
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(sum) / share /
                                                 static_cast<double>(std::max<std::uint64_t>(run.calls, 1))));
}

Opening::Line line_of_bytes(const TraceTotals& trace, const RunSummary& run) {
  constexpr auto kBytes = Opening::Line::About::bytes;
  if (!run.bytes) return {kBytes, "DRAM", "–", no_bytes_hint(RecordedCounters(trace))};
  const RowBytes& bytes = *run.bytes;
  const BoundedText bounded =
      bounded_text(bytes.dram(), bytes.is_bounded() ? bytes.dram_error() : std::nullopt);
  if (bounded.value == kNoNumber) return {kBytes, "DRAM", kNoNumber, few_samples_hint(run.need)};
  const auto part = [&](std::uint64_t sum, const std::optional<double>& error) {
    const bool is_known = bounded_text(sum, bytes.is_bounded() ? error : std::nullopt).value != kNoNumber;
    return is_known ? bytes_text(per_iteration(run, sum)) : kNoNumber;
  };
  std::string about = bytes.has_parts() ? part(bytes.read, bytes.read_error) + " read, " +
                                              part(bytes.write, bytes.write_error) + " written"
                                        : "read and written, from NVML";
  if (!bounded.error.empty()) about += ", ± " + bounded.error;
  if (run.derived.dram_bytes_per_s) about += "; " + rate_text(*run.derived.dram_bytes_per_s);
  if (run.derived.dram_peak_share) about += ", " + percent_text(*run.derived.dram_peak_share) + " of peak";
  if (bytes.partial()) about += "; some work was not measured";
  if (bytes.partly_sampled())
    about += "; from the " + percent_text(bytes.sampled_share) + " of it that were sampled";
  return {kBytes, "DRAM", bytes_text(per_iteration(run, bytes.dram())) + (bytes.partial() ? "+" : ""), about};
}

std::vector<Opening::Line> summary_lines(const TraceTotals& trace, const RunSummary& run) {
  std::vector<Opening::Line> out;
  using About = Opening::Line::About;
  out.push_back({About::time, run.path.empty() ? "whole run" : "one iteration", duration_text(run.wall_ns),
                 iteration_about(run)});
  if (run.exact) {
    out.push_back({About::busy, "GPU busy", "–",
                   "exact counters serialise launches; for times use --counters sampled"});
  } else if (run.busy_share) {
    const char* const with = trace.graphs != 0    ? "with a kernel or a graph"
                             : trace.kernels != 0 ? "with a kernel"
                                                  : "no kernel ran";
    out.push_back({About::busy, "GPU busy", percent_text(*run.busy_share), with});
    out.push_back({About::idle, "GPU idle", percent_text(1 - *run.busy_share), idle_about(run)});
  }
  out.push_back(line_of_bytes(trace, run));
  return out;
}

bool often_idle(const RunSummary& run) {
  constexpr double kMuch = 0.1;
  return run.busy_share && 1 - *run.busy_share > kMuch;
}

/// Idle time is an answer too, though no rule is about it.
std::string no_findings_text(const RunSummary& run) {
  if (!often_idle(run)) return "No findings.";
  const std::string causes = idle_about(run);
  return "No rule fires, but the GPU is idle for " + percent_text(1 - *run.busy_share) +
         (run.path.empty() ? " of the run" : " of an iteration") + (causes.empty() ? "" : ": " + causes) +
         ".";
}

/// What limited the run, as clocks or a CPU quota; "": nothing did.
std::string limited_text(const RunSummary& run) {
  const auto limits = [](const Finding& finding) { return rule_named(finding.id).limits_run(); };
  const auto at = std::find_if(run.findings.begin(), run.findings.end(), limits);
  return at == run.findings.end() ? "" : at->effect;
}

std::string findings_number(const RunSummary& run) {
  return counted_text(run.findings.size(), "finding", "findings");
}

std::string findings_text_of(const RunSummary& run, const TextStyle& style) {
  if (run.findings.empty()) return "\n" + wrapped_text(no_findings_text(run), style.width);
  const std::size_t shown = std::min(run.findings.size(), kTitles);
  std::string out =
      "\n" + findings_number(run) + (shown < run.findings.size() ? ", the most valuable:\n" : ":\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = run.findings[i];
    const char* const colour = finding.severity == Severity::serious   ? "\033[31m"
                               : finding.severity == Severity::notable ? "\033[33m"
                                                                       : "";
    const bool coloured = style.colour && *colour != 0;
    const std::string text = wrapped_text(printable(finding.title), style.width, "     ");
    out += (coloured ? colour : "") + ("  " + std::to_string(i + 1) + ". ") + text.substr(5) +
           (coloured ? "\033[0m" : "");
  }
  return out;
}

Opening::NextStep next_step(const TraceTotals& trace, const RunSummary& run) {
  const std::string folder = quoted_for_shell(trace.files.folder.string());
  const std::string report = "rangefinder report " + folder + " --section ";
  if (!run.findings.empty()) {
    const Finding& first = run.findings.front();
    return {first.next_step, typed_command(first.code, folder), "Evidence, and all findings",
            report + "findings"};
  }
  if (often_idle(run) && run.rule == IterationRule::graph)
    return {"see how full the replays of the graph are, and what is between them", "", "", report + "graphs"};
  if (often_idle(run)) return {"see where the host is while the GPU waits", "", "", report + "idle"};
  if (run.coverage.low()) return {"see which kernels take the time", "", "", report + "kernels"};
  if (const RecordedCounters recorded(trace); !run.bytes && recorded.off())
    return {"measure which module moves how many bytes", "", "",
            "rangefinder run --counters sampled -- PROGRAM"};
  return {"compare the modules", "", "", report + "modules"};
}

std::vector<std::string> warnings_of(const RunSummary& run) {
  std::vector<std::string> out;
  if (const std::string covered = coverage_text(run.coverage); !covered.empty()) out.push_back(covered + ".");
  if (const std::string limited = limited_text(run); !limited.empty()) out.push_back(limited + ".");
  return out;
}

}  // namespace

Opening opening_of(const TraceTotals& trace, const RunSummary& run) {
  Opening out;
  out.title = title(trace);
  if (run.wall_ns == 0) return out;
  out.warnings = warnings_of(run);
  out.lines = summary_lines(trace, run);
  out.findings = run.findings.empty() ? no_findings_text(run) : findings_number(run);
  out.next = next_step(trace, run);
  return out;
}

std::string held_means_text(const RunSummary& run) {
  std::string out;
  const auto add = [&out](const std::optional<RunSummary::HeldMeans>& of, const char* before,
                          const char* unit) {
    if (!of) return;
    const auto whole = [](double value) {
      return count_text(static_cast<std::uint64_t>(std::llround(value)));
    };
    out += (out.empty() ? "" : ", ") + std::string(before) + whole(of->median) + unit;
    if (whole(of->min) != whole(of->max)) out += " (" + whole(of->min) + " to " + whole(of->max) + ")";
  };
  add(run.sm_mhz, "SM ", " MHz");
  add(run.power_w, "", " W");
  return out;
}

std::string run_summary_text(const TraceTotals& trace, const RunSummary& run, const TextStyle& style) {
  std::string out;
  for (const std::string& line : title(trace)) out += line + "\n";
  if (run.wall_ns == 0) return out;
  for (const std::string& warning : warnings_of(run))
    out += "\n" + wrapped_text("  " + printable(warning), style.width, "  ");
  return out + "\n" + text_of(summary_lines(trace, run), style.width) + findings_text_of(run, style);
}

std::string next_step_text(const TraceTotals& trace, const RunSummary& run, const TextStyle& style) {
  if (run.wall_ns == 0) return "";
  const Opening::NextStep next = next_step(trace, run);
  std::string out = wrapped_text("Next: " + printable(next.what) + ".", style.width);
  if (!next.code.empty()) out += "  " + printable(next.code) + "\n";
  if (!next.about.empty()) out += next.about + ":\n";
  return out + "  " + printable(next.command) + "\n";
}

std::string run_summary_markdown(const TraceTotals& trace, const RunSummary& run) {
  if (run.wall_ns == 0) return "";
  std::string out;
  for (const std::string& warning : warnings_of(run)) out += "> " + warning + "\n\n";
  for (const auto& [of, label, value, about] : summary_lines(trace, run))
    out += "* " + label + " **" + value + "**" + (about.empty() ? "" : ": " + about) + "\n";
  out += "\n";
  if (run.findings.empty()) out += no_findings_text(run) + "\n";
  for (std::size_t i = 0; i < std::min(run.findings.size(), kTitles); ++i)
    out += std::to_string(i + 1) + ". " + printable(run.findings[i].title) + "\n";
  const Opening::NextStep next = next_step(trace, run);
  return out + "\nNext: " + printable(next.what) + ".\n\n```\n" +
         (next.code.empty() ? "" : printable(next.code) + "\n") + printable(next.command) + "\n```\n\n";
}

nlohmann::ordered_json run_summary_json(const RunSummary& run) {
  nlohmann::ordered_json out{{"wall_ns", run.wall_ns}, {"coverage", coverage_json(run.coverage)}};
  if (const std::string limited = limited_text(run); !limited.empty()) out["limited"] = limited;
  if (!run.path.empty()) {
    nlohmann::ordered_json iteration{
        {"path", run.path}, {"rule", rule_key(run.rule)}, {"count", run.count}, {"warm_up", run.warm_up}};
    iteration["mean_ns"] = run.mean_ns;
    if (run.p95_ns) iteration["p95_ns"] = *run.p95_ns;
    if (run.longest_ns) iteration["longest_ns"] = *run.longest_ns;
    out["iteration"] = std::move(iteration);
  }
  if (run.busy_share) {
    out["gpu_busy_share"] = *run.busy_share;
    out["gpu_idle_share"] = 1 - *run.busy_share;
    for (const auto& [share, cause] : causes_of(run, 0)) out["idle_shares"][idle_cause_key(cause)] = share;
    if (run.host_code) out["host_code"] = function_json(*run.host_code);
    if (run.host_waiting) out["host_waiting"] = function_json(*run.host_waiting);
  }
  if (run.bytes) {
    if (run.bytes->has_parts()) {
      out["dram_read_bytes"] = per_iteration(run, run.bytes->read);
      out["dram_write_bytes"] = per_iteration(run, run.bytes->write);
    } else {
      out["dram_bytes"] = per_iteration(run, run.bytes->dram());
      out["bytes_source"] = "gpm";
    }
    if (const auto error_pct = run.bytes->error_pct()) out["bytes_error_pct"] = *error_pct;
    if (run.bytes->partly_sampled()) out["sampled_share"] = run.bytes->sampled_share;
    if (run.derived.dram_bytes_per_s) out["dram_bytes_per_s"] = *run.derived.dram_bytes_per_s;
    if (run.derived.dram_peak_share) out["dram_peak_share"] = *run.derived.dram_peak_share;
  }
  return out;
}

nlohmann::ordered_json iteration_conditions_json(const RunSummary& run) {
  if (!run.sm_mhz && !run.power_w) return nullptr;
  nlohmann::ordered_json out{{"path", run.path}, {"count", run.count}};
  const auto add = [&out](const char* key, const std::optional<RunSummary::HeldMeans>& of) {
    const auto whole = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
    if (of) out[key] = {{"min", whole(of->min)}, {"median", whole(of->median)}, {"max", whole(of->max)}};
  };
  add("sm_mhz", run.sm_mhz);
  add("power_w", run.power_w);
  return out;
}

}  // namespace rangefinder
