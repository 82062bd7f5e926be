// SPDX-License-Identifier: Apache-2.0
//
// Rule: over the modules of a program, GPU time follows the bytes that they move.
//
// Least squares of GPU time per call over DRAM bytes per call, and over L2 bytes, at each depth (byte_fit.h).
// Reports the line that explains most of the spread if its r is at least kMinR. The inverse slope is the
// bandwidth that the program achieves. Outliers take longer than their bytes explain: each is a finding.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/byte_fit.h"

namespace rangefinder {
namespace {

constexpr double kMinR = 0.90;
constexpr std::size_t kMinModules = 8;
constexpr std::size_t kMaxReported = 3;  // outliers

/// The modules furthest above the line: "a/b: 12 us, by its bytes 3 us".
std::string outliers(const FindingContext& context, const DepthFit& fit, DepthFit::Level level) {
  const FittedLine& line = fit.lines[level];
  std::string out;
  std::size_t reported = 0;
  for (const std::size_t i : line.outliers) {
    const FitModule& module = fit.modules[i];
    const double by_bytes = std::max(0.0, line.at(module.bytes[level]));
    if (module.ns < by_bytes || reported == kMaxReported) continue;
    ++reported;
    out += (out.empty() ? "" : "; ") + context.path_text(module.path) + ": " +
           duration_text(static_cast<std::uint64_t>(module.ns)) + ", by its bytes " +
           duration_text(static_cast<std::uint64_t>(by_bytes));
  }
  return out;
}

struct Above {
  std::uint64_t gpu_ns = 0;
  double by_bytes_ns = 0;
};

class TimeFollowsBytes final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (context.rest) return;
    const std::vector<DepthFit> fits = byte_fits(context.input.trace, context.input.values, &context.paths);
    const DepthFit* best = nullptr;
    DepthFit::Level best_level = DepthFit::dram;
    double explained = 0;
    for (const DepthFit& fit : fits) {
      if (fit.modules.size() < kMinModules) continue;
      for (const auto level : {DepthFit::dram, DepthFit::l2}) {
        const FittedLine& line = fit.lines[level];
        if (line.r < kMinR || line.slope <= 0 || line.explained(fit.modules.size()) <= explained) continue;
        best = &fit;
        best_level = level;
        explained = line.explained(fit.modules.size());
      }
    }
    if (best == nullptr) return;
    report_outliers(context, *best, best_level, out);
    report(context, *best, best_level, out);
  }

 private:
  static constexpr double kMinOfTime = 0.01;

  /// Modules above the line.
  static void report_outliers(const FindingContext& context, const DepthFit& fit, DepthFit::Level level,
                              std::vector<Finding>& out) {
    std::unordered_map<std::uint32_t, const PathTotals*> rows;
    for (const PathTotals& row : context.rows) rows[row.path] = &row;
    std::map<std::string, Above> modules;
    for (const std::size_t i : fit.lines[level].outliers) {
      const FitModule& module = fit.modules[i];
      const double by_bytes = std::max(0.0, fit.lines[level].at(module.bytes[level]));
      const auto row = rows.find(module.path);
      if (module.ns <= by_bytes || row == rows.end()) continue;
      Above& above = modules[numbers_folded(context.path_text(module.path))];
      const auto ns = static_cast<double>(row->second->gpu_ns);
      above.gpu_ns += row->second->gpu_ns;
      above.by_bytes_ns += ns * by_bytes / module.ns;
    }
    for (const auto& [module, above] : heaviest(
             modules, [](const Above& one) { return static_cast<double>(one.gpu_ns) - one.by_bytes_ns; }))
      report_outlier(context, module, above, {fit.lines[level], level}, out);
  }

  static void report_outlier(const FindingContext& context, const std::string& module, const Above& above,
                             std::pair<const FittedLine&, DepthFit::Level> fitted,
                             std::vector<Finding>& out) {
    const auto by_bytes_ns = static_cast<std::uint64_t>(above.by_bytes_ns);
    if (by_bytes_ns == 0 || context.of_gpu(above.gpu_ns - by_bytes_ns) < kMinOfTime) return;
    const std::string level = fitted.second == DepthFit::dram ? "DRAM" : "L2";
    const double factor = static_cast<double>(above.gpu_ns) / above.by_bytes_ns;
    Finding finding;
    finding.id = "slower_than_bytes";
    finding.where = module;
    finding.effect = "takes " + factor_text(factor) + " the time that its " + level + " bytes explain";
    finding.of_ns = context.of_analysed(above.gpu_ns);
    finding.saving_ns = context.of_analysed(above.gpu_ns - by_bytes_ns);
    finding.why = context.each_text(finding.of_ns) + context.per() +
                  " pass there; by the rate of the other modules it would be " +
                  context.each_text(finding.of_ns - *finding.saving_ns) +
                  ". The time of these follows their bytes with r = " + three_digits(fitted.first.r) +
                  ", so something else slows this one.";
    finding.evidence = {evidence_factor("slower", "time over that of its bytes", factor),
                        evidence_ns("gpu_ns", "GPU time", above.gpu_ns),
                        evidence_ns("by_bytes_ns", "by its bytes", by_bytes_ns),
                        evidence_text("level", "with bytes of", level),
                        evidence_number("r", "correlation r =", fitted.first.r)};
    finding.next_step = "look at its kernels: many short ones, small grids, or accesses that are far apart";
    finding.code = "rangefinder report DIR --section kernels --range '" + module + "'";
    out.push_back(std::move(finding));
  }

  static void report(const FindingContext& context, const DepthFit& fit, DepthFit::Level which,
                     std::vector<Finding>& out) {
    const FittedLine& line = fit.lines[which];
    const std::string level = which == DepthFit::dram ? "DRAM" : "L2";
    Finding finding;
    finding.id = "time_follows_bytes";
    finding.where = context.loop.path;
    const std::string follows = " whose time follows the bytes they move through " + level;
    finding.effect = (finding.where.empty() ? "There are modules" : "has modules") + follows;
    finding.why = "r = " + three_digits(line.r) + " over " + count_text(fit.modules.size()) +
                  " modules of depth " + count_text(fit.depth) + ", at " + rate_text(1e9 / line.slope) + ". ";
    const std::string above = outliers(context, fit, which);
    finding.why += above.empty() ? "No module takes far longer than its bytes explain."
                                 : "Longer than their bytes explain: " + above + ".";
    finding.evidence = {evidence_number("r", "correlation r =", line.r),
                        evidence_text("level", "with bytes of", level),
                        evidence_rate("effective_bytes_per_s", "bandwidth from the slope", 1e9 / line.slope),
                        evidence_ns("time_without_bytes_ns", "time of a module that moves no bytes",
                                    static_cast<std::uint64_t>(std::max(0.0, line.intercept))),
                        evidence_count("modules", "modules", fit.modules.size()),
                        evidence_count("depth", "depth of these modules", fit.depth)};
    if (!above.empty())
      finding.evidence.push_back(evidence_text("outliers", "longer than their bytes explain:", above));
    finding.next_step =
        "move fewer bytes in the modules that move most, and check the outliers for other causes";
    finding.code = "rangefinder report DIR --section modules --fit --sort " +
                   std::string(which == DepthFit::dram ? "dram" : "l2");
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_time_follows_bytes_rule() {
  return std::make_unique<TimeFollowsBytes>();
}

}  // namespace rangefinder
