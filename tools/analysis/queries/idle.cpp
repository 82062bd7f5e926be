// SPDX-License-Identifier: Apache-2.0
//
// `--section idle`: time without a kernel between the first and the last work of a GPU, as in the overview.
// Gaps without any work are by the range that the host was in. Uses the ranges and calls of the thread with
// most launches.
//
//   GPU    [ k ]···········[ k ]        a gap over two ranges counts for both, each with its part
//   host   ─[ loader    ][ model ]──
//
// The part of a gap in which the profiler held the thread is no range's: it has a row of its own. So has the
// time in which only copies ran. Time in which another tool had CUPTI (a `gap` line) is not idle. Keeps the
// data of gap_list.h, host_timeline.h and stack_samples.h, but only the calls during a gap.
//
// Samples of stacks name the functions of the host's own code: those of the same threads that were read in a
// gap, outside of all calls.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/gap_list.h"
#include "tools/analysis/queries/gpu_timeline.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/queries/host_timeline.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kIdleSectionColumns = Column::work_times | Column::work_place | kHostCallColumns |
                                        Column::launch_thread | Column::launch_context | Column::range_times |
                                        Column::range_thread | Column::range_path;

constexpr std::int32_t kFirstCuptiWithHostFunctions = 130'100;

struct Gpu {
  GapList gaps;    // without any work
  GapList copies;  // in which only copies ran
  std::uint64_t span_ns = 0;
  TimeNs seen_until_ns = kNoTime;  // no further gap begins before it
};

struct Part {
  std::uint64_t gaps = 0, ns = 0, longest_ns = 0;
  std::uint64_t of_gap_ns = 0;  // of the current gap
  std::array<std::uint64_t, kHostCalls> calls{};

  void add(std::uint64_t one_ns) {
    ++gaps;
    ns += one_ns;
    longest_ns = std::max(longest_ns, one_ns);
  }
};

/// Samples of the host's own code in gaps.
struct OwnCodeStacks {
  std::map<std::uint32_t, StackTimes> by_path;  // as in the table
  StackTimes all;
};

class IdleSection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.lines<GapRecord>([this](const GapRecord& gap) { timeline_.add(gap); });
    rows.lines<HoldRecord>([this](const HoldRecord& hold) { hosts_[hold.thread].add_hold(hold); });
    rows.lines<HostFunctionRecord>([this](const HostFunctionRecord& function) {
      ++functions_;
      if (function.wait.start_ns != kNoTime)
        function_ns_ += elapsed_ns(function.wait.start_ns, function.wait.end_ns);
    });
    stacks_.add(rows);
    rows.work(kIdleSectionColumns,
              [this](const auto& record, bool) { timeline_.add(record.work, is_kernel(record)); });
    rows.ranges(kIdleSectionColumns, [this](const RangeRecord& range, bool) {
      // Start/end ranges do not belong to the path of a thread.
      if (range.name == 0) host(range.thread).add_range(range.start_ns, range.end_ns, range.path);
    });
    rows.calls(kIdleSectionColumns, [this](const auto& call) {
      const HostWork& work = host_of(call);
      host(work.thread).add_call(work.start_ns, work.end_ns, host_call_kind(call));
      ++calls_;
      if constexpr (is_launch_record<decltype(call)>) count(*launch_of(call));
    });
    if (calls_ > kCallsBetweenDrops) drop_calls(rows.names());
  }

  [[nodiscard]] bool reads_all_ranges() const override { return true; }

  void finish() override {
    timeline_.finish();
    stacks_.finish();
    for (auto& [thread, host] : hosts_) host.finish();
  }

  std::vector<Table> tables(const SectionInput& input) override {
    const OwnCodeStacks code = own_code(input);
    std::vector<Table> out{path_rows(input, code), size_rows()};
    if (!input.trace.stacks.empty()) out.push_back(function_rows(input, code));
    return out;
  }

 private:
  static constexpr std::uint64_t kCallsBetweenDrops = std::uint64_t{1} << 18;

  /// Drops calls during which no GPU had a gap. Most calls of a host that runs ahead are of this kind.
  void drop_calls(const TraceNames& trace) {
    calls_ = 0;
    std::set<std::uint32_t> launched_into;
    for (const auto& [id, context] : trace.contexts) launched_into.insert(context.gpu);
    for (const auto& [key, launches] : launches_) launched_into.insert(gpu_of(trace, key.first));
    TimeNs until = kMaxNs;
    for (const std::uint32_t id : launched_into) {
      const auto gpu = gpus_.find(id);
      if (gpu == gpus_.end()) return;
      until = std::min(until, gpu->second.seen_until_ns);
    }
    for (auto& [thread, host] : hosts_) {
      std::vector<GapSearch> searches;
      for (const std::uint32_t id : launched_into) searches.emplace_back(gpus_[id].gaps);
      host.drop_calls(until, [&searches](TimeNs start, TimeNs end) {
        return std::any_of(searches.begin(), searches.end(),
                           [=](GapSearch& search) { return search.overlaps(start, end); });
      });
    }
  }

  /// Most calls are of the thread of the call before.
  HostTimeline& host(std::uint32_t thread) {
    if (host_ == nullptr || thread != thread_) {
      thread_ = thread;
      host_ = &hosts_[thread];
    }
    return *host_;
  }
  void count(const LaunchRecord& launch) {
    const std::pair key{launch.context, launch.host.thread};
    if (launches_of_key_ == nullptr || key != key_) launches_of_key_ = &launches_[key_ = key];
    ++*launches_of_key_;
  }

  void add(const GpuSpan& span) {
    if (gpu_ == nullptr || span.gpu != gpu_id_) gpu_ = &gpus_[gpu_id_ = span.gpu];
    Gpu& gpu = *gpu_;
    gpu.span_ns += span.ns();
    gpu.seen_until_ns = span.to_ns;
    if (span.kernels == 0) (span.idle() ? gpu.gaps : gpu.copies).add(span.from_ns, span.to_ns);
  }

  static std::uint32_t gpu_of(const TraceNames& trace, std::uint32_t context) {
    const auto at = trace.contexts.find(context);
    return at == trace.contexts.end() ? 0 : at->second.gpu;
  }

  /// The thread with most launches into a GPU's contexts; 0: there is none.
  std::uint32_t main_thread(const TraceNames& trace, std::uint32_t gpu) const {
    std::map<std::uint32_t, std::uint64_t> threads;
    for (const auto& [key, launches] : launches_) {
      if (gpu_of(trace, key.first) == gpu) threads[key.second] += launches;
    }
    const auto most = std::max_element(threads.begin(), threads.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == threads.end() ? 0 : most->first;
  }

  std::map<std::uint32_t, Part> parts(const SectionInput& input, std::uint32_t id, const Gpu& gpu) const {
    static const HostTimeline kNoHost;
    const auto thread = hosts_.find(main_thread(input.trace, id));
    const HostTimeline& host = thread == hosts_.end() ? kNoHost : thread->second;
    std::unordered_map<std::uint32_t, Part> out;
    std::vector<Part*> of_gap;  // one part per path, even if the gap enters its range twice
    const auto take = [&](const HostPiece& piece) {
      const bool held = piece.path == kHeldPath;
      Part& part = out[held ? kHeldPath : path_at_depth(input.trace, piece.path, input.view.depth)];
      if (part.of_gap_ns == 0) of_gap.push_back(&part);
      part.of_gap_ns += piece.ns();
      if (held) return;
      for (std::size_t i = 0; i < kHostCalls; ++i) part.calls[i] += piece.calls[i];
    };
    HostTimeline::Cursor cursor;
    gpu.gaps.each([&](const Gap& gap) {
      host.visit(gap.from_ns, gap.to_ns, take, cursor);
      for (Part* const part : of_gap) part->add(std::exchange(part->of_gap_ns, 0));
      of_gap.clear();
    });
    return {out.begin(), out.end()};
  }

  static constexpr std::size_t kHostColumns = 6;  // the first of "waiting" to "own code"

  /// Without what the host did.
  void add_row(Table& table, std::uint32_t gpu, std::string title, const Part& part, std::uint64_t idle_ns,
               std::uint64_t span_ns) const {
    std::vector<Cell> cells{text_cell(std::move(title)),  number_cell(part.gaps),
                            number_cell(part.ns),         ratio_cell(part.ns, idle_ns),
                            ratio_cell(part.ns, span_ns), number_cell(part.longest_ns)};
    cells.resize(table.columns.size());
    if (gpus_.size() > 1) cells.back() = number_cell(std::uint64_t{gpu});
    table.add(std::move(cells));
  }

  Table path_rows(const SectionInput& input, const OwnCodeStacks& code) const {
    Table table;
    table.name = "idle";
    table.empty = "No gap between the GPU work of this trace.";
    table.columns = {{"path", "host was in"},
                     {"gaps", "gaps", Unit::count},
                     {"idle_ns", "GPU idle", Unit::ns},
                     {"idle_share", "of idle", Unit::share, 80},
                     {"span_share", "of span", Unit::share},
                     {"longest_ns", "longest", Unit::ns, 70},
                     {"in_sync_ns", "waiting", Unit::ns},
                     {"in_launch_ns", "launching", Unit::ns},
                     {"in_memory_ns", "allocating", Unit::ns, 60},
                     {"own_code_ns", "own code", Unit::ns}};
    if (!input.trace.stacks.empty())
      table.columns.push_back({"own_code_in", "own code is in", Unit::text, 75});
    if (gpus_.size() > 1) table.columns.push_back({"gpu", "GPU", Unit::count});
    for (const auto& [id, gpu] : gpus_) {
      Part copies;
      gpu.copies.each([&copies](const Gap& gap) { copies.add(gap.ns()); });
      std::uint64_t idle_ns = copies.ns;
      gpu.gaps.each([&idle_ns](const Gap& gap) { idle_ns += gap.ns(); });
      if (copies.ns != 0 && input.trace.shows(0))
        add_row(table, id, "(only copies ran)", copies, idle_ns, gpu.span_ns);
      for (const auto& [path, part] : parts(input, id, gpu)) {
        const auto& [launch, sync, memory, other] = part.calls;
        const bool held = path == kHeldPath;
        if (!input.trace.shows(held ? 0 : path)) continue;
        add_row(table, id, held ? "(held by the profiler)" : path_title(input.trace, path), part, idle_ns,
                gpu.span_ns);
        if (held) continue;
        std::vector<Cell>& row = table.rows.back();
        std::size_t column = kHostColumns;
        for (const std::uint64_t ns : {sync, launch, memory, part.ns - launch - sync - memory - other})
          row[column++] = number_cell(ns);
        const auto stacks = code.by_path.find(path);
        if (stacks == code.by_path.end()) continue;
        if (const auto main = main_function(input.trace.stacks, stacks->second))
          row[column] =
              text_cell(main->function.text() + " (" + percent_text(main->share(main->function)) + ")");
      }
      table.remarks += "GPU " + std::to_string(id) + ": idle, that is without a kernel, " +
                       duration_text(idle_ns) + " of " + duration_text(gpu.span_ns) + ".\n";
    }
    sort_rows(table, "idle_ns");
    if (const auto main = main_function(input.trace.stacks, code.all))
      table.remarks += "Own code: " + main->text() + ".\n";
    table.remarks +=
        "The columns describe the thread with most launches. own code: time outside all recorded driver "
        "calls.\n" +
        stream_functions(input.trace.header);
    return table;
  }

  /// Of the threads with most launches: the host's own code while the GPU was without any work.
  OwnCodeStacks own_code(const SectionInput& input) const {
    OwnCodeStacks out;
    std::map<std::uint32_t, std::vector<GapSearch>> threads;  // a GPU or more each
    for (const auto& [id, gpu] : gpus_) threads[main_thread(input.trace, id)].emplace_back(gpu.gaps);
    for (auto& [thread, searches] : threads) {
      const auto host = hosts_.find(thread);
      if (host == hosts_.end()) continue;
      HostTimeline::Cursor cursor;
      stacks_.each(thread, INT64_MIN, kMaxNs, [&](const StackMoment& moment) {
        const TimeNs end_ns = moment.at_ns + 1;
        bool idle = false;
        for (GapSearch& search : searches) idle = search.overlaps(moment.at_ns, end_ns) || idle;
        if (!idle) return;
        const HostPiece piece = host->second.at(moment.at_ns, cursor);
        if (piece.path == kHeldPath || piece.in_call() || !input.trace.shows(piece.path)) return;
        out.all.add(moment);
        out.by_path[path_at_depth(input.trace, piece.path, input.view.depth)].add(moment);
      });
    }
    return out;
  }

  static Table function_rows(const SectionInput& input, const OwnCodeStacks& code) {
    Table table = function_table("idle_functions", input.trace.stacks, code.all);
    table.title = "Own code of the host while the GPU was without any work, by function";
    return table;
  }

  std::string stream_functions(const Header& header) const {
    if (header.cupti_version > 0 && header.cupti_version < kFirstCuptiWithHostFunctions) {
      return "Functions that streams wait for (cudaLaunchHostFunc, host nodes of graphs): recorded with "
             "CUPTI "
             "13.1\nand later. Here their time is idle without that cause.\n";
    }
    if (functions_ == 0) return {};
    return "Functions that streams wait for (cudaLaunchHostFunc, host nodes of graphs): " +
           std::to_string(functions_) + ", " + duration_text(function_ns_) + " together.\n";
  }

  Table size_rows() const {
    struct Size {
      const char* title;
      std::uint64_t below_ns, gaps, ns;
    };
    std::array<Size, 5> sizes{{{"under 2 us", 2'000, 0, 0},
                               {"2 to 20 us", 20'000, 0, 0},
                               {"20 to 200 us", 200'000, 0, 0},
                               {"200 us to 2 ms", 2'000'000, 0, 0},
                               {"2 ms and more", UINT64_MAX, 0, 0}}};
    std::uint64_t idle_ns = 0;
    for (const auto& [id, gpu] : gpus_) {
      gpu.gaps.each([&](const Gap& gap) {
        Size& size = *std::find_if(sizes.begin(), sizes.end() - 1,
                                   [&gap](const Size& other) { return gap.ns() < other.below_ns; });
        ++size.gaps;
        size.ns += gap.ns();
        idle_ns += gap.ns();
      });
    }
    Table table;
    table.name = "idle_sizes";
    table.title = "Without any work, by length of the gap";
    table.sortable = false;
    table.columns = {{"length", "gap length"},
                     {"gaps", "gaps", Unit::count},
                     {"idle_ns", "GPU idle", Unit::ns},
                     {"idle_share", "of idle", Unit::share}};
    if (idle_ns == 0) return table;
    for (const Size& size : sizes) {
      table.add({size.title, number_cell(size.gaps), number_cell(size.ns), ratio_cell(size.ns, idle_ns)});
    }
    return table;
  }

  std::map<std::uint32_t, HostTimeline> hosts_;                                // by thread
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> launches_;  // by context and thread
  std::map<std::uint32_t, Gpu> gpus_;
  StackSamples stacks_;
  std::uint64_t functions_ = 0, function_ns_ = 0;  // that streams waited for
  std::uint64_t calls_ = 0;                        // since the last drop_calls()
  std::uint32_t gpu_id_ = 0;
  Gpu* gpu_ = nullptr;            // of the latest span
  std::uint32_t thread_ = 0;      // of the latest call or range
  HostTimeline* host_ = nullptr;  // its element of hosts_
  std::pair<std::uint32_t, std::uint32_t> key_;
  std::uint64_t* launches_of_key_ = nullptr;  // element of launches_
  GpuTimeline timeline_{[this](const GpuSpan& span) { add(span); }};
};

}  // namespace

const SectionKind kIdleSection{"idle", "idle time of each GPU, by the host's range at the time",
                               make_section<IdleSection>, kIdleSectionColumns};

}  // namespace rangefinder
