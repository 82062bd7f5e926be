// SPDX-License-Identifier: Apache-2.0
//
// The rows of a chunk that are selected.
//
//   rows.work(kColumns, [&](const auto& record, bool begins) { … });
//
// `begins` is false for what lies in the window of a record that began before it: its time counts, the record
// does not. Excludes rows of paths that --range does not select, unless the query reads all ranges. One
// thread.
#pragma once

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "tools/analysis/model/chunk.h"
#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {

class SelectedRows {
 public:
  /// All must outlive this. `names`: those up to this chunk.
  SelectedRows(const Chunk& chunk, const TraceNames& names, Selection& selection, bool all_ranges)
      : chunk_(chunk), names_(names), selection_(selection), all_ranges_(all_ranges) {}

  [[nodiscard]] const TraceNames& names() const noexcept { return names_; }
  /// Those of the paths that --range selects.
  [[nodiscard]] SelectedRows in_range() const { return {chunk_, names_, selection_, false}; }
  /// No work of later chunks starts before this (Chunk::later_work_ns).
  [[nodiscard]] TimeNs later_work_ns() const noexcept { return chunk_.later_work_ns; }
  /// Graphs were recorded as a whole, selected or not.
  [[nodiscard]] bool has_whole_graphs() const noexcept { return chunk_.counts.graphs != 0; }
  /// see(Record): lines that are no rows, such as names, GapRecord and HoldRecord. They are always selected.
  template <typename Record, typename See>
  void lines(See&& see) const {
    for (const Chunk::OtherLine& other : chunk_.others) {
      if (const auto* const record = std::get_if<Record>(&other.line)) see(*record);
    }
  }

  /// see(Line), of all of them.
  template <typename See>
  void other_lines(See&& see) const {
    for (const Chunk::OtherLine& other : chunk_.others) see(other.line);
  }

  /// see(SamplesRecord), selected or not: Selection::window() is about single samples.
  template <typename See>
  void samples(See&& see) const {
    for (const auto& [number, line] : chunk_.samples) see(line);
  }

  /// Whether --window and --iterations select a time of the host, as that of a sample of its stacks.
  [[nodiscard]] bool selects(TimeNs host_ns) const {
    MarkRecord at;
    at.at_ns = host_ns;
    return selection_.select(at).selected;
  }

  /// see(KernelRecord&, begins), also of copies, memsets and whole graphs.
  template <typename See>
  void work(Columns wanted, See&& see) const {
    chunk_.work(wanted | selection_.needs(), selected(see));
  }
  /// see(record&): GPU work, selected or not.
  template <typename See>
  void all_work(Columns wanted, See&& see) const {
    chunk_.work(wanted, see);
  }
  /// see(LaunchRecord&, begins), see(ExactRecord&, begins)
  template <typename See>
  void launches(Columns wanted, See&& see) const {
    chunk_.launches(wanted | selection_.needs(), selected(see));
  }
  /// see(ExactRecord&, begins), of counter ranges too.
  template <typename See>
  void exact(See&& see) const {
    chunk_.exact(selected(see));
  }
  /// see(RangeRecord&, begins)
  template <typename See>
  void ranges(Columns wanted, See&& see) const {
    chunk_.ranges(wanted | selection_.needs(), selected(see));
  }
  /// see(Record&, begins)
  template <typename Record, typename See>
  void each(Columns wanted, See&& see) const {
    chunk_.each<Record>(wanted, selected(see));
  }
  /// Driver calls other than launches, a kind after the other: see(Record&, begins)
  template <typename See>
  void other_calls(Columns wanted, See&& see) const {
    each<SyncRecord>(wanted, see);
    each<AllocRecord>(wanted, see);
    each<EventRecord>(wanted, see);
    each<CaptureRecord>(wanted, see);
  }
  /// Driver calls of host threads, each thread's of this chunk in order of start: see(LaunchRecord&),
  /// see(ExactRecord&) of launches, see(SyncRecord&), see(AllocRecord&), see(EventRecord&),
  /// see(CaptureRecord&).
  template <typename See>
  void calls(Columns wanted, See&& see) const {
    std::unordered_map<std::uint32_t, OtherCalls> threads;
    const auto collect = [&threads](auto& record, bool) {
      threads[host_of(record).thread].calls.push_back(record);
    };
    other_calls(wanted, collect);
    wanted |= Column::launch_times | Column::launch_thread;
    // Exact lines come later than calls that started after them.
    const bool ordered = chunk_.counts.exact == 0;
    if (!ordered) {
      launches(wanted, [&](auto& launch, bool begins) {
        if (launch_of(launch) != nullptr) collect(launch, begins);
      });
    }
    for (auto& [thread, others] : threads) others.sort();
    if (ordered) see_with_launches(wanted, threads, see);
    for (auto& [thread, others] : threads) others.see_until(kMaxNs, see);
  }

 private:
  /// Calls of one thread other than launches.
  struct OtherCalls {
    using DriverCall =
        std::variant<SyncRecord, AllocRecord, EventRecord, CaptureRecord, LaunchRecord, ExactRecord>;
    std::vector<DriverCall> calls;
    std::size_t next = 0;

    static TimeNs start_of(const DriverCall& call) {
      return std::visit([](const auto& record) { return host_of(record).start_ns; }, call);
    }
    void sort() {
      std::stable_sort(calls.begin(), calls.end(),
                       [](const DriverCall& a, const DriverCall& b) { return start_of(a) < start_of(b); });
    }
    template <typename See>
    void see_until(TimeNs time, See& see) {
      for (; next != calls.size() && start_of(calls[next]) <= time; ++next) std::visit(see, calls[next]);
    }
  };

  /// Launches are in order: only the other calls are sorted.
  template <typename See>
  void see_with_launches(Columns wanted, std::unordered_map<std::uint32_t, OtherCalls>& threads,
                         See& see) const {
    std::uint32_t thread_of_others = 0;  // of the latest launch
    OtherCalls* others_of_thread = nullptr;
    launches(wanted, [&](auto& launch, bool) {
      const HostWork& host = host_of(launch);
      if (host.thread != thread_of_others) {
        thread_of_others = host.thread;
        const auto found = threads.find(thread_of_others);
        others_of_thread = found == threads.end() ? nullptr : &found->second;
      }
      if (others_of_thread != nullptr) others_of_thread->see_until(host.start_ns, see);
      see(launch);
    });
  }

  template <typename See>
  auto selected(See& see) const {
    return [this, &see](auto& record) {
      const Part part = selection_.select(record);
      if (part.selected && (part.in_range || all_ranges_)) see(record, part.begins);
    };
  }

  const Chunk& chunk_;
  const TraceNames& names_;
  Selection& selection_;
  bool all_ranges_;
};

/// Passes the selected rows of all chunks, in the order of the files; again in each call.
using EachRows = std::function<void(const std::function<void(const SelectedRows&)>& see)>;

}  // namespace rangefinder
