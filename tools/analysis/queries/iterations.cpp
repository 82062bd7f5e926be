// SPDX-License-Identifier: Apache-2.0
//
// `--section iterations`: time and work of each iteration, and the outliers.
//
// The iteration range is detected, or given by a glob (iterations.h).
// iteration_log.h has the values, and what warm-up is: it is marked, and in none of the statistics.
//
// An outlier differs from the median by more than three standard deviations, and by at least 5 %. The
// deviation is estimated as 1.4826 x MAD (median absolute deviation), which outliers do not inflate. With
// fewer than five iterations there are no outliers.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

struct Statistics {
  double mean = 0, median = 0, deviation = 0, least = 0, most = 0;
  double sigma = 0;  ///< 1.4826 x MAD; 0: at least half of the values are equal
  std::size_t values = 0;
};

Statistics statistics_of(const std::vector<double>& values) {
  Statistics out;
  out.values = values.size();
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / n;
  for (const double value : values) out.deviation += (value - out.mean) * (value - out.mean);
  out.deviation = values.size() < 2 ? 0 : std::sqrt(out.deviation / (n - 1));
  out.median = median_of(values);
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - out.median));
  out.sigma = kSigmaOfMad * median_of(distances);
  return out;
}

struct Quantity {
  TableColumn column;
  /// Empty: unknown for this iteration.
  std::optional<double> (*value)(const IterationTotals&);
};

std::optional<double> number(std::uint64_t value) {
  return static_cast<double>(value);
}
std::optional<double> measured(const IterationTotals& row, std::uint64_t bytes) {
  // A sum over some launches only is not comparable with other iterations.
  return row.measured == 0 || row.unmeasured != 0 ? std::nullopt : number(bytes);
}

std::optional<double> gpm_error_pct(const IterationTotals& row) {
  if (!row.gpm_bytes || !row.gpm_error || *row.gpm_bytes <= 0) return std::nullopt;
  return 100 * *row.gpm_error / *row.gpm_bytes;
}

/// With fewer values the MAD is unreliable.
constexpr std::size_t kMinForOutliers = 5;
constexpr double kMinDifference = 0.05;  // of the median
constexpr std::size_t kHostTime = 0, kGpuTime = 1;

const std::array<Quantity, 17>& quantities() {
  static const std::array<Quantity, 17> kQuantities{
      {{{"host_ns", "host time", Unit::ns, kAlwaysShown, "of the range, without the time held"},
        [](const IterationTotals& r) { return number(r.host_ns); }},
       {{"gpu_ns", "GPU time", Unit::ns, kAlwaysShown, "summed kernel durations"},
        [](const IterationTotals& r) { return number(r.gpu_ns); }},
       {{"wall_ns", "wall time", Unit::ns, 58},
        [](const IterationTotals& r) { return r.wall_ns ? number(*r.wall_ns) : std::nullopt; }},
       {{"gpu_busy_ns", "GPU busy", Unit::ns, 60, "time with at least one kernel"},
        [](const IterationTotals& r) { return number(r.busy_ns); }},
       {{"sync_ns", "waited", Unit::ns, 50, "time in which the host waited for the GPU"},
        [](const IterationTotals& r) { return number(r.sync_ns); }},
       {{"launches", "launches", Unit::count, 30},
        [](const IterationTotals& r) { return number(r.launches); }},
       {{"kernels", "kernels", Unit::count}, [](const IterationTotals& r) { return number(r.kernels); }},
       {{"copy_bytes", "copied", Unit::bytes, 40},
        [](const IterationTotals& r) { return number(r.copy_bytes); }},
       {{"dram_read_bytes", "DRAM read", Unit::bytes, 55},
        [](const IterationTotals& r) { return measured(r, r.dram_read_bytes); }},
       {{"dram_write_bytes", "DRAM write", Unit::bytes, 54},
        [](const IterationTotals& r) { return measured(r, r.dram_write_bytes); }},
       {{"l2_bytes", "L2", Unit::bytes, 53},
        [](const IterationTotals& r) { return measured(r, r.l2_bytes); }},
       {{"dram_bytes", "DRAM", Unit::bytes, 55, "read and written, from NVML"},
        [](const IterationTotals& r) { return r.gpm_bytes; }},
       {{"bytes_error_pct", "DRAM ±", Unit::percent, 52, "bound of the error"},
        [](const IterationTotals& r) { return gpm_error_pct(r); }},
       {{"sm_mhz", "SM MHz", Unit::count, 35, "mean clock of the GPU with the lowest one"},
        [](const IterationTotals& r) { return r.sm_mhz; }},
       {{"power_w", "power, W", Unit::count, 34, "mean of that GPU"},
        [](const IterationTotals& r) { return r.power_w; }},
       {{"held_ns", "held", Unit::ns, 45, "time in which the profiler held the thread"},
        [](const IterationTotals& r) { return r.held_ns == 0 ? std::nullopt : number(r.held_ns); }},
       {{"gap_ns", "no CUPTI", Unit::ns, 92},
        [](const IterationTotals& r) { return r.gap_ns == 0 ? std::nullopt : number(r.gap_ns); }}}};
  return kQuantities;
}

Cell quantity_cell(const Quantity& quantity, std::optional<double> value, bool whole) {
  if (!value) return {};
  const bool integral = whole && *value >= 0 && quantity.column.unit != Unit::number;
  return integral ? number_cell(static_cast<std::uint64_t>(std::llround(*value))) : number_cell(*value);
}

class IterationsSection final : public Section {
 public:
  void start(const Iterations& iterations) override { log_.begin(iterations); }
  void add(const SelectedRows& rows) override { log_.add(rows); }

  void finish() override { log_.finish(); }
  std::vector<Table> tables(const SectionInput&) override {
    const std::vector<std::size_t> shown = log_.seen();
    std::vector<std::vector<double>> values(quantities().size());
    for (const std::size_t i : shown) {
      if (!log_.counts(i)) continue;
      for (std::size_t q = 0; q < values.size(); ++q) {
        if (const auto value = quantities()[q].value(log_.rows()[i])) {
          values[q].push_back(*value);
        }
      }
    }
    std::vector<std::optional<Statistics>> statistics;
    for (const auto& of_quantity : values) {
      statistics.push_back(of_quantity.empty() ? std::nullopt
                                               : std::optional<Statistics>(statistics_of(of_quantity)));
    }
    return {iteration_rows(shown, statistics), summary_rows(statistics), iteration_facts(log_.iterations())};
  }

 private:
  static std::string outlier(std::size_t quantity, const std::vector<std::optional<Statistics>>& statistics,
                             double value) {
    const Statistics& of = *statistics[quantity];
    if (of.values < kMinForOutliers) return "";
    if (of.sigma == 0 || std::abs(value - of.median) <= 3 * of.sigma) return "";
    if (std::abs(value - of.median) < kMinDifference * of.median) return "";
    return (value > of.median ? "slow" : "fast") +
           std::string(quantity == kHostTime ? " on host" : " on GPU");
  }

  Table iteration_rows(const std::vector<std::size_t>& shown,
                       const std::vector<std::optional<Statistics>>& statistics) const {
    Table table;
    table.name = "iterations";
    table.title = log_.iterations().path.empty() ? ""
                                                 : "Iterations: " + printable(log_.iterations().path) + " (" +
                                                       std::string(rule_text(log_.iterations().rule)) + ")";
    table.empty = "No iterations: no range, graph launch or sequence of kernels repeats.";
    table.columns = iteration_columns();
    for (const std::size_t i : shown) {
      const Iteration& instance = log_.iterations().instances[i];
      std::vector<Cell> row{number_cell(std::uint64_t{i}), Cell(CellValue(std::int64_t{instance.start_ns}))};
      std::string unlike;
      for (std::size_t q = 0; q < quantities().size(); ++q) {
        const std::optional<double> value = quantities()[q].value(log_.rows()[i]);
        row.push_back(quantity_cell(quantities()[q], value, true));
        if (q > kGpuTime || !value || !log_.counts(i) || !statistics[q]) continue;
        const std::string how = outlier(q, statistics, *value);
        if (!how.empty()) unlike += (unlike.empty() ? "" : ", ") + how;
      }
      row.push_back(i >= log_.warm_up() ? Cell() : text_cell(i == 0 ? "first" : "slow"));
      row.push_back(unlike.empty() ? Cell() : text_cell(unlike));
      table.add(std::move(row));
    }
    return without_empty_columns(std::move(table));
  }

  Table summary_rows(const std::vector<std::optional<Statistics>>& statistics) const {
    Table table;
    table.name = "iterations_summary";
    table.title = log_.warm_up() == 0 ? "All iterations" : "Iterations after the warm-up";
    table.sortable = false;
    table.columns = {{"statistic", "per iteration"}};
    for (const Quantity& quantity : quantities()) table.columns.push_back(quantity.column);
    if (!statistics[kHostTime]) return table;
    const auto add = [&](const char* name, double Statistics::*member) {
      std::vector<Cell> row{name};
      for (std::size_t q = 0; q < statistics.size(); ++q) {
        row.push_back(statistics[q] ? quantity_cell(quantities()[q], (*statistics[q]).*member, false)
                                    : Cell());
      }
      table.add(std::move(row));
    };
    add("mean", &Statistics::mean);
    add("median", &Statistics::median);
    add("stddev", &Statistics::deviation);
    add("min", &Statistics::least);
    add("max", &Statistics::most);
    drop_empty_columns(table);
    if (log_.warm_up() != 0) {
      table.remarks =
          "warm-up: the first iteration, and those after it that take more than 3 medians; not in "
          "this table.\n";
    }
    if (std::any_of(log_.rows().begin(), log_.rows().end(),
                    [](const auto& row) { return row.seen && row.gap_ns != 0; }))
      table.remarks +=
          "no CUPTI: another tool had it for this time; such iterations are not in this table.\n";
    table.remarks +=
        "outlier: more than 3 standard deviations (1.4826 x MAD) and 5 % from the median; needs five or more "
        "iterations.\n";
    return table;
  }

  IterationLog log_;
};

}  // namespace

std::vector<TableColumn> iteration_columns() {
  std::vector<TableColumn> out{
      {"iteration", "iteration", Unit::count},
      {"start_ns", "start", Unit::ns, 70, "on the host, since the start of the trace"}};
  for (const Quantity& quantity : quantities()) out.push_back(quantity.column);
  out.push_back({"warm_up", "warm-up", Unit::text, 91});
  out.push_back({"outlier", "outlier", Unit::text, 90});
  return out;
}

const SectionKind kIterationsSection{"iterations",
                                     "time of each iteration, outliers marked",
                                     make_section<IterationsSection>,
                                     IterationLog::kColumns,
                                     false,
                                     true};

}  // namespace rangefinder
