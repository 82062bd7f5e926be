// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/module_table.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "profiler/attribution/number_text.h"
#include "profiler/attribution/text_table.h"

namespace rangefinder {
namespace {

/// A row and what is known of it.
struct Row {
  PathTotals totals;
  RowBytes bytes;
  Derived derived;
};

/// A column: what it shows of a row, and whether any row has it at all.
struct Cell {
  const char* title;
  int importance;
  std::function<bool(const Row&)> present;
  std::function<std::string(const Row&)> text;
};

bool measured(const Row& row) {
  return row.bytes.source != RowBytes::Source::none;
}

/// Part of the row's work was in no sample.
bool has_gaps(const Row& row) {
  return row.bytes.sampled_share < 0.9995;
}

std::uint64_t copied_bytes(const Row& row) {
  const auto& copied = row.totals.memcpy_bytes;
  return std::accumulate(copied.begin(), copied.end(), std::uint64_t{0});
}

/// "+" where some work has no values: the sum is a lower bound.
std::string at_least(const Row& row, std::uint64_t bytes) {
  return bytes_text(bytes) + (row.bytes.partial() || has_gaps(row) ? "+" : "");
}

/// Bandwidth of DRAM while the measured work ran, and its share of the peak where that is known.
std::string dram_rate(const Row& row) {
  std::string text = rate_text(*row.derived.dram_bytes_per_s);
  if (row.derived.dram_peak_share) text += " " + percent_text(*row.derived.dram_peak_share);
  return text;
}

std::vector<Cell> time_cells(std::uint64_t total_ns) {
  const auto always = [](const Row&) { return true; };
  // Kernels that nothing timed have an unknown duration, not none.
  const auto timed = [](const Row& row) { return row.totals.has_gpu_time(); };
  const auto is_path = [](const Row& row) { return row.totals.path != 0; };
  const double all = static_cast<double>(std::max<std::uint64_t>(total_ns, 1));
  return {
      {"calls", 60, is_path, [](const Row& row) { return count_text(row.totals.calls); }},
      {"kernels", 50, always, [](const Row& row) { return count_text(row.totals.kernels); }},
      {"GPU time", kAlwaysShown, timed, [](const Row& row) { return duration_text(row.totals.gpu_ns); }},
      {"self", 40, timed, [](const Row& row) { return duration_text(row.totals.gpu_ns_exclusive); }},
      {"share", kAlwaysShown, timed,
       [all](const Row& row) { return percent_text(static_cast<double>(row.totals.gpu_ns) / all); }},
      {"host time", 20, is_path, [](const Row& row) { return duration_text(row.totals.host_ns); }},
  };
}

std::vector<Cell> byte_cells(bool peak) {
  const auto amplified = [](const Row& row) { return row.derived.dram_amplification.has_value(); };
  return {
      {"DRAM read", 90, measured, [](const Row& row) { return at_least(row, row.bytes.read); }},
      {"DRAM write", 90, measured, [](const Row& row) { return at_least(row, row.bytes.write); }},
      {"DRAM ±", 85, [](const Row& row) { return row.bytes.error_pct().has_value(); },
       [](const Row& row) { return error_text(*row.bytes.error_pct()); }},
      {"L2", 70, measured, [](const Row& row) { return at_least(row, row.bytes.l2); }},
      {peak ? "DRAM rate, of peak" : "DRAM rate", 65,
       [](const Row& row) { return row.derived.dram_bytes_per_s.has_value(); }, dram_rate},
      {"FLOP/B", 63, [](const Row& row) { return row.derived.flop_per_dram_byte.has_value(); },
       [](const Row& row) { return three_digits(*row.derived.flop_per_dram_byte); }},
      {"limiter", 66, [](const Row& row) { return row.derived.limiter.has_value(); },
       [](const Row& row) { return std::string(limiter_name(*row.derived.limiter)); }},
      {"declared", 30, [](const Row& row) { return row.totals.declared_bytes > 0; },
       [](const Row& row) { return bytes_text(row.totals.declared_bytes); }},
      {"DRAM ampl.", 62, amplified,
       [](const Row& row) { return factor_text(*row.derived.dram_amplification); }},
      {"L2 ampl.", 61, amplified, [](const Row& row) { return factor_text(*row.derived.l2_amplification); }},
      {"copies", 10, [](const Row& row) { return copied_bytes(row) > 0; },
       [](const Row& row) { return bytes_text(copied_bytes(row)); }},
  };
}

std::vector<Cell> choose_cells(const std::vector<Row>& rows, std::uint64_t total_ns) {
  std::vector<Cell> cells = time_cells(total_ns);
  const bool peak = std::any_of(rows.begin(), rows.end(),
                                [](const Row& row) { return row.derived.dram_peak_share.has_value(); });
  for (Cell& cell : byte_cells(peak)) cells.push_back(std::move(cell));
  std::erase_if(cells,
                [&rows](const Cell& cell) { return std::none_of(rows.begin(), rows.end(), cell.present); });
  return cells;
}

std::string row_title(const TraceTotals& trace, const PathTotals& row, bool flat) {
  std::string signs;
  if (row.unstable) signs += '~';
  if (row.missing_sets != 0) signs += '?';
  if (row.counters.not_exclusive != 0) signs += '*';
  if (!signs.empty()) signs.insert(0, 1, ' ');
  if (row.path == 0) return "(outside of any range)" + signs;
  if (flat) return printable(trace.path_text(row.path)) + signs;
  const std::size_t indent = row.depth == 0 ? 0 : 2 * (row.depth - 1);
  return std::string(indent, ' ') + printable(trace.own_name(row.path)) + signs;
}

/// GPU time of all work: outermost paths and what ran outside of any.
std::uint64_t all_gpu_ns(const TraceTotals& trace) {
  std::uint64_t sum = 0;
  for (const PathTotals& row : trace.totals.paths()) sum += row.path == 0 || row.depth == 1 ? row.gpu_ns : 0;
  return sum;
}

/// What samples hold that no work of this process can have moved.
void add_unattributed(TextTable& table, const std::vector<Cell>& cells, const RowValues& values) {
  if (values.sampled() == nullptr) return;
  const auto& [read, write, l2] = values.sampled()->samples.unattributed;
  if (read + write + l2 == 0) return;
  std::vector<std::string> texts;
  for (const Cell& cell : cells) {
    const std::string_view title = cell.title;
    texts.push_back(title == "DRAM read"    ? bytes_text(read)
                    : title == "DRAM write" ? bytes_text(write)
                    : title == "L2"         ? bytes_text(l2)
                                            : "");
  }
  table.add_row("(bytes of nobody)", std::move(texts));
}

std::string remarks(const std::vector<Row>& rows) {
  const auto any = [&rows](bool (*has)(const Row&)) { return std::any_of(rows.begin(), rows.end(), has); };
  std::string out;
  if (any([](const Row& row) { return row.bytes.partial(); })) {
    out += "+: at least; some launches of that module were not measured.\n";
  } else if (any(has_gaps)) {
    out += "+: at least; part of that module's work ran while no sample was taken.\n";
  }
  if (any([](const Row& row) { return row.bytes.estimated; })) {
    out += "Metric sets took turns: bytes of all launches are estimated from those that had them.\n";
  }
  if (any([](const Row& row) { return row.totals.unstable; })) {
    out += "~: unstable; GPU time differs by more than 10 % between the metric sets.\n";
  }
  if (any([](const Row& row) { return row.totals.missing_sets != 0; })) {
    out += "?: seen too seldom for all metric sets (--json names those that are missing).\n";
  }
  if (any([](const Row& row) { return row.totals.counters.not_exclusive != 0; })) {
    out += "*: other threads, streams or modules worked in its counter ranges: their bytes are in it.\n";
  }
  return out;
}

}  // namespace

std::string module_table(const TraceTotals& trace, const RowValues& values, const ModuleView& view,
                         const TextStyle& style) {
  std::vector<Row> rows;
  for (const PathTotals& totals : select_modules(trace, values, view)) {
    rows.push_back({totals, values.bytes(totals), values.derived(totals)});
  }
  if (rows.empty()) return "No NVTX range and no GPU work in this trace.\n";
  const std::vector<Cell> cells = choose_cells(rows, all_gpu_ns(trace));
  TextTable table("module", view.flat ? CutSide::front : CutSide::back);
  for (const Cell& cell : cells) table.add_column(cell.title, cell.importance);
  for (const Row& row : rows) {
    std::vector<std::string> texts;
    for (const Cell& cell : cells) texts.push_back(cell.present(row) ? cell.text(row) : "");
    table.add_row(row_title(trace, row.totals, view.flat), std::move(texts));
  }
  add_unattributed(table, cells, values);
  std::string out = table.render(style.width, style.colour ? "\033[1m" : "", style.colour ? "\033[0m" : "");
  return out + remarks(rows) + table.left_out_line();
}

}  // namespace rangefinder
