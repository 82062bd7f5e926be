// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/byte_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>

#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/module_table.h"

namespace rangefinder {
namespace {

/// Standard deviations, estimated from the MAD.
constexpr double kFarAway = 3;
/// Of the module's own time. Without it, points that lie on a line have outliers.
constexpr double kMinFar = 0.2;

/// Relative variance of equal values, by rounding.
constexpr double kEqual = 1e-24;

FittedLine least_squares(const std::vector<FitModule>& modules, DepthFit::Level level) {
  const auto n = static_cast<double>(modules.size());
  double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (const FitModule& module : modules) {
    mean_x += module.bytes[level] / n;
    mean_y += module.ns / n;
  }
  for (const FitModule& module : modules) {
    const double x = module.bytes[level] - mean_x, y = module.ns - mean_y;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  if (xx <= kEqual * n * mean_x * mean_x || yy <= kEqual * n * mean_y * mean_y) return {};
  return {xy / std::sqrt(xx * yy), xy / xx, mean_y - xy / xx * mean_x, {}};
}

void find_outliers(const std::vector<FitModule>& modules, DepthFit::Level level, FittedLine& line) {
  if (line.r == 0) return;
  std::vector<double> distances;
  for (const FitModule& module : modules)
    distances.push_back(std::abs(module.ns - line.at(module.bytes[level])));
  const double far = kFarAway * kSigmaOfMad * median_of(distances);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (distances[i] > far && distances[i] > kMinFar * modules[i].ns) line.outliers.push_back(i);
  }
  std::stable_sort(line.outliers.begin(), line.outliers.end(),
                   [&distances](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
}

/// Outermost first, so a module without calls gets those of the module around it. A replay of what was
/// captured in it is a call.
std::uint64_t calls_of(const TraceTotals& trace, const PathTotals& row,
                       std::unordered_map<std::uint32_t, std::uint64_t>& calls_by_path) {
  const std::uint32_t parent = trace.parent_of(row.path);
  std::uint64_t& calls = calls_by_path[row.path];
  calls = row.calls != 0 || parent == 0 ? row.calls : calls_by_path[parent];
  if (is_replayed(row)) calls = row.replays;
  return calls;
}

Cell line_cell(const FittedLine& line, double value) {
  return line.r == 0 ? Cell() : number_cell(value);
}

}  // namespace

double dram_bound(const RowBytes& bytes) noexcept {
  const bool carries = marks_carry_over(bytes.carry_over, bytes.dram());
  return bytes.dram_error().value_or(carries ? static_cast<double>(*bytes.carry_over) : 0);
}

double FittedLine::explained(std::size_t modules) const noexcept {
  if (modules <= 2) return 0;
  const auto n = static_cast<double>(modules);
  return 1 - (1 - r * r) * (n - 1) / (n - 2);
}

std::vector<DepthFit> byte_fits(const TraceTotals& trace, const RowValues& values,
                                const std::unordered_set<std::uint32_t>* only, std::size_t least) {
  std::map<std::uint32_t, DepthFit> fits;
  std::unordered_map<std::uint32_t, std::uint64_t> calls_by_path;
  for (const PathTotals& row : trace.rows()) {
    if (row.path == 0) continue;
    const std::uint64_t n = calls_of(trace, row, calls_by_path);
    if (n == 0 || row.run_ns() == 0 || (only != nullptr && only->count(row.path) == 0)) continue;
    const RowBytes bytes = values.bytes(row);
    if (!bytes.has_parts() || bytes.partial()) continue;
    const auto calls = static_cast<double>(n);
    fits[row.depth].modules.push_back(
        {row.path,
         static_cast<double>(row.run_ns()) / calls,
         {static_cast<double>(bytes.dram()) / calls, static_cast<double>(bytes.l2) / calls},
         {dram_bound(bytes) / calls, bytes.l2_error.value_or(0) / calls},
         {bytes.shows_dram(), bytes.shows_l2()}});
  }
  std::vector<DepthFit> out;
  for (auto& [depth, fit] : fits) {
    if (fit.modules.size() < least) continue;
    fit.depth = depth;
    for (const auto level : {DepthFit::dram, DepthFit::l2}) {
      fit.lines[level] = least_squares(fit.modules, level);
      find_outliers(fit.modules, level, fit.lines[level]);
    }
    out.push_back(std::move(fit));
  }
  return out;
}

Table byte_fit_table(const std::vector<DepthFit>& fits, std::uint32_t depth) {
  Table table;
  table.name = "byte_fit";
  table.title = "\nGPU busy time of modules over the bytes they move, a call (least squares)";
  table.empty = "No fit: it needs three modules of one depth with measured bytes.";
  table.sortable = false;
  table.columns = {{"depth", "depth", Unit::count}, {"modules", "modules", Unit::count}};
  for (const auto& [key, title] : {std::pair("dram", "DRAM"), std::pair("l2", "L2")}) {
    const std::string k = key, t = title;
    table.columns.push_back({k + "_r", t + " r", Unit::number});
    table.columns.push_back({k + "_us_per_mb", "us per MB of " + t, Unit::number});
    table.columns.push_back({k + "_bytes_per_s", t + " rate", Unit::bytes_per_s, 60});
    table.columns.push_back({k + "_intercept_ns", "at 0 B of " + t, Unit::ns, 50});
    table.columns.push_back({k + "_outliers", t + " outliers", Unit::count, 70});
  }
  for (const DepthFit& fit : fits) {
    if (depth != 0 && fit.depth > depth) break;
    std::vector<Cell> row{number_cell(std::uint64_t{fit.depth}),
                          number_cell(std::uint64_t{fit.modules.size()})};
    for (const FittedLine& line : fit.lines) {
      row.push_back(line_cell(line, line.r));
      row.push_back(line_cell(line, line.slope * 1e3));
      row.push_back(line.slope > 0 ? number_cell(1e9 / line.slope) : Cell());
      row.push_back(line_cell(line, line.intercept));
      row.push_back(cell_if(line.r != 0, line.outliers.size()));
    }
    table.add(std::move(row));
  }
  if (!table.rows.empty()) {
    table.remarks =
        "r: correlation; 1: the time follows the bytes. rate: the inverse slope. outliers: more than 3 "
        "standard deviations and 20 % from the line.\n";
  }
  return table;
}

Table byte_fit_outliers(const TraceTotals& trace, const std::vector<DepthFit>& fits, std::uint32_t depth,
                        std::size_t most) {
  Table table;
  bool cut = false;
  table.name = "byte_fit_outliers";
  table.sortable = false;
  table.columns = {{"path", "far from the line", Unit::text}, {"depth", "depth", Unit::count},
                   {"gpu_busy_ns", "GPU busy", Unit::ns},     {"by_dram_ns", "by its DRAM bytes", Unit::ns},
                   {"by_l2_ns", "by its L2 bytes", Unit::ns}, {"dram_bytes", "DRAM", Unit::bytes, 60},
                   {"l2_bytes", "L2", Unit::bytes, 60}};
  for (const DepthFit& fit : fits) {
    if (depth != 0 && fit.depth > depth) break;
    std::vector<std::size_t> far = fit.lines[DepthFit::dram].outliers;
    for (const std::size_t i : fit.lines[DepthFit::l2].outliers) {
      if (std::find(far.begin(), far.end(), i) == far.end()) far.push_back(i);
    }
    if (most != 0 && far.size() > most) far.resize(most), cut = true;
    for (const std::size_t i : far) {
      const FitModule& module = fit.modules[i];
      std::vector<Cell> row{text_cell(path_title(trace, module.path)), number_cell(std::uint64_t{fit.depth}),
                            number_cell(module.ns)};
      for (const auto level : {DepthFit::dram, DepthFit::l2}) {
        const FittedLine& line = fit.lines[level];
        row.push_back(line_cell(line, line.at(module.bytes[level])));
      }
      for (const double bytes : module.bytes) row.push_back(number_cell(bytes));
      table.add(std::move(row));
    }
  }
  if (!table.rows.empty()) table.title = "\nModules far from a line";
  if (cut) table.remarks = "At most " + std::to_string(most) + " of a depth; --json lists all.\n";
  return table;
}

}  // namespace rangefinder
