// SPDX-License-Identifier: Apache-2.0
//
// `--section stacks`: functions of the host by time, from samples of the call stacks of its threads.
//
//   total      samples with the function anywhere in the stack, each once
//   self       samples with it innermost
//   GPU busy   samples during a kernel on any GPU; GPU idle: without one, between the first and the last work
//
// A second table, for programs, has the stacks as a tree with the time of each: a flame graph. Times are
// numbers of samples times their interval; shares are of the samples of a thread. Keeps the data of
// stack_samples.h, the ranges (host_timeline.h) and the times with a kernel (gap_list.h).
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/gpu_timeline.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/queries/host_timeline.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/queries/stack_places.h"

namespace rangefinder {
namespace {

constexpr Columns kStacksSectionColumns =
    Column::work_times | Column::work_place | Column::range_times | Column::range_thread | Column::range_path;
constexpr std::uint64_t kShownFunctions = 30;  // in text, without --top

/// Time of samples.
struct SampledTime {
  std::uint64_t samples = 0, ns = 0, idle_ns = 0, busy_ns = 0;

  void operator+=(const SampledTime& other) {
    samples += other.samples;
    ns += other.ns;
    idle_ns += other.idle_ns;
    busy_ns += other.busy_ns;
  }
};

struct FunctionRow {
  SampledTime total, self;
  std::map<std::uint32_t, std::uint64_t> lines_ns, paths_ns;  // of the total
};

struct GpuBusy {
  GapList kernels;  // the times with a kernel
  TimeNs first_ns = kMaxNs, last_ns = INT64_MIN;
};

std::uint32_t key_with_most(const std::map<std::uint32_t, std::uint64_t>& ns) {
  const auto most = std::max_element(ns.begin(), ns.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == ns.end() ? 0 : most->first;
}

class StacksSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<GapRecord>([this](const GapRecord& gap) { timeline_.add(gap); });
    samples_.add(rows);
    rows.work(kStacksSectionColumns, [this](const auto& record, bool) {
      timeline_.add(record.work, is_kernel(record) || is_graph(record));
    });
    rows.ranges(kStacksSectionColumns, [this](const RangeRecord& range, bool) {
      // Start/end ranges do not belong to the path of a thread.
      if (range.name == 0) hosts_[range.thread].add_range(range.start_ns, range.end_ns, range.path);
    });
  }

  [[nodiscard]] bool reads_all_ranges() const override { return true; }

  void finish() override {
    timeline_.finish();
    samples_.finish();
    for (auto& [thread, host] : hosts_) host.finish();
  }

  std::vector<Table> tables(const SectionInput& input) override {
    std::map<std::uint32_t, Sums> threads;
    for (const auto& [thread, moments] : samples_.threads())
      threads[thread] = sums_of(input, thread, moments);
    std::erase_if(threads, [](const auto& thread) { return thread.second.all.samples < kMinStackSamples; });
    return {function_rows(input, threads), tree_rows(input.trace, threads)};
  }

  std::string text(const SectionInput& input, const TextStyle& style) override {
    SectionView view = input.view;
    if (view.top == 0) view.top = kShownFunctions;
    const SectionInput shown{input.trace, input.values, view, input.counted};
    std::vector<Table> all = tables(shown);
    const std::size_t functions = all.front().rows.size();
    std::string out = render_tables(std::move(all), view, style);
    if (functions > view.top)
      out += counted_text(functions - view.top, "more function is", "more functions are") +
             " not shown: --top N, --json.\n";
    return out;
  }

 private:
  using PathStack = std::pair<std::uint32_t, std::uint32_t>;  // path, stack
  struct Sums {
    std::map<PathStack, SampledTime> stacks;
    SampledTime all;
  };

  void add(const GpuSpan& span) {
    GpuBusy& gpu = gpus_[span.gpu];
    gpu.first_ns = std::min(gpu.first_ns, span.from_ns);
    gpu.last_ns = std::max(gpu.last_ns, span.to_ns);
    if (span.kernels != 0) gpu.kernels.add(span.from_ns, span.to_ns);
  }

  Sums sums_of(const SectionInput& input, std::uint32_t thread,
               const std::vector<StackMoment>& moments) const {
    static const HostTimeline kNoRanges;
    const auto of_thread = hosts_.find(thread);
    const HostTimeline& host = of_thread == hosts_.end() ? kNoRanges : of_thread->second;
    HostTimeline::Cursor cursor;
    std::vector<GapSearch> kernels;
    TimeNs first_ns = kMaxNs, last_ns = INT64_MIN;
    for (const auto& [id, gpu] : gpus_) {
      kernels.emplace_back(gpu.kernels);
      first_ns = std::min(first_ns, gpu.first_ns);
      last_ns = std::max(last_ns, gpu.last_ns);
    }
    Sums out;
    for (const StackMoment& moment : moments) {
      const std::uint32_t path = host.at(moment.at_ns, cursor).path;
      if (!input.trace.shows(path)) continue;
      bool busy = false;
      for (GapSearch& search : kernels) busy = search.overlaps(moment.at_ns, moment.at_ns + 1) || busy;
      const bool unknown = input.trace.holds.gap_ns(moment.at_ns, moment.at_ns + 1) != 0;
      const bool idle = !busy && !unknown && moment.at_ns >= first_ns && moment.at_ns < last_ns;
      const std::uint64_t ns = moment.interval_ns;
      const SampledTime time{1, ns, idle ? ns : 0, busy ? ns : 0};
      out.stacks[{path_at_depth(input.trace, path, input.view.depth), moment.stack}] += time;
      out.all += time;
    }
    return out;
  }

  using FunctionKey = std::pair<std::string, std::string>;  // function, file

  static std::map<FunctionKey, FunctionRow> functions_of(const StackNames& names, const Sums& sums) {
    std::map<FunctionKey, FunctionRow> out;
    std::unordered_map<std::uint32_t, FunctionRow*> of_frame;
    for (const auto& [place, time] : sums.stacks) {
      std::set<const FunctionRow*> seen;  // a function that calls itself counts once
      names.each_stack(place.second,
                       [&, path = place.first, &sampled = time](std::uint32_t, std::uint32_t id) {
                         FunctionRow*& row = of_frame[id];
                         const FrameRecord& frame = names.frame(id);
                         if (row == nullptr) row = &out[{frame.function, frame.file}];
                         if (seen.empty()) row->self += sampled;
                         if (!seen.insert(row).second) return;
                         row->total += sampled;
                         row->lines_ns[frame.line] += sampled.ns;
                         row->paths_ns[path] += sampled.ns;
                       });
    }
    return out;
  }

  static std::vector<TableColumn> columns() {
    return {{"function", "function"},
            {"source", "line", Unit::text, kAlwaysShown, {}, kForPeople},
            {"file", "file", Unit::text, kAlwaysShown, {}, kForPrograms},
            {"line", "line", Unit::count, kAlwaysShown, {}, kForPrograms},
            {"self_ns", "self", Unit::ns, kAlwaysShown, "in its own lines"},
            {"self_share", "of thread", Unit::share, 70},
            {"total_ns", "total", Unit::ns, kAlwaysShown, "with what it calls"},
            {"total_share", "of thread", Unit::share},
            {"idle_ns", "GPU idle", Unit::ns, 80, "of the total: no kernel ran"},
            {"busy_ns", "GPU busy", Unit::ns, 60, "of the total: a kernel ran"},
            {"self_idle_ns", "self, GPU idle", Unit::ns, 50},
            {"samples", "samples", Unit::count, 40},
            {"module", "module", Unit::text, 65, "with most of the total"},
            {"thread", "thread"}};
  }

  Table function_rows(const SectionInput& input, const std::map<std::uint32_t, Sums>& threads) const {
    Table table;
    table.name = "stacks";
    table.empty = samples_.empty()
                      ? "No stacks of host threads in this trace: record with --stacks on (Python)."
                      : "Too few samples of stacks to name functions.";
    table.columns = columns();
    SampledTime all;
    for (const auto& [thread, sums] : threads) {
      all += sums.all;
      for (const auto& [key, row] : functions_of(input.trace.stacks, sums)) {
        const FrameRecord shown{0, key.first, key.second, key_with_most(row.lines_ns)};
        table.add({text_cell(shown.function), known(frame_source(shown)), known(shown.file),
                   cell_if(shown.line != 0, shown.line), number_cell(row.self.ns),
                   ratio_cell(row.self.ns, sums.all.ns), number_cell(row.total.ns),
                   ratio_cell(row.total.ns, sums.all.ns), number_cell(row.total.idle_ns),
                   number_cell(row.total.busy_ns), number_cell(row.self.idle_ns),
                   number_cell(row.total.samples),
                   text_cell(path_title(input.trace, key_with_most(row.paths_ns))),
                   text_cell(thread_title(input.trace, thread))});
      }
    }
    sort_rows(table, "total_ns");
    sort_rows(table, "self_ns");
    if (threads.size() == 1) table.columns.back().in = kForPrograms;
    if (all.samples == 0) return table;
    table.remarks = counted_text(all.samples, "sample", "samples") + " of " +
                    counted_text(threads.size(), "thread", "threads") + ", " + duration_text(all.ns) + ": " +
                    duration_text(all.idle_ns) + " while the GPU was idle, " + duration_text(all.busy_ns) +
                    " while it was busy.\n";
    return table;
  }

  static Table tree_rows(const TraceTotals& trace, const std::map<std::uint32_t, Sums>& threads) {
    struct Node {
      std::uint32_t caller = 0, frame = 0;
      SampledTime self, total;
    };
    std::map<std::uint32_t, Node> nodes;
    for (const auto& [thread, sums] : threads) {
      for (const auto& [place, time] : sums.stacks) {
        Node* inner = nullptr;
        trace.stacks.each_stack(place.second, [&, &sampled = time](std::uint32_t stack, std::uint32_t frame) {
          Node& node = nodes[stack];
          node.frame = frame;
          node.total += sampled;
          if (inner == nullptr) node.self += sampled;
          if (inner != nullptr) inner->caller = stack;
          inner = &node;
        });
      }
    }
    Table table;
    table.name = "stacks_tree";
    table.in = kOnlyJson;
    table.sortable = false;
    table.arranged = true;  // a tree has all its rows
    table.columns = {{"id", "id", Unit::count},          {"caller", "caller", Unit::count},
                     {"function", "function"},           {"file", "file"},
                     {"line", "line", Unit::count},      {"self_ns", "self", Unit::ns},
                     {"total_ns", "total", Unit::ns},    {"idle_ns", "self, GPU idle", Unit::ns},
                     {"samples", "samples", Unit::count}};
    for (const auto& [id, node] : nodes) {
      const FrameRecord& frame = trace.stacks.frame(node.frame);
      table.add({number_cell(std::uint64_t{id}), number_cell(std::uint64_t{node.caller}),
                 text_cell(frame.function), known(frame.file), cell_if(frame.line != 0, frame.line),
                 number_cell(node.self.ns), number_cell(node.total.ns), number_cell(node.self.idle_ns),
                 number_cell(node.self.samples)});
    }
    return table;
  }

  static Cell known(const std::string& text) { return text.empty() ? Cell() : text_cell(text); }

  StackSamples samples_;
  std::unordered_map<std::uint32_t, HostTimeline> hosts_;  // by thread
  std::map<std::uint32_t, GpuBusy> gpus_;
  GpuTimeline timeline_{[this](const GpuSpan& span) { add(span); }};
};

}  // namespace

const SectionKind kStacksSection{"stacks", "functions of the host, from samples of its call stacks",
                                 make_section<StacksSection>, kStacksSectionColumns};

}  // namespace rangefinder
