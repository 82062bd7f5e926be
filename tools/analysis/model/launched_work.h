// SPDX-License-Identifier: Apache-2.0
//
// GPU work with its launch, in order of start.
//
//   add(launch), add(exact), add(sync)   calls of a chunk ─▶ slot by correlation id
//   add(work, see)                       its work         ─▶ TimeOrder ─▶ see(WorkEvent)
//
// A launch is in the file before its work. Work that comes later than time_order.h allows is seen out of
// order. Memory: 16 MiB of slots, and the memory of TimeOrder. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "profiler/attribution/holds.h"
#include "profiler/attribution/time_order.h"
#include "schema/record.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/huge_pages.h"
#include "tools/analysis/model/selected_rows.h"

namespace rangefinder {

/// 0 if `to` is before `from`. Defined for any two times, including those of a damaged trace.
[[nodiscard]] constexpr std::uint64_t elapsed_ns(TimeNs from, TimeNs to) noexcept {
  return to <= from ? 0 : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

/// Work with times. `launch_start_ns` is kNoTime if the launch is not in the trace.
struct WorkEvent {
  WorkKind kind = WorkKind::kernel;  ///< kernel, memcpy or memset
  TimeNs at_ns = 0;                  ///< work.start_ns
  GpuWork work;
  std::uint32_t name = 0, config = 0;  ///< kernel
  CopyKind copy = CopyKind::unknown;   ///< memcpy only, as are the next three
  MemoryKind source = MemoryKind::unknown, destination = MemoryKind::unknown;
  bool async = false;
  std::uint64_t bytes = 0;  ///< memcpy, memset
  TimeNs launch_start_ns = kNoTime, launch_end_ns = kNoTime;
  std::string_view api;         ///< of the launch, lives as long as the LaunchedWork; empty: not in the trace
  std::uint32_t thread = 0;     ///< of the launch
  std::uint32_t held_ns = 0;    ///< time of the launch in which the profiler held it
  std::uint64_t l2_bytes = 0;   ///< of this one kernel, from an exact line; 0: not measured
  bool first_of_launch = true;  ///< false: a later node of the same graph launch
  bool after_sync = false;      ///< the thread's call before this launch was a synchronisation

  [[nodiscard]] std::uint64_t duration() const noexcept { return elapsed_ns(work.start_ns, work.end_ns); }
  [[nodiscard]] bool launched() const noexcept { return launch_start_ns != kNoTime; }
  /// Start of the launch, or of the work if the launch is not in the trace.
  [[nodiscard]] TimeNs called_ns() const noexcept { return launched() ? launch_start_ns : work.start_ns; }
};

class LaunchedWork {
 public:
  static constexpr Columns kColumns = kAllWork | Column::launch_times | Column::launch_thread |
                                      Column::launch_call | Column::launch_correlation | Column::exact |
                                      Column::syncs;

  // The calls of a chunk, each thread's in order of start (SelectedRows::calls). `holds`: of the trace.
  void add(const LaunchRecord& launch, const Holds& holds);
  void add(const ExactRecord& exact, const Holds& holds);
  void add(const SyncRecord& sync) { synced_threads_.insert(sync.host.thread); }

  /// Work of the chunk that begins in the selected time, after the calls of the chunk.
  template <typename Record, typename See>
  void add(const Record& record, See&& see) requires requires {
    record.work;
  }
  {
    WorkEvent event;
    event.work = record.work;
    if constexpr (std::is_same_v<Record, KernelRecord>) {
      event.name = record.name;
      event.config = record.config;
    } else {
      event.kind = std::is_same_v<Record, MemsetRecord> ? WorkKind::memset : WorkKind::memcpy;
      event.bytes = record.bytes;
    }
    if constexpr (std::is_same_v<Record, MemcpyRecord>) {
      event.copy = record.kind;
      event.source = record.source;
      event.destination = record.destination;
      event.async = record.async;
    }
    if (add_launch(event)) order_.add(event, see);
  }
  /// After the work of a chunk: see SelectedRows::later_work_ns().
  template <typename See>
  void release_until(TimeNs later_work_ns, See&& see) {
    if (later_work_ns != INT64_MIN) order_.release_until(later_work_ns, see);
  }
  /// Passes the remaining work.
  template <typename See>
  void finish(See&& see) {
    order_.finish(see);
  }

 private:
  static constexpr std::size_t kSlots = std::size_t{1} << 18;
  struct Slot {
    std::uint32_t correlation = 0;
    std::uint32_t thread = 0;
    TimeNs start_ns = kNoTime;
    std::uint32_t length_ns = 0, held_ns = 0;
    bool used = false, after_sync = false;
    std::uint64_t l2_bytes = 0;
    std::string_view api;
  };
  void put(const LaunchRecord& launch, const Holds& holds, std::uint64_t l2_bytes);
  /// False: the work has no times.
  bool add_launch(WorkEvent& event);
  [[nodiscard]] std::string_view interned(std::string_view api);

  std::vector<Slot, HugePages<Slot>> slots_;
  std::set<std::string, std::less<>> apis_;
  std::string_view last_api_;                         // most launches repeat it
  std::unordered_set<std::uint32_t> synced_threads_;  // their last call was a synchronisation
  TimeOrder<WorkEvent> order_;
};

}  // namespace rangefinder
