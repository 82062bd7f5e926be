// SPDX-License-Identifier: Apache-2.0
//
// Why no kernel ran, by iteration.
//
//   WorkEvents in order of start ─▶ gap before a kernel ─┬─ copies ran in it
//                                                        ├─ its launch came before the gap: a host function
//                                                        ran, │  or queued
//   launches, waits, allocations of each host thread ────┴─ else: the call that the launching thread was in
//
// A gap is time without a kernel on any GPU. It belongs to the iteration of the kernel that ends it, from the
// start of that iteration on. What is before belongs to the iteration in which the host still was, and to
// none between two iterations. Time in which the profiler held the thread does not count, nor does a gap
// before a kernel whose launch is not in the trace.
//
// A report that also runs rules joins work and launches once for both: add_call() and add(WorkEvent).
// Memory: 48 bytes per iteration, the calls of the host since the last kernel, and that of launched_work.h.
// With keep_host_times() also that of its spans (stack_samples.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/queries/host_timeline.h"
#include "tools/analysis/queries/stack_samples.h"

namespace rangefinder {

enum class IdleCause : std::uint8_t {
  copies,
  queued,
  host_function,
  launching,
  waiting,
  allocating,
  host_code
};
inline constexpr std::size_t kIdleCauses = 7;
/// For people: "host launching".
[[nodiscard]] std::string_view idle_cause_text(IdleCause cause) noexcept;
/// For JSON: "launching".
[[nodiscard]] std::string_view idle_cause_key(IdleCause cause) noexcept;

/// Nanoseconds by IdleCause.
using IdleTime = std::array<std::uint64_t, kIdleCauses>;

class IdleCauses {
 public:
  /// `iterations` must outlive this; it may have none.
  explicit IdleCauses(const Iterations& iterations)
      : iterations_(iterations), by_iteration_(iterations.instances.size()) {}

  /// The calls and the work of a chunk.
  static constexpr Columns kColumns = kWorkOfIteration | Column::launch_times | Column::launch_thread |
                                      Column::launch_call | Column::launch_correlation | Column::syncs |
                                      Column::allocs | Column::events | Column::captures;
  void add(const SelectedRows& rows);
  /// Call it after the last chunk.
  void finish();

  /// host_times() is needed, of the chunks from now on.
  void keep_host_times() noexcept { keeps_host_times_ = true; }
  /// see(start, end, cause): calls it for the parts of each gap that ends with a kernel, in order of time.
  /// Contain times in which the profiler held the thread.
  using SeePart = std::function<void(TimeNs, TimeNs, IdleCause)>;
  void each_part_from_now(SeePart see) { see_part_ = std::move(see); }

  // The same, where the caller reads the rows and joins them. Before the calls and the work of a chunk:
  void begin_chunk(const SelectedRows& rows);
  /// A call of a host thread, in order of start.
  template <typename Call>
  void add_call(const Call& call) {
    add_call(host_of(call), host_call_kind(call));
  }
  /// Work in order of start.
  void add(const WorkEvent& event);

  /// By iteration, in their order.
  [[nodiscard]] const std::vector<IdleTime>& by_iteration() const noexcept { return by_iteration_; }
  /// From the first to the last GPU work, in iterations or not.
  [[nodiscard]] IdleTime total() const noexcept;
  struct HostTimes {
    ThreadSpans code, waiting;  ///< IdleCause::host_code and IdleCause::waiting in total(), by thread
  };
  /// Contain times in which the profiler held the thread.
  [[nodiscard]] const HostTimes& host_times() const noexcept { return host_times_; }
  /// False: graphs were recorded as a whole, so that gaps inside of them are unknown.
  [[nodiscard]] bool known() const noexcept { return !whole_graphs_; }

 private:
  struct Call {
    TimeNs start_ns, end_ns;
    HostCall kind;
  };
  struct Span {
    TimeNs start_ns, end_ns;
  };
  void take_since_kernel();
  void add_call(const HostWork& host, HostCall kind);
  void drop_past(std::deque<Call>& calls) const;
  void add_copy(const WorkEvent& event);
  void add_gap(TimeNs from, TimeNs to, const WorkEvent& ended_by);
  [[nodiscard]] IdleTime causes(TimeNs from, TimeNs to, const WorkEvent& ended_by) const;
  /// Calls copied(from, to) and hosted(from, to) for the parts of a gap in which copies ran and in which none
  /// did.
  template <typename Copied, typename Hosted>
  void each_part(TimeNs from, TimeNs to, Copied&& copied, Hosted&& hosted) const;
  /// The host launched what ended the gap only then.
  [[nodiscard]] static bool host_was_late(TimeNs from, const WorkEvent& ended_by) noexcept;
  /// see(start, end, kind): calls of the thread, cut to [from, to) and to what no earlier call has.
  template <typename See>
  void each_call(std::uint32_t thread, TimeNs from, TimeNs to, See&& see) const;
  /// How much of it a host function ran, that a stream waited for.
  [[nodiscard]] std::uint64_t function_ns(TimeNs from, TimeNs to) const;
  void add_host(IdleTime& out, TimeNs from, TimeNs to, const WorkEvent& ended_by) const;
  void keep_host(HostTimes& out, TimeNs from, TimeNs to, const WorkEvent& ended_by) const;
  void see_parts(TimeNs from, TimeNs to, const WorkEvent& ended_by) const;
  void see_host_parts(TimeNs from, TimeNs to, const WorkEvent& ended_by) const;

  const Iterations& iterations_;
  std::vector<IdleTime> by_iteration_;
  IdleTime total_{};
  const Holds* holds_ = nullptr;                               // of the trace
  std::unordered_map<std::uint32_t, std::deque<Call>> calls_;  // by thread; those after the last kernel
  std::vector<Span> copies_;     // merged, in order; those that end after busy_until_
  std::vector<Span> functions_;  // host functions, by start; those that end after busy_until_
  TimeNs busy_until_ = kNoTime;
  TimeNs worked_until_ = kNoTime;                // the end of all work so far, also of copies
  IdleTime since_kernel_{}, since_kernel_of_{};  // up to there, if no kernel follows; of the iteration
  HostTimes host_times_, host_times_since_kernel_;
  bool keeps_host_times_ = false;
  SeePart see_part_;                           // may be empty
  std::size_t last_copy_ = Iterations::kNone;  // of the latest copy
  bool whole_graphs_ = false;
  LaunchedWork launched_;                  // of add(SelectedRows)
  std::uint32_t thread_ = 0;               // of the latest call
  std::deque<Call>* of_thread_ = nullptr;  // its calls
};

}  // namespace rangefinder
