// SPDX-License-Identifier: Apache-2.0
//
// Rule: over the modules of a program, GPU time follows the bytes that they move.
//
// Least squares of GPU time per call over DRAM bytes per call, and over L2 bytes. Reports the better fit if
// r is at least kMinR. The inverse slope is the bandwidth that the program achieves. Outliers take longer
// than their bytes explain. Uses leaf modules only.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMinR = 0.90;
constexpr std::size_t kMinModules = 8;
constexpr std::uint64_t kMaxReported = 3;  // outliers
constexpr double kFarAway = 3;             // root mean squares of the residuals

struct Point {
  double bytes = 0, ns = 0;  // per call
  std::uint32_t path = 0;
};

struct StraightLine {
  double r = 0, slope = 0, intercept = 0;  // slope: ns per byte; intercept: ns
};

StraightLine fit(const std::vector<Point>& points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (const Point& point : points) {
    mean_x += point.bytes / n;
    mean_y += point.ns / n;
  }
  for (const Point& point : points) {
    xx += (point.bytes - mean_x) * (point.bytes - mean_x);
    yy += (point.ns - mean_y) * (point.ns - mean_y);
    xy += (point.bytes - mean_x) * (point.ns - mean_y);
  }
  if (xx <= 0 || yy <= 0) return {};
  return {xy / std::sqrt(xx * yy), xy / xx, mean_y - xy / xx * mean_x};
}

/// The modules furthest above the line: "a/b: 12 us, by its bytes 3 us".
std::string outliers(const FindingContext& context, std::vector<Point> points, const StraightLine& line) {
  double squares = 0;
  const auto above = [&line](const Point& p) { return p.ns - line.intercept - line.slope * p.bytes; };
  for (const Point& point : points) squares += above(point) * above(point);
  const double far = kFarAway * std::sqrt(squares / static_cast<double>(points.size()));
  std::sort(points.begin(), points.end(),
            [&](const Point& a, const Point& b) { return above(a) > above(b); });
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(points.size(), kMaxReported); ++i) {
    if (above(points[i]) < far) break;
    const double by_bytes = std::max(0.0, points[i].ns - above(points[i]));
    out += (out.empty() ? "" : "; ") + context.path_text(points[i].path) + ": " +
           duration_text(static_cast<std::uint64_t>(points[i].ns)) + ", by its bytes " +
           duration_text(static_cast<std::uint64_t>(by_bytes));
  }
  return out;
}

class TimeFollowsBytes final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::array<std::vector<Point>, 2> points;  // DRAM, L2
    const std::vector<PathTotals> rows = context.input.trace.rows();
    std::unordered_set<std::uint32_t> parents;
    for (const PathTotals& row : rows) {
      if (row.kernels != 0) parents.insert(context.input.trace.parent_of(row.path));
    }
    for (const PathTotals& row : rows) {
      const bool in_loop = !context.loop.found() || context.loop.paths.count(row.path) != 0;
      if (row.path == 0 || row.calls == 0 || row.gpu_ns == 0 || !in_loop || parents.count(row.path) != 0)
        continue;
      const RowBytes bytes = context.input.values.bytes(row);
      if (bytes.source == RowBytes::Source::none || bytes.partial()) continue;
      const auto calls = static_cast<double>(row.calls);
      const double ns = static_cast<double>(row.gpu_ns) / calls;
      points[0].push_back({static_cast<double>(bytes.dram()) / calls, ns, row.path});
      points[1].push_back({static_cast<double>(bytes.l2) / calls, ns, row.path});
    }
    if (points[0].size() < kMinModules) return;
    const StraightLine dram = fit(points[0]), l2 = fit(points[1]);
    const bool by_dram = dram.r >= l2.r;
    report(context, by_dram ? points[0] : points[1], by_dram ? dram : l2, by_dram ? "DRAM" : "L2", out);
  }

 private:
  static void report(const FindingContext& context, const std::vector<Point>& points,
                     const StraightLine& line, const std::string& level, std::vector<Finding>& out) {
    if (line.r < kMinR || line.slope <= 0) return;
    Finding finding;
    finding.id = "time_follows_bytes";
    finding.title = "The GPU time of modules follows the bytes they move through " + level;
    finding.where = context.loop.path;
    finding.evidence = {evidence_number("r", "correlation r =", line.r),
                        evidence_text("level", "with bytes of", level),
                        evidence_rate("effective_bytes_per_s", "bandwidth from the slope", 1e9 / line.slope),
                        evidence_ns("time_without_bytes_ns", "time of a module that moves no bytes",
                                    static_cast<std::uint64_t>(std::max(0.0, line.intercept))),
                        evidence_count("modules", "modules", points.size())};
    if (const std::string above = outliers(context, points, line); !above.empty()) {
      finding.evidence.push_back(evidence_text("outliers", "longer than their bytes explain:", above));
    }
    finding.next_step =
        "move fewer bytes in the modules that move most (report --sort dram or l2): time will follow; check "
        "the outliers for other causes";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_time_follows_bytes_rule() {
  return std::make_unique<TimeFollowsBytes>();
}

}  // namespace rangefinder
