// SPDX-License-Identifier: Apache-2.0
//
// `--section metrics`: named metrics (profiler/metrics/named_metrics.h) of every module and every kernel.
//
//   metrics          a row per module, as in `--section modules`
//   metrics_kernels  a row per kernel, most GPU time first
//   metric_sets      a row per set of the recording, with the launches that it measured
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

std::string not_measured(const TraceTotals& trace) {
  return "No metric was measured in this selection. Record with " +
         metrics_option(RecordedCounters(trace), "all") + ", or the sets that `rangefinder metrics` lists.";
}

constexpr const char* kNoKernel = "No kernel of this selection has a metric.";

class MetricsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<MetricSetRecord>([this](const MetricSetRecord& set) {
      measured_.add(set);
      sets_[set.id].name = set.name;
    });
    rows.exact([this](const ExactRecord& exact, bool) {
      measured_.add(exact);
      const auto set = sets_.find(exact.metric_set);
      if (exact.measured && set != sets_.end()) ++set->second.launches;
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    std::vector<Table> out{module_rows_of(input), kernel_rows_of(input)};
    Table sets = set_rows();
    const bool nothing = out.front().rows.empty() && out.back().rows.empty();
    const std::string missing = set_text(sets);
    if (nothing && sets_.empty()) out.front().empty = not_measured(input.trace);
    if (nothing && !sets_.empty()) out.front().empty = kNoKernel + (missing.empty() ? "" : " " + missing);
    if (!nothing && !missing.empty()) out.front().remarks += missing + "\n";
    out.push_back(std::move(sets));
    return out;
  }

 private:
  struct Set {
    std::string name;
    std::uint64_t launches = 0;  ///< that it measured
  };
  Table set_rows() const {
    std::map<std::string_view, std::uint64_t> launches;  // of all GPUs
    for (const auto& [id, set] : sets_) launches[set.name] += set.launches;
    Table table;
    table.name = "metric_sets";
    table.in = kForPrograms;
    table.columns = {{"set", "set", Unit::text}, {"launches", "launches", Unit::count}};
    for (const auto& [id, set] : sets_) {
      if (const auto sum = launches.extract(set.name); !sum.empty())  // once for all GPUs
        table.add({text_cell(set.name), number_cell(sum.mapped())});
    }
    return table;
  }

  /// Which sets measured nothing, and why; empty: none.
  static std::string set_text(const Table& sets) {
    std::vector<std::string> missing;
    std::uint64_t measured = 0;
    for (const auto& row : sets.rows) {
      const auto launches = std::get<std::uint64_t>(row.back().value);
      measured += launches;
      if (launches == 0) missing.push_back(cell_text(row.front(), Unit::text, true));
    }
    if (missing.empty()) return {};
    constexpr std::size_t kNamed = 3;
    std::string names;
    for (std::size_t i = 0; i < std::min(missing.size(), kNamed); ++i)
      names += (i == 0 ? "" : ", ") + missing[i];
    if (missing.size() > kNamed) names += ", …";
    const std::size_t of = sets.rows.size();
    return count_text(missing.size()) + " of " + count_text(of) + " metric sets measured nothing here (" +
           names + "): each takes two iterations, so all take " + count_text(2 * of) + "; " +
           counted_text(measured, "launch was", "launches were") + " measured.";
  }

  static Table empty_table(const char* name, const char* first, const char* title) {
    Table table;
    table.name = name;
    table.columns = {
        {first, title}, {"launches", "kernels", Unit::count, 40}, {"gpu_ns", "GPU time", Unit::ns}};
    for (TableColumn& column : named_columns()) table.columns.push_back(std::move(column));
    return table;
  }

  /// `measured`: launches that sums in `values` are of.
  static std::vector<Cell> row(Cell name, std::uint64_t launches, std::uint64_t gpu_ns,
                               const NamedValues& values, std::uint64_t measured) {
    std::vector<Cell> cells{std::move(name), number_cell(launches), number_cell(gpu_ns)};
    for (Cell& cell : named_cells(values, measured)) cells.push_back(std::move(cell));
    return cells;
  }

  static Table module_rows_of(const SectionInput& input) {
    const ModuleView view{input.view.top, input.view.depth, "", input.view.flat};
    Table table = empty_table("metrics", "path", "module");
    table.cut = input.view.flat ? CutSide::front : CutSide::back;
    table.arranged = input.view.sort.empty();
    std::vector<std::pair<PathTotals, NamedValues>> rows;
    std::unordered_set<std::uint32_t> shown;
    for (const PathTotals& totals : select_modules(input.trace, input.values, view)) {
      NamedValues values(input.values.context().metrics_of(totals.path), input.values.derived(totals),
                         totals.missing_sets);
      if (totals.kernels == 0 || (values.empty() && totals.missing_sets == 0)) continue;
      rows.emplace_back(totals, std::move(values));
      shown.insert(totals.path);
    }
    const ModuleNames names(input.trace, std::move(shown), input.view.flat);
    bool missing = false;
    for (const auto& [totals, values] : rows) {
      missing = missing || totals.missing_sets != 0;
      Cell module(CellValue(input.trace.path_text(totals.path)), names.name(totals.path));
      table.add(row(std::move(module), totals.kernels, totals.gpu_ns, values, totals.kernels));
    }
    if (missing)
      table.remarks = "No value: a kernel of that module ran too seldom for all turns of the metric sets.\n";
    return without_empty_columns(std::move(table));
  }

  Table kernel_rows_of(const SectionInput& input) const {
    Table table = empty_table("metrics_kernels", "kernel", "kernel");
    table.title = "Kernels";
    table.cut = CutSide::back;
    table.min_first_width = kKernelLabelWidth;
    const std::vector<KernelTotals> selected = input.trace.selected().kernels();
    const auto measured = measured_.all(selected, input.values.context().peaks);
    std::vector<std::string_view> names;
    std::vector<const KernelTotals*> kernels;
    for (const KernelTotals& kernel : selected) {
      const auto name = input.trace.kernel_names.find(kernel.name);
      if (measured.count(kernel.name) == 0 || name == input.trace.kernel_names.end()) continue;
      kernels.push_back(&kernel);
      names.push_back(name->second.demangled);
    }
    const std::vector<std::string> labels = kernel_labels(names);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const KernelTotals& kernel = *kernels[i];
      const auto& [launches, metrics, derived, values] = measured.at(kernel.name);
      if (values.empty()) continue;
      table.add(row(Cell(CellValue(std::string(names[i])), labels[i]), kernel.count, kernel.total_ns, values,
                    launches));
    }
    sort_rows(table, "gpu_ns");
    return without_empty_columns(std::move(table));
  }

  MeasuredKernels measured_;
  std::map<std::uint32_t, Set> sets_;  // by id
};

}  // namespace

const SectionKind kMetricsSection{
    "metrics", "occupancy, throughputs, hit rates, pipes and stalls of every module and kernel",
    make_section<MetricsSection>, Column::exact, true};

}  // namespace rangefinder
