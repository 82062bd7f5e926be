// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/module_table.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/hints.h"

namespace rangefinder {
namespace {

/// A row with its bytes and derived values.
struct ModuleRow {
  PathTotals totals;
  RowBytes bytes;
  Derived derived;
  Derived shown;  // the values of `derived` that are not withheld
};

/// A column with the function that makes its cells; the cell is empty if the row has no such value.
struct ModuleColumn {
  TableColumn column;
  std::function<Cell(const ModuleRow&)> cell;
};

bool measured(const ModuleRow& row) {
  return row.bytes.source != RowBytes::Source::none;
}

std::uint64_t copied_bytes(const ModuleRow& row) {
  const auto& copied = row.totals.memcpy_bytes;
  return std::accumulate(copied.begin(), copied.end(), std::uint64_t{0});
}

/// Error bounds that decide whether a value is shown: not those of exact bytes.
std::optional<double> shown_bound(const ModuleRow& row, const std::optional<double>& bound) {
  return row.bytes.is_bounded() ? bound : std::nullopt;
}

BoundedText bounded_dram(const ModuleRow& row) {
  return bounded_text(row.bytes.dram(), shown_bound(row, row.bytes.dram_error()),
                      row.bytes.inseparable != 0 ? kInseparable : kTooShort);
}

/// Marks bytes that are a graph launch's, split over its nodes.
constexpr const char* kSplitMark = "÷";

/// Adds "+" if some work has no values: the sum is a lower bound.
Cell bytes_cell(const ModuleRow& row, std::uint64_t bytes, const std::optional<double>& bound) {
  if (!row.bytes.has_parts()) return {};
  Cell out{CellValue(bytes)};
  if (bounded_text(bytes, shown_bound(row, bound)).value == kNoNumber) {
    out.shown = kNoNumber;
  } else if (row.bytes.partial() || row.bytes.partly_sampled()) {
    out.sign = "+";
  }
  if (row.bytes.split) out.sign += kSplitMark;
  return out;
}

Cell written_cell(const ModuleRow& row) {
  Cell out = bytes_cell(row, row.bytes.write, row.bytes.write_error);
  if (!out.empty() && marks_carry_over(row.bytes.carry_over, row.bytes.dram())) out.sign += kCarryOverMark;
  return out;
}

/// A value derived from bytes; no number if it is withheld.
Cell of_bytes(const ModuleRow& row, std::optional<double> Derived::*value) {
  if (!(row.derived.*value)) return {};
  return Cell(CellValue(*(row.derived.*value)), row.shown.*value ? "" : kNoNumber);
}

Cell when(bool there, CellValue value) {
  return there ? Cell(std::move(value)) : Cell();
}

template <typename Value>
Cell cell_or_empty(const std::optional<Value>& value) {
  return value ? Cell(CellValue(*value)) : Cell();
}

Cell calls_cell(const ModuleRow& row) {
  if (row.totals.path == 0) return {};
  return Cell(CellValue(row.totals.calls),
              is_replayed(row.totals) ? count_text(row.totals.replays) + "x" : "");
}

std::vector<ModuleColumn> time_columns(std::uint64_t total_ns) {
  // Kernels without times have an unknown duration, not 0.
  const auto timed = [](const ModuleRow& row, CellValue value) {
    return when(row.totals.has_gpu_time(), std::move(value));
  };
  const auto of_path = [](const ModuleRow& row, CellValue value) {
    return when(row.totals.path != 0, std::move(value));
  };
  const double all = static_cast<double>(std::max<std::uint64_t>(total_ns, 1));
  return {
      {{"calls", "calls", Unit::count, 60, "ranges"}, calls_cell},
      {{"kernels", "kernels", Unit::count, 50, "kernels launched in it and below"},
       [](const ModuleRow& row) { return Cell(row.totals.kernels); }},
      {{"gpu_ns", "GPU time", Unit::ns, kAlwaysShown, "summed kernel durations"},
       [=](const ModuleRow& row) { return timed(row, row.totals.gpu_ns); }},
      {{"gpu_ns_exclusive", "self", Unit::ns, 40, "of its own launches"},
       [=](const ModuleRow& row) { return timed(row, row.totals.gpu_ns_exclusive); }},
      {{"share", "share", Unit::share, kAlwaysShown, "of all GPU time"},
       [=](const ModuleRow& row) { return timed(row, static_cast<double>(row.totals.gpu_ns) / all); }},
      {{"host_ns", "host time", Unit::ns, 20, "time in its ranges"},
       [=](const ModuleRow& row) { return of_path(row, row.totals.host_ns); }},
  };
}

Cell error_cell(const ModuleRow& row) {
  const std::optional<double> percent = row.bytes.error_pct();
  return percent ? Cell(CellValue(*percent), bounded_dram(row).error) : Cell();
}

Cell limiter_cell(const ModuleRow& row) {
  if (!row.shown.limiter) return {};
  return Cell(CellValue(std::string(limiter_name(*row.shown.limiter))));
}

/// Measured over declared bytes: a lower bound if the bytes are one.
Cell of_declared(const ModuleRow& row, Cell cell) {
  if (!cell.empty() && cell.shown.empty() && (row.bytes.partial() || row.bytes.partly_sampled()))
    cell.sign = "+";
  return cell;
}

/// For the page of `report --html`.
constexpr Outputs kOnlyPage{false, false, false, false};

Cell dram_cell(const ModuleRow& row) {
  if (!measured(row)) return {};
  Cell out(CellValue(row.bytes.dram()), bounded_dram(row).value == kNoNumber ? kNoNumber : "");
  if (!row.bytes.has_parts() && row.bytes.partly_sampled()) out.sign = "+";
  return out;
}

Cell limit_share_cell(const ModuleRow& row) {
  return cell_or_empty(std::max({row.shown.dram_peak_share, row.shown.l2_peak_share,
                                 row.shown.compute_peak_share}));  // unknown ones are less than any number
}

/// `gpm`: the sum of reads and writes is all that is known.
std::vector<ModuleColumn> byte_columns(bool gpm) {
  return {
      {{"dram_read_bytes", "DRAM read", Unit::bytes, 90, "bytes read while it ran"},
       [](const ModuleRow& row) { return bytes_cell(row, row.bytes.read, row.bytes.read_error); }},
      {{"dram_write_bytes", "DRAM write", Unit::bytes, 90, "bytes written while it ran"}, written_cell},
      {{"bytes_error_pct", "DRAM ±", Unit::number, 85, "95 % bound of the error"}, error_cell},
      {{"l2_bytes", "L2", Unit::bytes, 70, "bytes through the L2 cache"},
       [](const ModuleRow& row) { return bytes_cell(row, row.bytes.l2, row.bytes.l2_error); }},
      {{"dram_bytes_per_s", "DRAM rate", Unit::bytes_per_s, 65, "bytes over the time in which its work ran"},
       [](const ModuleRow& row) { return of_bytes(row, &Derived::dram_bytes_per_s); }},
      {{"dram_peak_share", "of peak", Unit::share, 64, "that rate over the peak of the GPU"},
       [](const ModuleRow& row) { return of_bytes(row, &Derived::dram_peak_share); }},
      {{"flop_per_dram_byte", "FLOP/B", Unit::number, 63, "operations per DRAM byte"},
       [](const ModuleRow& row) { return of_bytes(row, &Derived::flop_per_dram_byte); }},
      {{"limiter", "limiter", Unit::text, 66, "the roof that it reaches 60 % of"}, limiter_cell},
      {{"declared_bytes", "declared", Unit::bytes, 30, "bytes that the program says it must move"},
       [](const ModuleRow& row) { return when(row.totals.declared_bytes > 0, row.totals.declared_bytes); }},
      {{"dram_amplification", "DRAM / declared", Unit::factor, 62, "1 is ideal, less is served by L2"},
       [](const ModuleRow& row) { return of_declared(row, of_bytes(row, &Derived::dram_amplification)); }},
      {{"l2_amplification", "L2 / declared", Unit::factor, 61, "L2 bytes over declared ones"},
       [](const ModuleRow& row) { return of_declared(row, of_bytes(row, &Derived::l2_amplification)); }},
      {{"carry_over_bytes", "carry-over", Unit::bytes, 5, "bytes that may be of earlier or later work"},
       [](const ModuleRow& row) { return cell_or_empty(row.bytes.carry_over); }},
      {{"copied_bytes", "copies", Unit::bytes, 10, "bytes of its memory copies"},
       [](const ModuleRow& row) { return when(copied_bytes(row) > 0, copied_bytes(row)); }},
      {{"dram_bytes", "DRAM", Unit::bytes, gpm ? 90 : 0, "bytes read and written",
        gpm ? Outputs() : kOnlyPage},
       dram_cell},
      {{"limit_share", "of limit", Unit::share, 67, "share of the nearest known limit: DRAM, L2 or compute",
        kOnlyPage},
       limit_share_cell},
  };
}

std::string row_title(const ModuleNames& names, const PathTotals& row) {
  const std::string signs = module_signs(row);
  return names.name(row.path) + (signs.empty() ? "" : " " + signs);
}

/// Adds the row of sampled bytes that no work of this process moved.
void add_unattributed(Table& table, const RowValues& values) {
  if (values.sampled() == nullptr) return;
  const auto& [read, write, l2] = values.sampled()->samples.unattributed;
  if (read + write + l2 == 0) return;
  std::vector<Cell> cells;
  for (const TableColumn& column : table.columns) {
    cells.push_back(column.key == "dram_read_bytes"    ? Cell(read)
                    : column.key == "dram_write_bytes" ? Cell(write)
                    : column.key == "l2_bytes"         ? Cell(l2)
                                                       : Cell());
  }
  cells.front() = Cell("(unattributed)");
  table.add(std::move(cells));
}

/// One of the row's sampled values has an error bound above 100 %.
bool lacks_number(const ModuleRow& row) {
  const RowBytes& bytes = row.bytes;
  const auto hidden = [&row](std::uint64_t value, const std::optional<double>& bound) {
    return bounded_text(value, shown_bound(row, bound)).value == kNoNumber;
  };
  if (!bytes.has_parts()) return false;
  return hidden(bytes.read, bytes.read_error) || hidden(bytes.write, bytes.write_error) ||
         hidden(bytes.l2, bytes.l2_error) || bounded_dram(row).value == kNoNumber;
}

struct Remark {
  bool (*applies)(const ModuleRow&);
  std::string_view text;
};

const std::array kRemarks{
    Remark{[](const ModuleRow& row) { return row.bytes.partial(); },
           "+: lower bound; some launches of that module were not measured.\n"},
    Remark{[](const ModuleRow& row) { return row.bytes.partly_sampled() && !row.bytes.partial(); },
           "+: lower bound; part of that module's work ran while no samples were taken.\n"},
    Remark{[](const ModuleRow& row) { return marks_carry_over(row.bytes.carry_over, row.bytes.dram()); },
           kCarryOverRemark},
    Remark{[](const ModuleRow& row) {
             return row.derived.dram_amplification && !row.bytes.comparable_with(row.totals.declared_bytes);
           },
           "DRAM / declared is omitted where carry-over may exceed the declared bytes.\n"},
    Remark{[](const ModuleRow& row) { return row.derived.above_peak; },
           "No rate is shown that would exceed the GPU's peak: some of its bytes are of work beside it.\n"},
    Remark{[](const ModuleRow& row) {
             return row.bytes.estimated && row.bytes.source == RowBytes::Source::sampled;
           },
           "Part of the work ran while no samples were taken: its bytes are estimated. DRAM ± includes that "
           "error.\n"},
    Remark{
        [](const ModuleRow& row) { return row.bytes.source == RowBytes::Source::gpm; },
        "DRAM: of the whole GPU, from NVML ten times a second; only for modules whose error bound is at most "
        "100 %, as of those that run 100 ms and more at a time.\n"},
    Remark{[](const ModuleRow& row) { return row.bytes.split; },
           "÷: exact bytes of graph launches, split over their nodes in the proportions of --split-by's "
           "samples.\n"},
    Remark{[](const ModuleRow& row) { return row.bytes.in_graph; },
           "Bytes of graph launches are at the path that all their nodes share; below it there are none.\n"},
    Remark{[](const ModuleRow& row) { return is_replayed(row.totals); },
           "In calls, 20x: what was captured in it in a graph was replayed 20 times.\n"},
    Remark{[](const ModuleRow& row) { return row.totals.unstable; },
           "~: unstable; GPU time differs by more than 10 % between the metric sets.\n"},
    Remark{[](const ModuleRow& row) { return row.totals.missing_sets != 0; },
           "?: too few launches for all metric sets (--json lists the missing sets).\n"},
    Remark{[](const ModuleRow& row) { return row.totals.counters.not_exclusive != 0; },
           "*: includes bytes of other threads, streams or modules that ran in its counter ranges.\n"}};

/// The remarks that apply to any row.
class Remarks {
 public:
  void add(const ModuleRow& row, const RowValues& values) {
    if (lacks_number(row)) {
      SampleNeed need;
      need.add(values, row.totals);
      const BoundedText dram = bounded_dram(row);
      without_.add(need, dram.value == kNoNumber ? dram.error : "");
    }
    for (std::size_t i = 0; i < kRemarks.size(); ++i) applies_[i] = applies_[i] || kRemarks[i].applies(row);
    estimate_.add(row.totals.gpu_ns, row.bytes);
  }
  [[nodiscard]] std::string text() const {
    std::string out = without_.remark();
    for (std::size_t i = 0; i < kRemarks.size(); ++i) {
      if (applies_[i]) out += kRemarks[i].text;
    }
    return out + estimate_.text("module");
  }

 private:
  NoNumbers without_;
  std::array<bool, kRemarks.size()> applies_{};
  EstimateRemark estimate_;
};

/// A row with its bytes, so that they are looked up only once.
struct ModuleSortRow {
  PathTotals totals;
  RowBytes bytes;
};
using ModuleKey = std::uint64_t (*)(const ModuleSortRow&);

const std::map<std::string, ModuleKey>& module_keys() {
  static const std::map<std::string, ModuleKey> kKeys{
      {"calls", [](const ModuleSortRow& row) { return row.totals.calls; }},
      {"kernels", [](const ModuleSortRow& row) { return row.totals.kernels; }},
      {"gpu_ns", [](const ModuleSortRow& row) { return row.totals.gpu_ns; }},
      {"gpu_ns_exclusive", [](const ModuleSortRow& row) { return row.totals.gpu_ns_exclusive; }},
      {"gpu_busy_ns", [](const ModuleSortRow& row) { return row.totals.gpu_busy_ns; }},
      {"host_ns", [](const ModuleSortRow& row) { return row.totals.host_ns; }},
      {"dram_bytes", [](const ModuleSortRow& row) { return row.bytes.dram(); }},
      {"dram_read_bytes", [](const ModuleSortRow& row) { return row.bytes.read; }},
      {"dram_write_bytes", [](const ModuleSortRow& row) { return row.bytes.write; }},
      {"l2_bytes", [](const ModuleSortRow& row) { return row.bytes.l2; }},
      {"declared_bytes", [](const ModuleSortRow& row) { return row.totals.declared_bytes; }},
  };
  return kKeys;
}

}  // namespace

std::uint64_t all_gpu_ns(const TraceTotals& trace) {
  std::uint64_t sum = 0;
  for (const PathTotals& row : trace.totals.paths()) sum += row.path == 0 || row.depth == 1 ? row.gpu_ns : 0;
  return sum;
}

std::vector<TableColumn> module_columns(bool gpm) {
  std::vector<TableColumn> out{{"path", "module", Unit::text}};
  for (ModuleColumn& column : time_columns(0)) out.push_back(std::move(column.column));
  for (ModuleColumn& column : byte_columns(gpm)) out.push_back(std::move(column.column));
  out.push_back(source_column());
  return out;
}

std::string module_signs(const PathTotals& row) {
  std::string signs;
  if (row.unstable) signs += '~';
  if (row.missing_sets != 0) signs += '?';
  if (row.counters.not_exclusive != 0) signs += '*';
  return signs;
}

Table module_rows(const TraceTotals& trace, const RowValues& values, const ModuleView& view) {
  Table table;
  table.name = "modules";
  table.empty = "No NVTX range and no GPU work in this trace.";
  table.cut = view.flat || trace.in_range ? CutSide::front : CutSide::back;
  table.arranged = true;
  table.columns = module_columns(values.has_gpm());
  std::vector<ModuleColumn> columns = time_columns(all_gpu_ns(trace));
  for (ModuleColumn& column : byte_columns(values.has_gpm())) columns.push_back(std::move(column));
  Remarks remarks;
  const std::vector<PathTotals> selected = select_modules(trace, values, view);
  std::unordered_set<std::uint32_t> shown;
  for (const PathTotals& totals : selected) shown.insert(totals.path);
  const ModuleNames names(trace, std::move(shown), view.flat);
  for (const PathTotals& totals : selected) {
    const RowBytes bytes = values.bytes(totals);
    const Derived derived = values.derived(totals);
    const ModuleRow row{totals, bytes, derived, shown_values(totals, bytes, derived)};
    remarks.add(row, values);
    std::vector<Cell> cells{Cell(CellValue(trace.path_text(totals.path)), row_title(names, totals))};
    for (const ModuleColumn& column : columns) cells.push_back(column.cell(row));
    cells.push_back(source_cell(trace, totals.path));
    table.add(std::move(cells));
  }
  if (table.rows.empty()) return table;
  drop_empty_columns(table);
  add_unattributed(table, values);
  table.remarks = remarks.text();
  return table;
}

const std::vector<std::string>& module_sort_columns() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& [name, key] : module_keys()) names.push_back(name);
    return names;
  }();
  return kNames;
}

bool is_within(const TraceTotals& trace, const std::unordered_set<std::uint32_t>& paths, std::uint32_t path) {
  for (; path != 0; path = trace.parent_of(path)) {
    if (paths.count(path) != 0) return true;
  }
  return false;
}

bool is_replayed(const PathTotals& row) noexcept {
  return row.captured_kernels * 2 > row.kernels && row.replays != 0;
}

bool has_work(const PathTotals& row) {
  const auto copied = [](std::uint64_t bytes) { return bytes > 0; };
  return row.kernels > 0 || row.counters.measured + row.counters.unmeasured > 0 ||
         std::any_of(row.memcpy_bytes.begin(), row.memcpy_bytes.end(), copied);
}

std::uint64_t module_weight(const PathTotals& row, const RowValues& values, const std::string& sort) {
  return module_keys().at(sort.empty() ? "gpu_ns" : sort_key(sort))({row, values.bytes(row)});
}

std::vector<PathTotals> select_modules(const TraceTotals& trace, const RowValues& values,
                                       const ModuleView& view) {
  std::vector<PathTotals> all = trace.rows();
  if (!view.first.empty()) {
    std::stable_partition(all.begin(), all.end(),
                          [&](const PathTotals& row) { return is_within(trace, view.first, row.path); });
  }
  std::vector<WeightedRow> rows;  // path 0 is last, so that positions are those of `all`
  for (const PathTotals& row : all) {
    if (row.path != 0) rows.push_back({row.path, row.depth, module_weight(row, values, view.sort)});
  }
  std::vector<PathTotals> out;
  for (const std::size_t i : select_rows(trace, rows, view)) out.push_back(all[i]);
  if (all.back().path == 0 && has_work(all.back())) out.push_back(all.back());
  return out;
}

}  // namespace rangefinder
