// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/module_table.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "profiler/attribution/number_text.h"
#include "profiler/attribution/text_table.h"

namespace rangefinder {
namespace {

/// A column: what it shows of a row, and whether any row has it at all.
struct Cell {
  const char* title;
  int importance;
  std::function<bool(const PathTotals&)> present;
  std::function<std::string(const PathTotals&)> text;
};

std::uint64_t dram_bytes(const PathTotals& row) {
  return row.counters.dram_read_bytes + row.counters.dram_write_bytes;
}

bool measured(const PathTotals& row) {
  return row.counters.measured > 0;
}

/// The time of measured copies is not known, so bytes over time would be wrong where there are some.
bool has_rate(const PathTotals& row) {
  return row.counters.gpu_ns > 0 && row.counters.measured == row.counters.measured_kernels;
}

std::uint64_t copied_bytes(const PathTotals& row) {
  return std::accumulate(row.memcpy_bytes.begin(), row.memcpy_bytes.end(), std::uint64_t{0});
}

/// "+" where some launches have no values: the sum is a lower bound.
std::string at_least(const PathTotals& row, std::uint64_t bytes) {
  return bytes_text(bytes) + (row.counters.unmeasured > 0 ? "+" : "");
}

/// Bandwidth of DRAM while the measured kernels ran, and its share of the peak where that is known.
std::string dram_rate(const PathTotals& row, std::uint64_t peak) {
  const double rate = static_cast<double>(dram_bytes(row)) / static_cast<double>(row.counters.gpu_ns) * 1e9;
  std::string text = rate_text(rate);
  if (peak > 0) text += " " + percent_text(rate / static_cast<double>(peak));
  return text;
}

/// Peak bandwidth if it is the same for all GPUs of the trace; else 0: a share would mean nothing.
std::uint64_t common_peak(const std::vector<GpuRecord>& gpus) {
  if (gpus.empty()) return 0;
  const std::uint64_t peak = gpus.front().peak_dram_bytes_per_s;
  const auto same = [peak](const GpuRecord& gpu) { return gpu.peak_dram_bytes_per_s == peak; };
  return std::all_of(gpus.begin(), gpus.end(), same) ? peak : 0;
}

std::string amplification(const PathTotals& row, std::uint64_t bytes) {
  return factor_text(static_cast<double>(bytes) / static_cast<double>(row.declared_bytes));
}

std::vector<Cell> time_cells(std::uint64_t total_ns) {
  const auto always = [](const PathTotals&) { return true; };
  // Kernels that nothing timed have an unknown duration, not none.
  const auto timed = [](const PathTotals& row) {
    return row.kernels == 0 || row.activity_kernels + row.counters.measured_kernels > 0;
  };
  const auto is_path = [](const PathTotals& row) { return row.path != 0; };
  const double all = static_cast<double>(std::max<std::uint64_t>(total_ns, 1));
  return {
      {"calls", 60, is_path, [](const PathTotals& row) { return count_text(row.calls); }},
      {"kernels", 50, always, [](const PathTotals& row) { return count_text(row.kernels); }},
      {"GPU time", kAlwaysShown, timed, [](const PathTotals& row) { return duration_text(row.gpu_ns); }},
      {"self", 40, timed, [](const PathTotals& row) { return duration_text(row.gpu_ns_exclusive); }},
      {"share", kAlwaysShown, timed,
       [all](const PathTotals& row) { return percent_text(static_cast<double>(row.gpu_ns) / all); }},
      {"host time", 20, is_path, [](const PathTotals& row) { return duration_text(row.host_ns); }},
  };
}

std::vector<Cell> byte_cells(std::uint64_t peak) {
  const auto amplified = [](const PathTotals& row) { return measured(row) && row.declared_bytes > 0; };
  return {
      {"DRAM read", 90, measured,
       [](const PathTotals& row) { return at_least(row, row.counters.dram_read_bytes); }},
      {"DRAM write", 90, measured,
       [](const PathTotals& row) { return at_least(row, row.counters.dram_write_bytes); }},
      {"L2", 70, measured, [](const PathTotals& row) { return at_least(row, row.counters.l2_bytes); }},
      {peak > 0 ? "DRAM rate, of peak" : "DRAM rate", 65, has_rate,
       [peak](const PathTotals& row) { return dram_rate(row, peak); }},
      {"declared", 30, [](const PathTotals& row) { return row.declared_bytes > 0; },
       [](const PathTotals& row) { return bytes_text(row.declared_bytes); }},
      {"DRAM ampl.", 62, amplified,
       [](const PathTotals& row) { return amplification(row, dram_bytes(row)); }},
      {"L2 ampl.", 61, amplified,
       [](const PathTotals& row) { return amplification(row, row.counters.l2_bytes); }},
      {"copies", 10, [](const PathTotals& row) { return copied_bytes(row) > 0; },
       [](const PathTotals& row) { return bytes_text(copied_bytes(row)); }},
  };
}

std::vector<Cell> choose_cells(const TraceTotals& trace, const std::vector<PathTotals>& rows,
                               std::uint64_t total_ns) {
  std::vector<Cell> cells = time_cells(total_ns);
  for (Cell& cell : byte_cells(common_peak(trace.gpus))) cells.push_back(std::move(cell));
  std::erase_if(cells,
                [&rows](const Cell& cell) { return std::none_of(rows.begin(), rows.end(), cell.present); });
  return cells;
}

std::string row_title(const TraceTotals& trace, const PathTotals& row, bool flat) {
  if (row.path == 0) return "(outside of any range)";
  if (flat) return printable(trace.path_text(row.path));
  const std::size_t indent = row.depth == 0 ? 0 : 2 * (row.depth - 1);
  return std::string(indent, ' ') + printable(trace.own_name(row.path));
}

/// GPU time of all work: outermost paths and what ran outside of any.
std::uint64_t all_gpu_ns(const TraceTotals& trace) {
  std::uint64_t sum = 0;
  for (const PathTotals& row : trace.totals.paths()) sum += row.path == 0 || row.depth == 1 ? row.gpu_ns : 0;
  return sum;
}

}  // namespace

std::string module_table(const TraceTotals& trace, const ModuleView& view, const TextStyle& style) {
  const std::vector<PathTotals> rows = select_modules(trace, view);
  if (rows.empty()) return "No NVTX range and no GPU work in this trace.\n";
  const std::vector<Cell> cells = choose_cells(trace, rows, all_gpu_ns(trace));
  TextTable table("module", view.flat ? CutSide::front : CutSide::back);
  for (const Cell& cell : cells) table.add_column(cell.title, cell.importance);
  bool partial = false;
  for (const PathTotals& row : rows) {
    std::vector<std::string> texts;
    for (const Cell& cell : cells) texts.push_back(cell.present(row) ? cell.text(row) : "");
    table.add_row(row_title(trace, row, view.flat), std::move(texts));
    partial |= measured(row) && row.counters.unmeasured > 0;
  }
  std::string out = table.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  const auto lacks_rate = [](const PathTotals& row) { return measured(row) && !has_rate(row); };
  if (std::any_of(rows.begin(), rows.end(), has_rate) && std::any_of(rows.begin(), rows.end(), lacks_rate)) {
    out += "No DRAM rate where copies were measured too: their time is not known.\n";
  }
  if (partial) out += "+: at least; some launches of that module could not be measured.\n";
  out += table.left_out_line();
  return out;
}

}  // namespace rangefinder
