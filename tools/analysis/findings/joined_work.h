// SPDX-License-Identifier: Apache-2.0
//
// Joins GPU work with its launch, in order of start, once for all rules.
//
//   launch, exact lines ─▶ slot by correlation ◀─ kernel, memcpy, memset lines
//                                                        └─▶ TimeOrder ─▶ WorkEvent ─▶ sink
//
// In a trace a launch line precedes the records of its work. Records are nearly in order of time; one that
// comes later than time_order.h allows reaches the sink out of order. Memory: 16 MiB of slots, and the
// memory of TimeOrder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "profiler/attribution/holds.h"
#include "profiler/attribution/time_order.h"
#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/model/columns.h"

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
  std::string_view api;         ///< of the launch, lives as long as the JoinedWork; empty: not in the trace
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

class SelectedRows;

class JoinedWork {
 public:
  using Sink = std::function<void(const WorkEvent&)>;

  explicit JoinedWork(Sink sink) : sink_(std::move(sink)) {}
  void line(const Line& line);
  /// The launches and the work of a chunk.
  static constexpr Columns kColumns = kAllWork | Column::launch_times | Column::launch_thread |
                                      Column::launch_call | Column::launch_correlation | Column::exact |
                                      Column::syncs;
  void add(const SelectedRows& rows);
  /// Passes the remaining work to the sink.
  void finish();
  /// Of the lines so far.
  [[nodiscard]] const Holds& holds() const noexcept { return holds_; }

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
  void put(const LaunchRecord& launch, std::uint64_t l2_bytes);
  void put(const LaunchRecord& launch);
  void put(const ExactRecord& exact);
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(WorkEvent event);
  [[nodiscard]] std::string_view interned(std::string_view api);

  Sink sink_;
  Holds holds_;
  std::vector<Slot> slots_;
  std::set<std::string, std::less<>> apis_;
  std::string_view last_api_;                         // most launches repeat it
  std::unordered_set<std::uint32_t> synced_threads_;  // their last call was a synchronisation
  TimeOrder<WorkEvent> order_;
};

}  // namespace rangefinder
