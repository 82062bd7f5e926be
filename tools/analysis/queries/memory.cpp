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
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/memory_use.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/queries/torch_memory.h"

namespace rangefinder {
namespace {

/// Calls that began within iterations.
struct IterationCalls {
  std::uint64_t allocations = 0, frees = 0;
};

struct PerIteration {
  std::uint64_t iterations = 0;
  std::map<std::uint32_t, IterationCalls> paths;  ///< including all paths below; 0: the whole trace
  std::map<AllocKind, IterationCalls> kinds;
};

class MemorySection final : public Section {
 public:
  void start(const Iterations& iterations) override { iterations_ = iterations; }
  void finish() override { use_.finish(); }
  void add(const SelectedRows& rows) override {
    rows.lines<PathRecord>([this](const PathRecord& path) { use_.add(path); });
    rows.launches(kHostCallColumns, [this](const auto& call, bool) {
      if (const LaunchRecord* const launch = launch_of(call)) see(launch->host.start_ns);
    });
    rows.other_calls(kHostCallColumns, [this]<typename Call>(const Call& call, bool) {
      if constexpr (std::is_same_v<Call, AllocRecord>) use_.add(call);
      see(call.host.start_ns);
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    const PerIteration often = per_iteration(input.trace);
    Table torch = torch_rows(input);
    const bool has_torch = !torch.rows.empty();
    std::vector<Table> out{path_rows(input, often, has_torch), kind_rows(often), live_rows(input),
                           time_rows()};
    if (has_torch) out.push_back(std::move(torch));
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

  static std::vector<TableColumn> columns(TableColumn first) {
    return {
        std::move(first),
        {"peak_bytes", "GPU peak", Unit::bytes},
        {"live_bytes", "GPU live", Unit::bytes},
        {"live_at_peak_bytes", "at the peak", Unit::bytes, 58, "its part of the largest use of all together"},
        {"host_peak_bytes", "pinned peak", Unit::bytes, 60},
        {"host_live_bytes", "pinned live", Unit::bytes, 55},
        {"allocations", "allocations", Unit::count},
        {"frees", "frees", Unit::count},
        {"allocated_bytes", "allocated", Unit::bytes, 50},
        {"call_ns", "in calls", Unit::ns, 40},
        {"allocations_per_iteration", "allocs/iteration", Unit::number, 70},
        {"frees_per_iteration", "frees/iteration", Unit::number, 65}};
  }

  template <typename Key>
  std::vector<Cell> row(std::string title, const MemoryTotals& totals, std::uint64_t iterations,
                        const std::map<Key, IterationCalls>& calls, Key key) const {
    const bool gpu = totals.gpu.peak != 0, host = totals.host.peak != 0;
    const auto at = calls.find(key);
    const IterationCalls often = at == calls.end() ? IterationCalls{} : at->second;
    return {text_cell(std::move(title)),
            cell_if(gpu, totals.gpu.peak),
            cell_if(gpu, totals.gpu.now),
            cell_if(gpu, use_.gpu_at_peak(totals)),
            cell_if(host, totals.host.peak),
            cell_if(host, totals.host.now),
            number_cell(totals.allocations),
            number_cell(totals.frees),
            number_cell(totals.bytes),
            number_cell(totals.call_ns),
            ratio_cell(often.allocations, iterations),
            ratio_cell(often.frees, iterations)};
  }

  Table path_rows(const SectionInput& input, const PerIteration& often, bool has_torch) const {
    Table table;
    table.name = "memory";
    table.empty = "No memory was allocated while recording.";
    table.columns = columns({"path", "allocated in"});
    const auto& paths = use_.paths();
    if (paths.empty()) return table;
    const auto all = paths.find(0);
    const std::set<std::uint32_t> same = repeated(input);
    for (const auto& [path, totals] : paths) {
      const bool deep = input.view.depth != 0 && path_depth(input.trace.paths, path) > input.view.depth;
      if (path == 0 || deep || same.count(path) != 0) continue;
      table.add(row(path_title(input.trace, path), totals, often.iterations, often.paths, path));
    }
    sort_rows(table, "host_peak_bytes");
    sort_rows(table, "peak_bytes");
    table.rows.insert(table.rows.begin(), row("(all)", all->second, often.iterations, often.paths, 0U));
    table.remarks = remarks(often, has_torch);
    return without_empty_columns(std::move(table));
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

  std::string remarks(const PerIteration& often, bool has_torch) const {
    std::string out;
    if (often.iterations != 0) {
      out += "iteration: " + printable(iterations_.path) + ", over " +
             counted_text(often.iterations, "iteration", "iterations") + ".\n";
    }
    if (use_.unknown_frees() != 0) {
      out += counted_text(use_.unknown_frees(), "free", "frees") +
             " of memory that was allocated before recording began.\n";
    }
    return out +
           "A path is omitted if one of its children has all of its allocations.\n"
           "Only driver calls count. What PyTorch's caching allocator reuses: " +
           (has_torch ? "table torch_memory.\n" : "run --torch-memory.\n");
  }

  Table kind_rows(const PerIteration& often) const {
    Table table;
    table.name = "memory_kinds";
    table.title = "By kind";
    table.columns = columns({"memory", "kind"});
    for (std::size_t kind = 0; kind < kAllocKinds; ++kind) {
      const MemoryTotals& totals = use_.kinds()[kind];
      if (totals.allocations == 0) continue;
      table.add(row(std::string(kAllocKindNames[kind]), totals, often.iterations, often.kinds,
                    static_cast<AllocKind>(kind)));
    }
    sort_rows(table, "allocated_bytes");
    return without_empty_columns(std::move(table));
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
                 cell_if(host, slice.host_peak)});
    }
    return without_empty_columns(std::move(table));
  }

  /// Of paths that --range selects, as far as they have a range in the trace.
  static Table torch_rows(const SectionInput& input) {
    Table table;
    table.name = "torch_memory";
    table.title = "PyTorch's caching allocator, by module";
    table.columns = {{"path", "module"},
                     {"calls", "calls", Unit::count},
                     {"live_at_peak_bytes", "at the peak", Unit::bytes},
                     {"growth_bytes_per_call", "growth/call", Unit::bytes},
                     {"kept_bytes", "kept", Unit::bytes},
                     {"peak_bytes", "most in use", Unit::bytes, 60},
                     {"allocations", "allocations", Unit::count, 50},
                     {"allocated_bytes", "allocated", Unit::bytes, 45},
                     {"device", "GPU", Unit::count, 40}};
    const std::vector<TorchGpuMemory> gpus = read_torch_memory(input.trace.files.folder);
    if (gpus.empty()) return table;
    std::set<std::string> hidden;
    for (const auto& [id, path] : input.trace.paths) {
      if (!input.trace.shows(id)) hidden.insert(input.trace.path_text(id));
    }
    for (const TorchGpuMemory& gpu : gpus) {
      for (const TorchModuleMemory& module : gpu.modules) {
        const auto levels = 1 + std::count(module.path.begin(), module.path.end(), '/');
        const bool deep = input.view.depth != 0 && levels > input.view.depth;
        if (module.allocations == 0 || deep || hidden.count(module.path) != 0) continue;
        const auto growth = module.growth_of_call();
        table.add({text_cell(module.path.empty() ? "(all)" : module.path), number_cell(module.calls),
                   number_cell(module.live_at_peak_bytes), growth ? number_cell(*growth) : Cell(),
                   number_cell(module.kept_bytes), number_cell(module.peak_bytes),
                   number_cell(module.allocations), number_cell(module.allocated_bytes),
                   number_cell(std::uint64_t{gpu.device})});
      }
      if (!gpu.complete)
        table.remarks += "GPU " + std::to_string(gpu.device) +
                         ": only the last 100,000 allocations and frees are known.\n";
    }
    sort_rows(table, "live_at_peak_bytes");
    table.remarks +=
        "at the peak: its part of the largest use of the GPU; growth/call: allocated minus freed, from the "
        "third call\non; kept: not freed at the end; most in use: by the process while it ran. A row "
        "includes "
        "those below it.\n";
    return table;
  }

  MemoryUse use_;
  Iterations iterations_;
  TimeNs first_ns_ = kNoTime, last_ns_ = kNoTime;
};

}  // namespace

const SectionKind kMemorySection{"memory",
                                 "peak and live bytes by path, memory that was never freed",
                                 make_section<MemorySection>,
                                 kHostCallColumns,
                                 false,
                                 true};

}  // namespace rangefinder
