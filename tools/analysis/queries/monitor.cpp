// SPDX-License-Identifier: Apache-2.0
//
// `--section monitor`: each module's share of the time, in a trace recorded with --monitor.
//
// GPU work was recorded in short windows only. Its share of the time is the mean over the windows. ± is 1.96
// standard errors of that mean, the 95 % interval if the windows are independent. Launches and ranges were
// counted all the time.
#include <cmath>

#include "profiler/attribution/monitor_rates.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kErrorsOfMean = 1.96;

class MonitorSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<PathRecord>([this](const PathRecord& path) { rates_.add_path(path.id, path.parent); });
    rows.lines<MonitorRecord>([this](const MonitorRecord& record) { rates_.add(record); });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    Table table;
    table.name = "monitor";
    table.empty = "This trace has no --monitor windows.";
    table.columns = {{"path", "module"},
                     {"gpu_share", "GPU", Unit::share},
                     {"gpu_share_error", "±", Unit::share},
                     {"launches", "launches", Unit::count, 70},
                     {"launches_per_s", "launches/s", Unit::number},
                     {"ranges_per_s", "ranges/s", Unit::number, 60},
                     {"mean_range_ns", "mean range", Unit::ns, 50},
                     {"kernels", "kernels seen", Unit::count, 40},
                     {"gpu_ns", "GPU time seen", Unit::ns, 30}};
    for (const MonitorRow& row : rates_.rows()) {
      const bool wanted = input.view.depth == 0 || row.depth <= input.view.depth;
      if (wanted && (row.launches != 0 || row.ranges != 0 || row.gpu_ns != 0))
        table.add(cells(input.trace, row));
    }
    if (table.rows.empty()) return {table};
    sort_rows(table, "gpu_share");
    table.remarks =
        std::to_string(rates_.windows()) + " windows, " + share_text() +
        " of the time. GPU: kernels and copies; concurrent ones add up. ±: 1.96 standard errors of\n"
        "the mean over the windows.\n";
    return {table};
  }

 private:
  [[nodiscard]] std::string share_text() const {
    const double share = static_cast<double>(rates_.window_ns()) / static_cast<double>(rates_.observed_ns());
    return cell_text(Cell(CellValue(share)), Unit::share, false);
  }

  [[nodiscard]] std::vector<Cell> cells(const TraceTotals& trace, const MonitorRow& row) const {
    const double seconds = static_cast<double>(rates_.observed_ns()) / kNsPerSecond;
    const auto windows = static_cast<double>(rates_.windows());
    const bool has_mean = windows > 0, has_error = windows > 1;
    return {text_cell(path_title(trace, row.path)),
            has_mean ? number_cell(row.gpu_ns_per_s / kNsPerSecond) : Cell(),
            has_error ? number_cell(kErrorsOfMean * row.gpu_ns_per_s_sd / std::sqrt(windows) / kNsPerSecond)
                      : Cell(),
            number_cell(row.launches),
            ratio_cell(static_cast<double>(row.launches), seconds),
            row.ranges == 0 ? Cell() : ratio_cell(static_cast<double>(row.ranges), seconds),
            row.ranges == 0 ? Cell() : number_cell(row.range_ns / row.ranges),
            number_cell(row.kernels),
            number_cell(row.gpu_ns)};
  }

  MonitorRates rates_;
};

}  // namespace

const SectionKind kMonitorSection{"monitor", "rates of a trace made with --monitor, with their errors",
                                  make_section<MonitorSection>};

}  // namespace rangefinder
