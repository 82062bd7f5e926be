// SPDX-License-Identifier: Apache-2.0
//
// `--section graphs`: executable graphs, the work of their launches, and stream captures.
//
//   launch 1  |[k][k] [copy]   |       gap      launch 2  |[k][k] [copy]   |
//              ◀── per launch ─▶◀──────────────▶
//
// A launch of a graph is all work with one correlation id. Keeps two numbers per launch. filled: share of the
// time from the first node's start to the last node's end in which some node ran. A capture lasts from begin
// to end on one stream.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "profiler/attribution/busy_times.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kGraphsSectionColumns = Column::work_times | Column::work_correlation | Column::work_graph |
                                          Column::captures | Column::launch_times | Column::launch_thread |
                                          Column::launch_call | Column::launch_correlation;

struct Instance {
  TimeNs first_ns = kNoTime, last_ns = kNoTime;
};

struct Graph {
  std::unordered_map<std::uint32_t, Instance> launches;  // by correlation
  std::unordered_set<std::uint64_t> nodes;
  std::uint64_t works = 0, kernels = 0, captured = 0;
  std::uint64_t gpu_ns = 0;
  std::uint32_t number = 0;  // among the graphs of the trace

  void add(const GpuWork& work, bool is_kernel) {
    ++works;
    if (is_kernel) ++kernels;
    if (work.captured) ++captured;
    if (work.graph_node != 0) nodes.insert(work.graph_node);  // 0: the whole launch
    Instance& launch = launches[work.correlation];
    if (!is_timed(work)) return;
    gpu_ns += duration_ns(work.start_ns, work.end_ns);
    launch.first_ns = launch.first_ns == kNoTime ? work.start_ns : std::min(launch.first_ns, work.start_ns);
    launch.last_ns = launch.last_ns == kNoTime ? work.end_ns : std::max(launch.last_ns, work.end_ns);
  }
};

/// Over all launches of a graph.
struct LaunchTimes {
  DurationHistogram spans, gaps;
};

LaunchTimes launch_times(const Graph& graph) {
  std::vector<Instance> in_order;
  for (const auto& [correlation, launch] : graph.launches) {
    if (launch.first_ns != kNoTime) in_order.push_back(launch);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const Instance& a, const Instance& b) { return a.first_ns < b.first_ns; });
  LaunchTimes out;
  TimeNs until = kNoTime;
  for (const Instance& launch : in_order) {
    out.spans.add(duration_ns(launch.first_ns, launch.last_ns));
    if (until != kNoTime) out.gaps.add(duration_ns(until, launch.first_ns));
    until = std::max(until, launch.last_ns);
  }
  return out;
}

struct Captures {
  std::uint64_t begins = 0, ends = 0, invalidated = 0, failed = 0;
  DurationHistogram durations;
};

class GraphsSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.work(kGraphsSectionColumns, [this](const auto& record, bool begins) {
      const GpuWork& work = record.work;
      if (!begins || work.graph == 0) return;
      const auto [at, first] = graphs_.try_emplace(work.graph);
      if (first) at->second.number = static_cast<std::uint32_t>(graphs_.size() - 1);
      at->second.add(work, is_kernel(record));
      if (is_timed(work)) busy_.add(at->second.number, work.start_ns, work.end_ns);
    });
    rows.each<CaptureRecord>(kGraphsSectionColumns, [this](const CaptureRecord& step, bool) { add(step); });
    rows.launches(kGraphsSectionColumns, [&](const auto& record, bool) {
      const LaunchRecord* const launch = launch_of(record);
      if (launch == nullptr || !launch->api.starts_with("cuGraphLaunch")) return;
      host_ns_[launch->correlation] = rows.names().holds.net_ns(launch->host);
    });
  }

  std::vector<Table> tables(const SectionInput& input) override {
    return {graph_rows(), capture_rows(input.trace)};
  }

 private:
  void add(const CaptureRecord& step) {
    if (step.step == CaptureStep::broken_by) return;  // `--check` names these calls
    Captures& captures = captures_[step.host.path];
    if (step.result != 0) ++captures.failed;
    TimeNs& begun = begun_.try_emplace({step.context, step.stream}, kNoTime).first->second;
    switch (step.step) {
      case CaptureStep::begin:
        ++captures.begins;
        begun = step.result == 0 ? step.host.start_ns : kNoTime;
        break;
      case CaptureStep::invalidate:
        ++captures.invalidated;
        break;
      case CaptureStep::end:
        ++captures.ends;
        if (begun != kNoTime) captures.durations.add(duration_ns(begun, step.host.end_ns));
        begun = kNoTime;
        break;
      case CaptureStep::broken_by:
        break;
    }
  }

  std::vector<Cell> row(std::uint32_t id, const Graph& graph, std::uint64_t busy_ns) const {
    const LaunchTimes times = launch_times(graph);
    DurationHistogram host;
    for (const auto& [correlation, launch] : graph.launches) {
      if (const auto at = host_ns_.find(correlation); at != host_ns_.end()) host.add(at->second);
    }
    const std::uint64_t launches = graph.launches.size();
    return {text_cell(std::to_string(id)),
            number_cell(launches),
            number_cell(std::uint64_t{graph.nodes.size()}),
            ratio_cell(graph.kernels, launches),
            number_cell(graph.gpu_ns),
            ratio_cell(graph.gpu_ns, launches),
            quantile_cell(times.spans, 0.5),
            ratio_cell(busy_ns, times.spans.total_ns()),
            times.gaps.count() == 0 ? Cell() : number_cell(times.gaps.mean_ns()),
            host.count() == 0 ? Cell() : number_cell(host.mean_ns()),
            ratio_cell(graph.captured, graph.works)};
  }

  Table graph_rows() const {
    Table table;
    table.name = "graphs";
    table.empty = "No graph was launched in this trace.";
    table.columns = {{"graph", "graph"},
                     {"launches", "launches", Unit::count},
                     {"nodes", "nodes", Unit::count},
                     {"kernels_per_launch", "kernels/launch", Unit::number, 70},
                     {"gpu_ns", "GPU time", Unit::ns},
                     {"gpu_ns_per_launch", "per launch", Unit::ns},
                     {"span_median_ns", "first to last node", Unit::ns, 60},
                     {"filled_share", "filled", Unit::share, 65},
                     {"mean_gap_ns", "gap between", Unit::ns},
                     {"host_mean_ns", "launch call", Unit::ns, 80},
                     {"captured_share", "nodes with path", Unit::share, 50}};
    const std::vector<std::uint64_t> busy_ns = busy_.lengths(graphs_.size());
    for (const auto& [id, graph] : graphs_) table.add(row(id, graph, busy_ns[graph.number]));
    drop_empty_columns(table);
    sort_rows(table, "gpu_ns");
    table.remarks =
        "gap between: mean time from the end of one launch to the start of the next; 0 if they overlap.\n"
        "nodes with path: nodes that have the path of the capture, not of the launch.\n";
    return table;
  }

  Table capture_rows(const TraceTotals& trace) const {
    Table table;
    table.name = "captures";
    table.title = "Captures";
    table.empty = "No stream was captured while recording.";
    table.columns = {{"path", "where"},
                     {"begins", "begun", Unit::count},
                     {"ends", "ended", Unit::count},
                     {"invalidated", "invalidated", Unit::count},
                     {"failed", "failed calls", Unit::count},
                     {"total_ns", "total", Unit::ns},
                     {"median_ns", "median", Unit::ns}};
    for (const auto& [path, captures] : captures_) {
      table.add({text_cell(path_title(trace, path)), number_cell(captures.begins), number_cell(captures.ends),
                 number_cell(captures.invalidated), number_cell(captures.failed),
                 cell_if(captures.durations.count() != 0, captures.durations.total_ns()),
                 quantile_cell(captures.durations, 0.5)});
    }
    sort_rows(table, "total_ns");
    return table;
  }

  std::map<std::uint32_t, Graph> graphs_;
  BusyTimes busy_;
  std::map<std::uint32_t, Captures> captures_;                       // by path
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimeNs> begun_;  // by context and stream
  std::unordered_map<std::uint32_t, std::uint64_t> host_ns_;         // of graph launches, by correlation
};

}  // namespace

const SectionKind kGraphsSection{"graphs", "executable graphs and captures", make_section<GraphsSection>,
                                 kGraphsSectionColumns};

}  // namespace rangefinder
