// SPDX-License-Identifier: Apache-2.0
//
// `--section memory`: peak and live bytes by path, by kind and over time; memory that was never freed.
//
// The row of a path includes all paths below it (memory_use.h). Allocations per iteration counts calls that
// began within an iteration, divided by the iterations in the time of the selected calls.
#include <algorithm>
#include <set>

#include "profiler/base/number_text.h"
#include "schema/key_names.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/queries/factories.h"
#include "tools/analysis/read/line_parts.h"
#include "tools/analysis/read/path_names.h"
#include "tools/analysis/tables/cells.h"
#include "tools/analysis/timeline/memory_use.h"

namespace rangefinder {
namespace {

/// Calls that began within iterations.
struct IterationCalls {
  std::uint64_t allocations = 0, frees = 0;
};

struct PerIteration {
  std::string range;
  std::uint64_t iterations = 0;
  std::map<std::uint32_t, IterationCalls> paths;  ///< including all paths below; 0: the whole trace
  std::map<AllocKind, IterationCalls> kinds;

  /// The last two cells of a row.
  void add_cells(std::vector<Cell>& row, const IterationCalls& calls) const {
    row.push_back(ratio_cell(calls.allocations, iterations));
    row.push_back(ratio_cell(calls.frees, iterations));
  }
};

class MemorySection final : public Section {
 public:
  void start(const Iterations& iterations) override { iterations_ = iterations; }
  void finish() override { use_.finish(); }
  void add(const SelectedRows& rows) override {
    rows.lines<PathRecord>([this](const PathRecord& path) { use_.add(path); });
    const auto see = [this](const auto& call, bool) { this->see(call.host.start_ns); };
    rows.launches(kMemoryColumns, [this](const auto& call, bool) {
      if (const LaunchRecord* const launch = launch_of(call)) this->see(launch->host.start_ns);
    });
    rows.each<AllocRecord>(kMemoryColumns, [this](const AllocRecord& alloc, bool) {
      use_.add(alloc);
      this->see(alloc.host.start_ns);
    });
    rows.each<SyncRecord>(kMemoryColumns, see);
    rows.each<EventRecord>(kMemoryColumns, see);
    rows.each<CaptureRecord>(kMemoryColumns, see);
  }

  std::vector<Table> tables(const SectionInput& input) override {
    const PerIteration often = per_iteration(input.trace);
    std::vector<Table> out{path_rows(input, often), kind_rows(often), live_rows(input), time_rows()};
    for (std::size_t i = 1; i < out.size(); ++i) {
      if (out[i].rows.empty() && out[i].empty.empty()) out[i].title.clear();
    }
    return out;
  }

 private:
  void see(TimeNs start_ns) {
    if (start_ns == kNoTime) return;
    first_ns_ = first_ns_ == kNoTime ? start_ns : std::min(first_ns_, start_ns);
    last_ns_ = std::max(last_ns_, start_ns);
  }

  PerIteration per_iteration(const TraceTotals& trace) const {
    PerIteration out;
    if (use_.calls().empty()) return out;
    for (const Iteration& iteration : iterations_.instances) {
      if (iteration.end_ns >= first_ns_ && iteration.start_ns <= last_ns_) ++out.iterations;
    }
    out.range = iterations_.path;
    for (const MemoryCall& call : use_.calls()) {
      const std::size_t at = iterations_.at(call.at_ns);
      if (at == Iterations::kNone) continue;
      const auto count = [&call](IterationCalls& calls) {
        ++(call.is_free ? calls.frees : calls.allocations);
      };
      for (std::uint32_t above = call.path; above != 0; above = trace.parent_of(above)) {
        count(out.paths[above]);
      }
      count(out.paths[0]);
      count(out.kinds[call.kind]);
    }
    return out;
  }

  static std::vector<TableColumn> amounts() {
    return {{"peak_bytes", "GPU peak", Unit::bytes},
            {"live_bytes", "GPU live", Unit::bytes},
            {"host_peak_bytes", "pinned peak", Unit::bytes, 60},
            {"host_live_bytes", "pinned live", Unit::bytes, 55},
            {"allocations", "allocations", Unit::count},
            {"frees", "frees", Unit::count},
            {"allocated_bytes", "allocated", Unit::bytes, 50},
            {"call_ns", "in calls", Unit::ns, 40},
            {"allocations_per_iteration", "allocs/iteration", Unit::number, 70},
            {"frees_per_iteration", "frees/iteration", Unit::number, 65}};
  }

  static void add_amounts(std::vector<Cell>& row, const MemoryTotals& totals) {
    const bool gpu = totals.gpu.peak != 0, host = totals.host.peak != 0;
    row.insert(row.end(), {known_cell(gpu, totals.gpu.peak), known_cell(gpu, totals.gpu.now),
                           known_cell(host, totals.host.peak), known_cell(host, totals.host.now),
                           number_cell(totals.allocations), number_cell(totals.frees),
                           number_cell(totals.bytes), number_cell(totals.call_ns)});
  }

  Table path_rows(const SectionInput& input, const PerIteration& often) const {
    Table table;
    table.name = "memory";
    table.empty = "No memory was allocated while recording.";
    table.columns = {{"path", "allocated in"}};
    for (TableColumn& column : amounts()) table.columns.push_back(std::move(column));
    const auto& paths = use_.paths();
    if (paths.empty()) return table;
    const auto all = paths.find(0);
    const std::set<std::uint32_t> same = repeated(input);
    for (const auto& [path, totals] : paths) {
      const bool deep = input.view.depth != 0 && path_depth(input.trace.paths, path) > input.view.depth;
      if (path == 0 || deep || same.count(path) != 0) continue;
      table.add(row(path_title(input.trace, path), path, totals, often));
    }
    sort_rows(table, "host_peak_bytes");
    sort_rows(table, "peak_bytes");
    std::vector<Cell> first = row("(all)", 0, all->second, often);
    first.resize(table.columns.size());
    table.rows.insert(table.rows.begin(), std::move(first));
    drop_empty_columns(table);
    table.remarks = remarks(often);
    return table;
  }

  /// Paths whose row would repeat the row of a child that is shown.
  std::set<std::uint32_t> repeated(const SectionInput& input) const {
    std::set<std::uint32_t> out;
    const auto& paths = use_.paths();
    for (const auto& [path, totals] : paths) {
      const bool hidden = input.view.depth != 0 && path_depth(input.trace.paths, path) > input.view.depth;
      const auto above = hidden ? paths.end() : paths.find(input.trace.parent_of(path));
      if (above != paths.end() && above->second.allocations == totals.allocations) out.insert(above->first);
    }
    return out;
  }

  static std::vector<Cell> row(std::string title, std::uint32_t path, const MemoryTotals& totals,
                               const PerIteration& often) {
    std::vector<Cell> out{text_cell(std::move(title))};
    add_amounts(out, totals);
    const auto calls = often.paths.find(path);
    often.add_cells(out, calls == often.paths.end() ? IterationCalls{} : calls->second);
    return out;
  }

  std::string remarks(const PerIteration& often) const {
    std::string out;
    if (often.iterations != 0) {
      out += "iteration: " + printable(often.range) + ", over " +
             counted_text(often.iterations, "iteration", "iterations") + ".\n";
    }
    if (use_.unknown_frees() != 0) {
      out += counted_text(use_.unknown_frees(), "free", "frees") +
             " of memory that was allocated before recording began.\n";
    }
    return out +
           "A path is omitted if one of its children has all of its allocations.\n"
           "Only driver calls count: memory that a caching allocator (PyTorch's) reuses does not appear.\n";
  }

  Table kind_rows(const PerIteration& often) const {
    Table table;
    table.name = "memory_kinds";
    table.title = "By kind";
    table.columns = {{"memory", "kind"}};
    for (TableColumn& column : amounts()) table.columns.push_back(std::move(column));
    for (std::size_t kind = 0; kind < kAllocKinds; ++kind) {
      const MemoryTotals& totals = use_.kinds()[kind];
      if (totals.allocations == 0) continue;
      std::vector<Cell> cells{text_cell(std::string(kAllocKindNames[kind]))};
      add_amounts(cells, totals);
      const auto calls = often.kinds.find(static_cast<AllocKind>(kind));
      often.add_cells(cells, calls == often.kinds.end() ? IterationCalls{} : calls->second);
      table.add(std::move(cells));
    }
    if (!table.rows.empty()) drop_empty_columns(table);
    sort_rows(table, "allocated_bytes");
    return table;
  }

  Table live_rows(const SectionInput& input) const {
    Table table;
    table.name = "memory_live";
    table.title = "Never freed: kept to the end, or leaked";
    if (!use_.paths().empty()) table.empty = "All memory was freed.";
    table.columns = {{"path", "allocated in"},
                     {"memory", "kind"},
                     {"count", "count", Unit::count},
                     {"bytes", "bytes", Unit::bytes},
                     {"oldest_ns", "oldest at", Unit::ns}};
    for (const auto& [key, live] : use_.live()) {
      table.add({text_cell(path_title(input.trace, key.first)), text_cell(std::string(to_text(key.second))),
                 number_cell(live.count), number_cell(live.bytes),
                 Cell(CellValue(std::int64_t{live.oldest_ns}))});
    }
    sort_rows(table, "bytes");
    return table;
  }

  Table time_rows() const {
    Table table;
    table.name = "memory_time";
    table.title = "Peak over time, per interval";
    table.sortable = false;
    table.columns = {{"from_ns", "from", Unit::ns},
                     {"gpu_peak_bytes", "GPU peak", Unit::bytes},
                     {"host_peak_bytes", "pinned peak", Unit::bytes}};
    const auto& paths = use_.paths();
    const bool host = !paths.empty() && paths.begin()->second.host.peak != 0;  // of path 0: all
    for (const MemorySlice& slice : use_.slices()) {
      table.add({Cell(CellValue(std::int64_t{slice.from_ns})), number_cell(slice.gpu_peak),
                 known_cell(host, slice.host_peak)});
    }
    if (!table.rows.empty()) drop_empty_columns(table);
    return table;
  }

  MemoryUse use_;
  Iterations iterations_;
  TimeNs first_ns_ = kNoTime, last_ns_ = kNoTime;
};

}  // namespace

std::unique_ptr<Section> make_memory_section(const SectionView&) {
  return std::make_unique<MemorySection>();
}

}  // namespace rangefinder
