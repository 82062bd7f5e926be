// SPDX-License-Identifier: Apache-2.0
//
// `--section overhead`: overhead of CUDA and CUPTI, time in which the profiler held threads, and the cost of
// recording.
#include <algorithm>
#include <map>
#include <set>

#include "schema/key_names.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

struct Kind {
  DurationHistogram durations;
  std::uint64_t count = 0;
  std::set<std::uint32_t> threads;
};

using Causes = std::map<HoldCause, Kind>;

Table holds(const Causes& causes) {
  Table table;
  table.name = "holds";
  table.title = "Threads held by the profiler";
  table.columns = {{"cause", "cause"},
                   {"count", "count", Unit::count},
                   {"total_ns", "total", Unit::ns},
                   {"mean_ns", "mean", Unit::ns},
                   {"max_ns", "longest", Unit::ns},
                   {"threads", "threads", Unit::count, 30}};
  for (const auto& [cause, of_cause] : causes) {
    const DurationHistogram& durations = of_cause.durations;
    table.add({text_cell(std::string(to_text(cause))), number_cell(durations.count()),
               number_cell(durations.total_ns()), number_cell(durations.mean_ns()),
               number_cell(durations.max_ns()), number_cell(std::uint64_t{of_cause.threads.size()})});
  }
  sort_rows(table, "total_ns");
  return table;
}

Table own_cost(const std::optional<EndRecord>& end) {
  Table table;
  table.name = "own_cost";
  table.title = "Cost of recording";
  table.sortable = false;
  table.empty = "Unknown: the trace has no end line.";
  table.columns = {{"what", "part"},
                   {"count", "count", Unit::count},
                   {"ns", "time", Unit::ns},
                   {"median_ns", "median", Unit::ns},
                   {"p99_ns", "99th percentile", Unit::ns},
                   {"bytes", "bytes", Unit::bytes}};
  if (!end) return table;
  const OwnCost& cost = end->own_cost;
  const bool called = cost.launch_callbacks != 0 && cost.launch_callback_median_ns != 0;
  table.add({"callback of a launch, second half", number_cell(cost.launch_callbacks), Cell(),
             cell_if(called, cost.launch_callback_median_ns), cell_if(called, cost.launch_callback_p99_ns)});
  table.add({"recording thread, CPU time", Cell(), number_cell(cost.drain_cpu_ns)});
  if (cost.conditions_cpu_ns != 0)
    table.add({"thread that reads conditions, CPU time", Cell(), number_cell(cost.conditions_cpu_ns)});
  if (cost.stacks_cpu_ns != 0)
    table.add({"thread that reads host stacks, CPU time", Cell(), number_cell(cost.stacks_cpu_ns)});
  if (cost.drain_longest_ns != 0) {
    table.add({"recording thread, longest away from the threads' events", Cell(),
               number_cell(cost.drain_longest_ns)});
    table.add({"CUPTI, longest to hand back records", Cell(), number_cell(cost.flush_longest_ns)});
  }
  table.add({"trace files", Cell(), Cell(), Cell(), Cell(), number_cell(cost.bytes_written)});
  table.add({"activity buffers at once", number_cell(cost.activity_buffers_peak), Cell(), Cell(), Cell(),
             number_cell(cost.activity_buffers_peak * cost.activity_buffer_bytes)});
  if (cost.exact_ns != 0 || cost.exact_batches != 0) {
    table.add({"threads held up by exact counters, batches", number_cell(cost.exact_batches),
               number_cell(cost.exact_ns)});
  }
  if (cost.held_ns != 0) {
    table.add({"application threads held, taken out of host times", Cell(), number_cell(cost.held_ns)});
  }
  if (cost.launch_lock_ns != 0) {
    table.add({"application threads waiting for another's launch", Cell(), number_cell(cost.launch_lock_ns)});
  }
  if (cost.samples != 0 || cost.sampler_cpu_ns != 0) {
    table.add(
        {"sampling threads, CPU time; samples", number_cell(cost.samples), number_cell(cost.sampler_cpu_ns)});
  }
  return table;
}

class OverheadSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<HoldRecord>([this](const HoldRecord& hold) { add(hold); });
    rows.each<OverheadRecord>(Column::overheads, [this](const OverheadRecord& overhead, bool) {
      Kind& kind = kinds_[std::string(overhead.what)];
      ++kind.count;
      kind.threads.insert(overhead.thread);
      if (overhead.start_ns == kNoTime || overhead.end_ns < overhead.start_ns) return;
      kind.durations.add(duration_ns(overhead.start_ns, overhead.end_ns));
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    Table table;
    table.name = "overhead";
    table.empty = "No overhead record in this trace.";
    table.columns = {{"what", "overhead"},
                     {"count", "count", Unit::count},
                     {"total_ns", "total", Unit::ns},
                     {"mean_ns", "mean", Unit::ns},
                     {"p95_ns", "95th percentile", Unit::ns, 40},
                     {"max_ns", "longest", Unit::ns},
                     {"threads", "threads", Unit::count, 30}};
    std::vector<const std::pair<const std::string, Kind>*> rows;
    for (const auto& entry : kinds_) rows.push_back(&entry);
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      return a->second.durations.total_ns() > b->second.durations.total_ns();
    });
    for (const auto* const entry : rows) {
      const auto& [what, kind] = *entry;
      const bool timed = kind.durations.count() != 0;
      table.add({text_cell(what), number_cell(kind.count), cell_if(timed, kind.durations.total_ns()),
                 ratio_cell(kind.durations.total_ns(), kind.durations.count()),
                 quantile_cell(kind.durations, 0.95), cell_if(timed, kind.durations.max_ns()),
                 number_cell(std::uint64_t{kind.threads.size()})});
    }
    return {table, holds(causes_), own_cost(input.trace.end)};
  }

 private:
  void add(const HoldRecord& hold) {
    Kind& cause = causes_[hold.cause];
    cause.durations.add(duration_ns(hold.start_ns, hold.end_ns));
    cause.threads.insert(hold.thread);
  }

  std::map<std::string, Kind> kinds_;
  Causes causes_;
};

}  // namespace

const SectionKind kOverheadSection{"overhead", "time that CUDA, CUPTI and recording took",
                                   make_section<OverheadSection>, Column::overheads};

}  // namespace rangefinder
