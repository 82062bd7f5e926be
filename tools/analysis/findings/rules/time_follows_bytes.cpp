// SPDX-License-Identifier: Apache-2.0
//
// Rule: over the modules of a program, GPU time follows the bytes that they move.
//
// Least squares of GPU time per call over DRAM bytes per call, and over L2 bytes, at each depth (byte_fit.h).
// Reports the line that explains most of the spread if its r is at least kMinR. The inverse slope is the
// bandwidth that the program achieves. Outliers take longer than their bytes explain.
#include <algorithm>

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

class TimeFollowsBytes final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const auto* const only = context.loop.found() ? &context.loop.paths : nullptr;
    const std::vector<DepthFit> fits = byte_fits(context.input.trace, context.input.values, only);
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
    if (best != nullptr) report(context, *best, best_level, out);
  }

 private:
  static void report(const FindingContext& context, const DepthFit& fit, DepthFit::Level which,
                     std::vector<Finding>& out) {
    const FittedLine& line = fit.lines[which];
    const std::string level = which == DepthFit::dram ? "DRAM" : "L2";
    Finding finding;
    finding.id = "time_follows_bytes";
    finding.title = "The GPU time of modules follows the bytes they move through " + level;
    finding.where = context.loop.path;
    finding.evidence = {evidence_number("r", "correlation r =", line.r),
                        evidence_text("level", "with bytes of", level),
                        evidence_rate("effective_bytes_per_s", "bandwidth from the slope", 1e9 / line.slope),
                        evidence_ns("time_without_bytes_ns", "time of a module that moves no bytes",
                                    static_cast<std::uint64_t>(std::max(0.0, line.intercept))),
                        evidence_count("modules", "modules", fit.modules.size()),
                        evidence_count("depth", "depth of these modules", fit.depth)};
    if (const std::string above = outliers(context, fit, which); !above.empty()) {
      finding.evidence.push_back(evidence_text("outliers", "longer than their bytes explain:", above));
    }
    finding.next_step =
        "move fewer bytes in the modules that move most (report --sort dram or l2): time will follow; check "
        "the outliers for other causes (report --section modules --fit)";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_time_follows_bytes_rule() {
  return std::make_unique<TimeFollowsBytes>();
}

}  // namespace rangefinder
