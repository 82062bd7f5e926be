// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/layer_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/attribution/derived.h"
#include "profiler/base/number_text.h"
#include "profiler/base/text_table.h"

namespace rangefinder {
namespace {

/// Sum of `value` over the outermost paths and work outside any range.
std::uint64_t total(const LayerSummary& summary, std::uint64_t LayerRow::*value) {
  std::uint64_t sum = summary.outside.*value;
  for (const LayerRow& row : summary.modules) {
    if (row.depth == 1) sum += row.*value;
  }
  return sum;
}

std::vector<const LayerRow*> heaviest(const LayerSummary& summary, std::size_t max_rows) {
  std::vector<const LayerRow*> rows;
  for (const LayerRow& row : summary.modules) rows.push_back(&row);
  if (summary.outside.kernels > 0) rows.push_back(&summary.outside);
  // Stable, so that a path comes before a child that did all its work.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LayerRow* a, const LayerRow* b) { return a->gpu_ns > b->gpu_ns; });
  if (rows.size() > max_rows) rows.resize(max_rows);
  return rows;
}

using OptionalBytes = std::optional<std::uint64_t>;

BoundedText bounded(const OptionalBytes& bytes, const std::optional<double>& error_pct,
                    const char* reason = kTooShort) {
  if (!bytes) return {};
  const auto bound_of = [&bytes](double percent) { return percent / 100 * static_cast<double>(*bytes); };
  return bounded_text(*bytes, error_pct ? std::optional(bound_of(*error_pct)) : std::nullopt, reason);
}

BoundedText dram(const LayerRow& row) {
  if (!row.dram_read_bytes || !row.bytes_error_pct) return {};
  return bounded(*row.dram_read_bytes + row.dram_write_bytes.value_or(0), row.bytes_error_pct,
                 row.inseparable ? kInseparable : kTooShort);
}

/// With "+" if only part was measured.
std::string cell(const LayerRow& row, const OptionalBytes& bytes, const std::optional<double>& error_pct) {
  const std::string text = bounded(bytes, error_pct).value;
  return text.empty() || text == kNoNumber ? text : text + (row.partial ? "+" : "");
}

bool has_carry_over_mark(const LayerRow& row) {
  return marks_carry_over(row.carry_over_bytes,
                          row.dram_read_bytes.value_or(0) + row.dram_write_bytes.value_or(0));
}

/// A column that is shown if any row has a cell.
struct ByteColumn {
  const char* title;
  int importance;
  std::string (*cell)(const LayerRow& row);  ///< empty: not measured
};

constexpr std::array kByteColumns{
    ByteColumn{"DRAM read", kAlwaysShown,
               [](const LayerRow& row) { return cell(row, row.dram_read_bytes, row.read_error_pct); }},
    ByteColumn{"DRAM write", kAlwaysShown,
               [](const LayerRow& row) {
                 return cell(row, row.dram_write_bytes, row.write_error_pct) +
                        (has_carry_over_mark(row) ? kCarryOverMark : "");
               }},
    ByteColumn{"DRAM ±", 5, [](const LayerRow& row) { return dram(row).error; }},
    ByteColumn{"of peak", 4,
               [](const LayerRow& row) {
                 if (!row.dram_peak_share) return std::string();
                 return dram(row).value == kNoNumber ? std::string(kNoNumber)
                                                     : percent_text(*row.dram_peak_share);
               }},
    ByteColumn{"L2", 3, [](const LayerRow& row) { return cell(row, row.l2_bytes, row.l2_error_pct); }},
    ByteColumn{"limiter", 2, [](const LayerRow& row) { return printable(row.limiter); }},
};

std::vector<std::string> byte_cells(const std::vector<ByteColumn>& columns, const LayerRow& row) {
  std::vector<std::string> cells;
  for (const ByteColumn& column : columns) cells.push_back(column.cell(row));
  return cells;
}

/// How sampled bytes were shared among paths.
std::string samples_remark(const LayerSummary::Samples& samples) {
  return "Bytes are from " + count_text(samples.count) + " hardware samples, " +
         (samples.unmixed ? "fitted over iterations; ± holds for 95 % of paths.\n"
                          : "shared while the program ran; ± holds for 95 % of paths.\n");
}

struct Table {
  std::string text;
  bool bytes = false;                          ///< at least one row has counter bytes
  bool partial = false;                        ///< at least one row is partial
  bool carry_over = false, no_number = false;  ///< at least one row has such a mark
};

Table render_table(const LayerSummary& summary, const LayerReportStyle& style) {
  const std::vector<const LayerRow*> rows = heaviest(summary, style.rows);
  Table out;
  for (const LayerRow* const row : rows) {
    out.bytes |= row->dram_read_bytes.has_value();
    out.partial |= row->partial;
    out.carry_over |= has_carry_over_mark(*row);
    for (const ByteColumn& column : kByteColumns) out.no_number |= column.cell(*row) == kNoNumber;
  }
  std::vector<ByteColumn> columns;
  for (const ByteColumn& column : kByteColumns) {
    const auto has = [&column](const LayerRow* row) { return !column.cell(*row).empty(); };
    if (std::any_of(rows.begin(), rows.end(), has)) columns.push_back(column);
  }
  TextTable table("path", CutSide::front);
  table.add_column("calls", 1);
  table.add_column("kernels", 0);
  table.add_column("GPU time");
  table.add_column("share");
  for (const ByteColumn& column : columns) table.add_column(column.title, column.importance);
  const auto all_ns = static_cast<double>(std::max<std::uint64_t>(total_gpu_ns(summary), 1));
  for (const LayerRow* const row : rows) {
    std::vector<std::string> cells{row->calls ? count_text(*row->calls) : "", count_text(row->kernels),
                                   duration_text(row->gpu_ns),
                                   percent_text(static_cast<double>(row->gpu_ns) / all_ns)};
    for (std::string& cell : byte_cells(columns, *row)) cells.push_back(std::move(cell));
    table.add_row(row == &summary.outside ? "(outside of any range)" : printable(row->path),
                  std::move(cells));
  }
  if (!columns.empty() && summary.samples && summary.samples->unattributed.dram_read_bytes) {
    std::vector<std::string> cells(4);  // no calls, kernels, time and share
    for (std::string& cell : byte_cells(columns, summary.samples->unattributed))
      cells.push_back(std::move(cell));
    table.add_row("(unattributed)", std::move(cells));
  }
  if (!table.empty()) {
    out.text = table.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  }
  return out;
}

/// Remarks on how the numbers were obtained.
std::string remarks(const LayerSummary& summary, const Table& table, const std::string& folder) {
  std::string out;
  if (table.partial) out += "+: a lower bound; part of that path's work was not measured.\n";
  if (table.carry_over) out += kCarryOverRemark;
  if (table.no_number) out += kNoNumberRemark;
  if (summary.samples) out += samples_remark(*summary.samples);
  out += truth_line(summary.truth);
  if (!summary.counters_reason.empty()) {
    out += "DRAM and L2 bytes were not measured: " + printable(summary.counters_reason) + "\n";
  } else if (!table.bytes && total(summary, &LayerRow::kernels) > 0) {
    out += "DRAM and L2 bytes were not requested: add them with rangefinder run --counters exact.\n";
  }
  if (summary.monitor_observed_ns != 0) {
    const double share =
        static_cast<double>(summary.monitor_window_ns) / static_cast<double>(summary.monitor_observed_ns);
    out += "Monitor mode: " + count_text(summary.monitor_windows) + " windows, " + percent_text(share) +
           " of the time; the table covers only the windows. Rates:  rangefinder report " +
           (folder.empty() ? "DIR" : quoted_for_shell(folder)) + " --section monitor\n";
  }
  if (!summary.final) {
    out += "The program did not exit normally: the table shows its state at the last summary.\n";
  }
  return out;
}

}  // namespace

std::uint64_t total_gpu_ns(const LayerSummary& summary) {
  return total(summary, &LayerRow::gpu_ns);
}

std::string truth_line(const CopyTruth& truth) {
  if (truth.copies == 0 || truth.known_bytes == 0) return {};
  const double share = static_cast<double>(truth.measured_bytes) / static_cast<double>(truth.known_bytes);
  return "Copies of known size: " + count_text(truth.copies) + ", measured " + percent_text(share) +
         " of their bytes.\n";
}

LossCounts loss_counts(const std::array<std::uint64_t, kLossCauses.size()>& loss) {
  LossCounts out;
  for (std::size_t i = 0; i < loss.size(); ++i) out[kLossCauses[i].name] = loss[i];
  return out;
}

std::vector<std::string> loss_lines(const LossCounts& loss) {
  std::vector<std::string> lines;
  for (const auto& [cause, n] : loss) {
    if (n == 0) continue;
    const auto known = std::find_if(kLossCauses.begin(), kLossCauses.end(),
                                    [&name = cause](const LossCause& c) { return name == c.name; });
    std::string line = "  " + count_text(n) + "  " + printable(cause);
    if (known != kLossCauses.end()) line += std::string(": ") + known->meaning;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string layer_report(const LayerSummary& summary, const LayerReportStyle& style) {
  const Table table = render_table(summary, style);
  const std::size_t paths = summary.modules.size();
  const std::uint64_t kernels = total(summary, &LayerRow::kernels);
  std::string out = table.text;
  if (paths > style.rows) {
    out += "(the " + count_text(style.rows) + " heaviest of " + count_text(paths) + " paths)\n";
  } else if (paths == 0 && kernels > 0) {
    out +=
        "No NVTX range enclosed a launch: mark the parts of the program with nvtxRangePush and\n"
        "nvtxRangePop, or use --torch-modules for PyTorch.\n";
  }
  if (!out.empty()) out += "\n";
  out += remarks(summary, table, style.folder);

  const std::vector<std::string> lost = loss_lines(summary.loss);
  out += counted_text(kernels, "kernel", "kernels") + ", " + counted_text(summary.copies, "copy", "copies");
  out += lost.empty() ? ", 0 records lost." : ". Lost or incomplete:";
  for (const std::string& line : lost) out += "\n" + line;
  if (style.next && !style.folder.empty()) {
    out += std::string(lost.empty() ? "  " : "\n") + "Next:  rangefinder report " +
           quoted_for_shell(style.folder);
  }
  return out + "\n";
}

}  // namespace rangefinder
