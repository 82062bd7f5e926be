// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/base/number_text.h"
#include "tools/analysis/report/opening.h"

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

std::string title(const TraceTotals& trace) {
  const Header& header = trace.header;
  std::string out = program_text(header) + gpus_text(trace.gpus) + ", " +
                    duration_text(static_cast<std::uint64_t>(std::max<TimeNs>(trace.last_ns, 0))) + "\n";
  out += printable(trace.files.folder.string()) + ": process " + std::to_string(header.pid) + " on " +
         printable(header.host);
  if (!header.rank.empty()) out += ", rank " + printable(header.rank);
  if (!header.driver_release.empty()) out += ", driver " + printable(header.driver_release);
  if (header.runtime_version > 0) out += ", CUDA runtime " + cuda_version_text(header.runtime_version);
  return out + "\n";
}

/// Rows of the opening, in lines of the given width.
class Rows {
 public:
  explicit Rows(std::size_t width) : width_(width) {}

  void add(const std::string& label, const std::string& value, const std::string& about) {
    constexpr std::size_t kLabel = 14, kValue = 9, kAbout = 2 + kLabel + kValue + 3;
    out_ += "  " + label + std::string(kLabel - std::min(kLabel, text_width(label)), ' ');
    out_ += std::string(kValue - std::min(kValue, text_width(value)), ' ') + value;
    const std::string wrapped = wrapped_text(about, width_, std::string(kAbout, ' '));
    out_ += wrapped.empty() ? "\n" : "   " + wrapped.substr(kAbout);
  }
  [[nodiscard]] const std::string& text() const { return out_; }

 private:
  std::size_t width_;
  std::string out_;
};

std::string iteration_about(const Opening& opening) {
  if (opening.path.empty()) return "from the first to the last GPU work; no iterations were found";
  std::string out = "median of " + count_text(opening.count) + " of " + printable(opening.path) + ", ";
  out += opening.p95_ns ? "95 % within " + duration_text(*opening.p95_ns)
                        : "longest " + duration_text(*opening.longest_ns);
  // Savings of findings are means, so their shares are of it.
  const auto median = static_cast<double>(opening.wall_ns);
  if (std::abs(static_cast<double>(opening.mean_ns) - median) > kMinMeanDifference * median)
    out += ", mean " + duration_text(opening.mean_ns);
  if (opening.warm_up != 0) out += ", without " + count_text(opening.warm_up) + " of warm-up";
  return out;
}

/// Shares of the wall time by cause, largest first.
std::vector<std::pair<double, IdleCause>> causes_of(const Opening& opening) {
  std::vector<std::pair<double, IdleCause>> out;
  double sum = 0;
  for (const std::uint64_t ns : opening.idle) sum += static_cast<double>(ns);
  if (sum == 0 || !opening.busy_share) return out;
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    const double share = (1 - *opening.busy_share) * static_cast<double>(opening.idle[i]) / sum;
    if (share >= kMinShare) out.emplace_back(share, static_cast<IdleCause>(i));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

std::string idle_about(const Opening& opening) {
  std::string out;
  for (const auto& [share, cause] : causes_of(opening)) {
    out += (out.empty() ? "" : ", ") + std::string(idle_cause_text(cause)) + " " + percent_text(share);
  }
  return out;
}

/// Bytes of one iteration; where a part of the work has no samples, as much as the rest.
std::uint64_t per_iteration(const Opening& opening, std::uint64_t sum) {
  const double share = opening.bytes->partly_sampled() ? std::max(opening.bytes->sampled_share, 0.01) : 1;
  return static_cast<std::uint64_t>(std::llround(
      static_cast<double>(sum) / share / static_cast<double>(std::max<std::uint64_t>(opening.calls, 1))));
}

void add_bytes(Rows& rows, const TraceTotals& trace, const Opening& opening) {
  if (!opening.bytes) {
    // The footer of the report has the reason of a refusal.
    const bool refused = !trace.header.counters_reason.empty();
    return rows.add("DRAM", "–", refused ? "not measured" : "not measured: record with --counters sampled");
  }
  const RowBytes& bytes = *opening.bytes;
  const std::optional<double> error_pct = bytes.error_pct();
  const auto dram = static_cast<double>(bytes.dram());
  const BoundedText bounded =
      bounded_text(bytes.dram(), error_pct ? std::optional(*error_pct / 100 * dram) : std::nullopt);
  if (bounded.value == kNoNumber)
    return rows.add("DRAM", kNoNumber, "too few samples overlap it: run longer, or with --counters sampled");
  std::string about = bytes_text(per_iteration(opening, bytes.read)) + " read, " +
                      bytes_text(per_iteration(opening, bytes.write)) + " written";
  if (!bounded.error.empty()) about += ", ± " + bounded.error;
  if (opening.derived.dram_bytes_per_s) about += "; " + rate_text(*opening.derived.dram_bytes_per_s);
  if (opening.derived.dram_peak_share)
    about += ", " + percent_text(*opening.derived.dram_peak_share) + " of peak";
  if (bytes.partial()) about += "; some work was not measured";
  if (bytes.partly_sampled())
    about += "; from the " + percent_text(bytes.sampled_share) + " of it that were sampled";
  if (!opening.bytes_of_iteration && !opening.path.empty()) about += " in the whole run";
  rows.add("DRAM", bytes_text(per_iteration(opening, bytes.dram())) + (bytes.partial() ? "+" : ""), about);
}

std::string findings_text_of(const Opening& opening, const TextStyle& style) {
  if (opening.findings.empty()) return "\nNo findings.\n";
  const std::size_t shown = std::min(opening.findings.size(), kTitles);
  std::string out = "\n" + counted_text(opening.findings.size(), "finding", "findings") +
                    (shown < opening.findings.size() ? ", the most valuable:\n" : ":\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = opening.findings[i];
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

}  // namespace

std::string opening_text(const TraceTotals& trace, const Opening& opening, const TextStyle& style) {
  std::string out = title(trace);
  if (opening.wall_ns == 0) return out;
  Rows rows(style.width);
  rows.add(opening.path.empty() ? "whole run" : "one iteration", duration_text(opening.wall_ns),
           iteration_about(opening));
  if (opening.exact) {
    rows.add("GPU busy", "–", "exact counters serialise launches; for times use --counters sampled");
  } else if (opening.busy_share) {
    rows.add("GPU busy", percent_text(*opening.busy_share),
             trace.kernels == 0 ? "no kernel ran" : "with a kernel");
    rows.add("GPU idle", percent_text(1 - *opening.busy_share), idle_about(opening));
  }
  add_bytes(rows, trace, opening);
  return out + "\n" + rows.text() + findings_text_of(opening, style);
}

nlohmann::ordered_json opening_json(const Opening& opening) {
  nlohmann::ordered_json out{{"wall_ns", opening.wall_ns}};
  if (!opening.path.empty()) {
    nlohmann::ordered_json iteration{{"path", opening.path},
                                     {"rule", rule_key(opening.rule)},
                                     {"count", opening.count},
                                     {"warm_up", opening.warm_up}};
    iteration["mean_ns"] = opening.mean_ns;
    if (opening.p95_ns) iteration["p95_ns"] = *opening.p95_ns;
    if (opening.longest_ns) iteration["longest_ns"] = *opening.longest_ns;
    out["iteration"] = std::move(iteration);
  }
  if (opening.busy_share) {
    out["gpu_busy_share"] = *opening.busy_share;
    out["gpu_idle_share"] = 1 - *opening.busy_share;
    for (const auto& [share, cause] : causes_of(opening)) out["idle_shares"][idle_cause_key(cause)] = share;
  }
  if (opening.bytes) {
    out["dram_read_bytes"] = per_iteration(opening, opening.bytes->read);
    out["dram_write_bytes"] = per_iteration(opening, opening.bytes->write);
    if (const auto error_pct = opening.bytes->error_pct()) out["bytes_error_pct"] = *error_pct;
    if (opening.bytes->partly_sampled()) out["sampled_share"] = opening.bytes->sampled_share;
    if (opening.derived.dram_bytes_per_s) out["dram_bytes_per_s"] = *opening.derived.dram_bytes_per_s;
    if (opening.derived.dram_peak_share) out["dram_peak_share"] = *opening.derived.dram_peak_share;
  }
  return out;
}

}  // namespace rangefinder
