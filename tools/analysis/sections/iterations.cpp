// SPDX-License-Identifier: Apache-2.0
//
// `--section iterations`: time and work of each iteration, and the outliers.
//
// The iteration range is detected, or given by a glob (iterations.h, which reads the trace once more). Host
// time is that of the range without the time in which the profiler held its thread; GPU work counts for the
// iteration that launched it.
//
// Warm-up is marked, and is in none of the statistics: the first iteration, and those after it that take more
// than three medians. An outlier differs from the median by more than three standard deviations, and by at
// least 5 %. The deviation is estimated as 1.4826 x MAD (median absolute deviation), which outliers do not
// inflate. An iteration in which another tool had CUPTI (a `gap` line) is not in the statistics either. With
// fewer than five iterations there are no outliers, and with fewer than three no warm-up. Keeps some 400
// bytes per iteration.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/attribution/busy_times.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/read/iterations.h"
#include "tools/analysis/read/line_parts.h"
#include "tools/analysis/sections/factories.h"
#include "tools/analysis/tables/cells.h"
#include "tools/analysis/tables/median.h"

namespace rangefinder {
namespace {

struct IterationTotals {
  bool seen = false;  // at least one of its lines was selected
  std::uint64_t kernels = 0, copy_bytes = 0, launches = 0;
  std::uint64_t gpu_ns = 0, sync_ns = 0;
  std::uint64_t measured = 0, unmeasured = 0;  // launches in exact windows, with and without bytes
  std::uint64_t dram_read_bytes = 0, dram_write_bytes = 0, l2_bytes = 0;
  std::uint64_t busy_ns = 0;  // union of the GPU time; known at the end, as is the next
  std::uint64_t held_ns = 0;  // by the profiler; not part of host time
  std::uint64_t gap_ns = 0;   // another tool had CUPTI: its work is not known
};

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
  std::optional<double> (*value)(const Iteration&, const IterationTotals&);
};

std::optional<double> number(std::uint64_t value) {
  return static_cast<double>(value);
}
std::optional<double> measured(const IterationTotals& row, std::uint64_t bytes) {
  // A sum over some launches only is not comparable with other iterations.
  return row.measured == 0 || row.unmeasured != 0 ? std::nullopt : number(bytes);
}

/// With fewer values the MAD is unreliable.
constexpr std::size_t kMinForOutliers = 5;
constexpr double kMinDifference = 0.05;  // of the median
constexpr std::size_t kMinForWarmUp = 3;
constexpr double kWarmUpMedians = 3;
constexpr std::size_t kHostTime = 0, kGpuTime = 1;

const std::array<Quantity, 12>& quantities() {
  static const std::array<Quantity, 12> kQuantities{
      {{{"host_ns", "host time", Unit::ns},
        [](const Iteration& i, const IterationTotals& r) {
          return number(duration_ns(i.start_ns, i.end_ns) - r.held_ns);
        }},
       {{"gpu_ns", "GPU time", Unit::ns},
        [](const Iteration&, const IterationTotals& r) { return number(r.gpu_ns); }},
       {{"gpu_busy_ns", "GPU busy", Unit::ns, 60},
        [](const Iteration&, const IterationTotals& r) { return number(r.busy_ns); }},
       {{"sync_ns", "waited", Unit::ns, 50},
        [](const Iteration&, const IterationTotals& r) { return number(r.sync_ns); }},
       {{"launches", "launches", Unit::count, 30},
        [](const Iteration&, const IterationTotals& r) { return number(r.launches); }},
       {{"kernels", "kernels", Unit::count},
        [](const Iteration&, const IterationTotals& r) { return number(r.kernels); }},
       {{"copy_bytes", "copied", Unit::bytes, 40},
        [](const Iteration&, const IterationTotals& r) { return number(r.copy_bytes); }},
       {{"dram_read_bytes", "DRAM read", Unit::bytes, 55},
        [](const Iteration&, const IterationTotals& r) { return measured(r, r.dram_read_bytes); }},
       {{"dram_write_bytes", "DRAM write", Unit::bytes, 54},
        [](const Iteration&, const IterationTotals& r) { return measured(r, r.dram_write_bytes); }},
       {{"l2_bytes", "L2", Unit::bytes, 53},
        [](const Iteration&, const IterationTotals& r) { return measured(r, r.l2_bytes); }},
       {{"held_ns", "held", Unit::ns, 45},
        [](const Iteration&, const IterationTotals& r) {
          return r.held_ns == 0 ? std::nullopt : number(r.held_ns);
        }},
       {{"gap_ns", "no CUPTI", Unit::ns, 92}, [](const Iteration&, const IterationTotals& r) {
          return r.gap_ns == 0 ? std::nullopt : number(r.gap_ns);
        }}}};
  return kQuantities;
}

Cell quantity_cell(const Quantity& quantity, std::optional<double> value, bool whole) {
  if (!value) return {};
  const bool integral = whole && *value >= 0 && quantity.column.unit != Unit::number;
  return integral ? number_cell(static_cast<std::uint64_t>(std::llround(*value))) : number_cell(*value);
}

class IterationsSection final : public Section {
 public:
  explicit IterationsSection(const SectionView& view) : glob_(view.name) {}

  void begin(const TraceFolder& trace) override {
    iterations_ = find_iterations(trace, glob_);
    rows_.resize(iterations_.instances.size());
  }

  void line(const Line& line) override {
    if (const auto* const hold = std::get_if<HoldRecord>(&line)) return holds_.add(*hold);
    if (const auto* const gap = std::get_if<GapRecord>(&line)) return holds_.add(*gap);
    if (const auto* const range = std::get_if<RangeRecord>(&line)) {
      static_cast<void>(row(iterations_.of_range(range->id)));
    } else if (const GpuWork* const work = gpu_work(line)) {
      const std::size_t at = iterations_.of(*work);
      if (IterationTotals* const of = row(at)) {
        add_work(*of, line);
        add_time(*of, at, *work, line);
      }
    } else if (const HostWork* const host = host_call(line)) {
      if (IterationTotals* const of = row(iterations_.of(*host))) add(*of, *host, line);
    }
  }

  void rest(const Line& line) override {
    const GpuWork* const work = gpu_work(line);
    if (work == nullptr) return;
    const std::size_t at = iterations_.of(*work);
    if (IterationTotals* const of = row(at)) add_time(*of, at, *work, line);
  }

  std::vector<Table> tables(const SectionInput&) override {
    const std::vector<std::uint64_t> busy_ns = busy_.lengths(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Iteration& of = iterations_.instances[i];
      rows_[i].busy_ns = busy_ns[i];
      rows_[i].held_ns = holds_.within(of.thread, of.start_ns, of.end_ns);
      rows_[i].gap_ns = holds_.gap_ns(of.start_ns, of.end_ns);
    }
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].seen) shown.push_back(i);
    }
    warm_up_ = warm_up(shown);
    std::vector<std::vector<double>> values(quantities().size());
    for (const std::size_t i : shown) {
      if (i < warm_up_ || rows_[i].gap_ns != 0) continue;
      for (std::size_t q = 0; q < values.size(); ++q) {
        if (const auto value = quantities()[q].value(iterations_.instances[i], rows_[i])) {
          values[q].push_back(*value);
        }
      }
    }
    std::vector<std::optional<Statistics>> statistics;
    for (const auto& of_quantity : values) {
      statistics.push_back(of_quantity.empty() ? std::nullopt
                                               : std::optional<Statistics>(statistics_of(of_quantity)));
    }
    return {iteration_rows(shown, statistics), summary_rows(statistics)};
  }

  nlohmann::ordered_json json(const SectionInput& input) override {
    nlohmann::ordered_json out = Section::json(input);
    if (iterations_.path.empty()) return out;
    out["iteration_path"] = iterations_.path;
    out["iteration_rule"] = rule_key(iterations_.rule);
    return out;
  }

 private:
  /// Marks the iteration as seen; nullptr: outside all iterations.
  IterationTotals* row(std::size_t index) {
    if (index >= rows_.size()) return nullptr;
    rows_[index].seen = true;
    return &rows_[index];
  }

  /// GPU time as in the module table: of kernels, and of graphs recorded as a whole.
  void add_time(IterationTotals& row, std::size_t at, const GpuWork& work, const Line& line) {
    const bool computes =
        std::holds_alternative<KernelRecord>(line) || std::holds_alternative<GraphRecord>(line);
    if (!computes || !is_timed(work)) return;
    row.gpu_ns += duration_ns(work.start_ns, work.end_ns);
    busy_.add(static_cast<std::uint32_t>(at), work.start_ns, work.end_ns);
  }

  static void add_work(IterationTotals& row, const Line& line) {
    if (std::holds_alternative<KernelRecord>(line)) ++row.kernels;
    if (const auto* const copy = std::get_if<MemcpyRecord>(&line)) row.copy_bytes += copy->bytes;
  }

  void add(IterationTotals& row, const HostWork& host, const Line& line) const {
    if (launch_of(line) != nullptr) ++row.launches;
    if (std::holds_alternative<SyncRecord>(line)) row.sync_ns += holds_.net_ns(host);
    const auto* const exact = std::get_if<ExactRecord>(&line);
    if (exact == nullptr || shares_counter_range(*exact)) return;
    const bool known = exact->measured && exact->has_bytes;
    ++(known ? row.measured : row.unmeasured);
    if (!known) return;
    row.dram_read_bytes += exact->dram_read_bytes;
    row.dram_write_bytes += exact->dram_write_bytes;
    row.l2_bytes += exact->l2_bytes;
  }

  /// Number of iterations at the start of the program that warm up.
  std::size_t warm_up(const std::vector<std::size_t>& shown) const {
    if (rows_.size() < kMinForWarmUp || shown.empty()) return 0;
    std::array<double, 2> medians{};
    for (const std::size_t q : {kHostTime, kGpuTime}) {
      std::vector<double> values;
      for (const std::size_t i : shown)
        values.push_back(*quantities()[q].value(iterations_.instances[i], rows_[i]));
      medians[q] = median_of(values);
    }
    const auto slow = [&](std::size_t i) {
      return std::any_of(medians.begin(), medians.end(), [&, q = std::size_t{0}](double median) mutable {
        return *quantities()[q++].value(iterations_.instances[i], rows_[i]) > kWarmUpMedians * median;
      });
    };
    std::size_t out = 1;
    while (out < rows_.size() && rows_[out].seen && slow(out)) ++out;
    // At least one iteration is needed for statistics.
    return shown.back() < out ? 0 : out;
  }

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
    table.title = iterations_.path.empty() ? ""
                                           : "Iterations: " + printable(iterations_.path) + " (" +
                                                 std::string(rule_text(iterations_.rule)) + ")";
    table.empty = "No iterations: no range, graph launch or sequence of kernels repeats.";
    table.columns = {{"iteration", "iteration", Unit::count}, {"start_ns", "start", Unit::ns, 70}};
    for (const Quantity& quantity : quantities()) table.columns.push_back(quantity.column);
    table.columns.push_back({"warm_up", "warm-up", Unit::text, 91});
    table.columns.push_back({"outlier", "outlier", Unit::text, 90});
    for (const std::size_t i : shown) {
      const Iteration& instance = iterations_.instances[i];
      std::vector<Cell> row{number_cell(std::uint64_t{i}), Cell(CellValue(std::int64_t{instance.start_ns}))};
      std::string unlike;
      for (std::size_t q = 0; q < quantities().size(); ++q) {
        const std::optional<double> value = quantities()[q].value(instance, rows_[i]);
        row.push_back(quantity_cell(quantities()[q], value, true));
        if (q > kGpuTime || !value || i < warm_up_ || rows_[i].gap_ns != 0 || !statistics[q]) continue;
        const std::string how = outlier(q, statistics, *value);
        if (!how.empty()) unlike += (unlike.empty() ? "" : ", ") + how;
      }
      row.push_back(i >= warm_up_ ? Cell() : text_cell(i == 0 ? "first" : "slow"));
      row.push_back(unlike.empty() ? Cell() : text_cell(unlike));
      table.add(std::move(row));
    }
    if (!table.rows.empty()) drop_empty_columns(table);
    return table;
  }

  Table summary_rows(const std::vector<std::optional<Statistics>>& statistics) const {
    Table table;
    table.name = "iterations_summary";
    table.title = warm_up_ == 0 ? "All iterations" : "Iterations after the warm-up";
    table.sortable = false;
    table.columns = {{"statistic", "per iteration"}};
    for (const Quantity& quantity : quantities()) table.columns.push_back(quantity.column);
    if (!statistics[kHostTime]) {
      table.title.clear();
      return table;
    }
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
    if (warm_up_ != 0) {
      table.remarks =
          "warm-up: the first iteration, and those after it that take more than 3 medians; not in "
          "this table.\n";
    }
    if (std::any_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.seen && row.gap_ns != 0; }))
      table.remarks +=
          "no CUPTI: another tool had it for this time; such iterations are not in this table.\n";
    table.remarks +=
        "outlier: more than 3 standard deviations (1.4826 x MAD) and 5 % from the median; needs five or more "
        "iterations.\n";
    return table;
  }

  std::string glob_;
  Iterations iterations_;
  std::vector<IterationTotals> rows_;
  BusyTimes busy_;
  Holds holds_;
  std::size_t warm_up_ = 0;  // iterations; known at the end
};

}  // namespace

std::unique_ptr<Section> make_iterations_section(const SectionView& view) {
  return std::make_unique<IterationsSection>(view);
}

}  // namespace rangefinder
