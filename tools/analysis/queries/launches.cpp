// SPDX-License-Identifier: Apache-2.0
//
// `--section launches`: cost of launches, by call and by path.
//
//   host   ──[ cuLaunchKernel ]─────────────────
//   GPU    ─────────────────────────[ kernel ]──
//            ◀──── host_ns ───▶◀ queue ▶
//            ◀── launch to start ──────▶
//
// Launches and records are joined by correlation id, in any order. Unmatched ones are kept. All graph
// launches are kept too: their first node is known only at the end. A record that began before the call
// returned waited 0 ns in the queue. `--depth` folds deeper paths into their parents.
#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kLaunchesSectionColumns =
    Column::work_times | Column::work_correlation | Column::launch_times | Column::launch_thread |
    Column::launch_path | Column::launch_call | Column::launch_correlation;

struct Costs {
  DurationHistogram host, queue, to_start;
  std::uint64_t failed = 0;

  void add(const Costs& other) {
    host.add(other.host);
    queue.add(other.queue);
    to_start.add(other.to_start);
    failed += other.failed;
  }
  /// `held_ns`: time of the call in which the profiler held it.
  void started(TimeNs launch_start, TimeNs launch_end, std::uint64_t held_ns, TimeNs gpu_start) {
    const std::uint64_t to_start_ns = duration_ns(launch_start, gpu_start);
    queue.add(duration_ns(launch_end, gpu_start));
    to_start.add(to_start_ns - std::min(to_start_ns, held_ns));
  }
};

class LaunchesSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    const Holds& holds = rows.names().holds;
    rows.launches(kLaunchesSectionColumns, [&](const auto& call, bool) {
      if (const LaunchRecord* const launch = launch_of(call)) add(*launch, holds);
    });
    rows.work(kLaunchesSectionColumns, [this](const auto& record, bool begins) {
      if (begins && is_timed(record.work)) add(record.work);
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    match_graphs();
    std::map<std::string, Costs> by_api;
    std::map<std::string, Costs> by_path;
    for (const auto& [path, apis] : costs_) {
      const std::uint32_t shown = path_at_depth(input.trace, path, input.view.depth);
      Costs& of_path = by_path[path_title(input.trace, shown)];
      for (const auto& [api, costs] : apis) {
        by_api[api].add(costs);
        of_path.add(costs);
      }
    }
    std::vector<Table> out{table_of(by_api, "launches", {"api", "call"}),
                           table_of(by_path, "launches_by_path", {"path", "path"})};
    out[1].title = out[1].rows.empty() ? "" : "By path";
    out[1].empty.clear();
    return out;
  }

 private:
  struct Launch {
    TimeNs start_ns, end_ns;
    std::uint64_t held_ns;
    Costs* costs;
    TimeNs gpu_start_ns;  // of a graph: the earliest node so far
  };

  Costs& costs_of(const LaunchRecord& launch) {
    auto& apis = costs_[launch.host.path];
    const auto at = apis.find(launch.api);
    return at != apis.end() ? at->second : apis[std::string(launch.api)];
  }

  void add(const LaunchRecord& launch, const Holds& holds) {
    Costs& costs = costs_of(launch);
    costs.host.add(holds.net_ns(launch.host));
    if (launch.result != 0) {
      ++costs.failed;
      return;
    }
    Launch made{launch.host.start_ns, launch.host.end_ns, holds.within(launch.host), &costs, kNoTime};
    const auto work = works_.find(launch.correlation);
    if (work != works_.end()) {
      made.gpu_start_ns = work->second;
      works_.erase(work);
    }
    if (launch.api.starts_with("cuGraphLaunch"))
      graphs_[launch.correlation] = made;
    else if (made.gpu_start_ns != kNoTime)
      costs.started(made.start_ns, made.end_ns, made.held_ns, made.gpu_start_ns);
    else
      launches_[launch.correlation] = made;
  }

  void add(const GpuWork& work) {
    if (const auto graph = graphs_.find(work.correlation); graph != graphs_.end()) {
      keep_earlier(graph->second.gpu_start_ns, work.start_ns);
      return;
    }
    const auto launch = launches_.find(work.correlation);
    if (launch == launches_.end()) {
      keep_earlier(works_.try_emplace(work.correlation, kNoTime).first->second, work.start_ns);
      return;
    }
    const Launch& made = launch->second;
    made.costs->started(made.start_ns, made.end_ns, made.held_ns, work.start_ns);
    launches_.erase(launch);
  }

  static void keep_earlier(TimeNs& earliest, TimeNs start) {
    earliest = earliest == kNoTime ? start : std::min(earliest, start);
  }

  void match_graphs() {
    for (const auto& [correlation, made] : graphs_) {
      if (made.gpu_start_ns != kNoTime)
        made.costs->started(made.start_ns, made.end_ns, made.held_ns, made.gpu_start_ns);
    }
    graphs_.clear();
  }

  static Table table_of(const std::map<std::string, Costs>& rows, std::string name, TableColumn first) {
    Table table;
    table.name = std::move(name);
    table.empty = "No launch in this trace.";
    table.columns = {std::move(first),
                     {"count", "count", Unit::count},
                     {"failed", "failed", Unit::count, 80},
                     {"host_ns", "host time", Unit::ns},
                     {"host_median_ns", "median", Unit::ns},
                     {"host_p95_ns", "95th perc.", Unit::ns, 60},
                     {"host_max_ns", "longest", Unit::ns, 50},
                     {"queue_median_ns", "in queue", Unit::ns},
                     {"queue_p95_ns", "95th perc.", Unit::ns, 45},
                     {"to_start_median_ns", "to start", Unit::ns},
                     {"to_start_p95_ns", "95th perc.", Unit::ns, 40},
                     {"without_record", "without record", Unit::count, 70}};
    for (const auto& [title, costs] : rows) {
      const std::uint64_t missing = costs.host.count() - costs.failed - costs.queue.count();
      table.add({text_cell(title), number_cell(costs.host.count()), cell_if(costs.failed != 0, costs.failed),
                 number_cell(costs.host.total_ns()), quantile_cell(costs.host, 0.5),
                 quantile_cell(costs.host, 0.95), number_cell(costs.host.max_ns()),
                 quantile_cell(costs.queue, 0.5), quantile_cell(costs.queue, 0.95),
                 quantile_cell(costs.to_start, 0.5), quantile_cell(costs.to_start, 0.95),
                 cell_if(missing != 0, missing)});
    }
    drop_empty_columns(table);
    sort_rows(table, "host_ns");
    table.remarks =
        "in queue: from the end of the call to the start on the GPU. to start: from the start of the call.\n"
        "host time is a sum; in queue and to start are medians.\n";
    return table;
  }

  // std::map, because Launch::costs points to its nodes: their addresses must not change.
  std::map<std::uint32_t, std::map<std::string, Costs, std::less<>>> costs_;  // by path and call
  std::unordered_map<std::uint32_t, Launch> launches_, graphs_;               // by correlation
  std::unordered_map<std::uint32_t, TimeNs> works_;  // start of records without a launch so far
};

}  // namespace

const SectionKind kLaunchesSection{"launches", "host cost of launches, and how long they wait for the GPU",
                                   make_section<LaunchesSection>, kLaunchesSectionColumns};

}  // namespace rangefinder
