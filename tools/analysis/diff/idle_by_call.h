// SPDX-License-Identifier: Apache-2.0
//
// What the host did while no kernel ran, for each iteration.
//
//   GPU    [ kernel ]···· copy ····[ kernel ]
//   host   launch |  sync   |  own code  | launch
//   causes          waiting, copies, code, launching
//
// Kinds of calls are those of `--section idle`. The host is the thread of the iteration. A copy or memset on
// the GPU comes before what the host did. Time in which the profiler held the thread is no idle time. The
// causes add up to the idle time of an iteration, but for kernels of the iteration before it that end late.
//
// The report also shows gaps between kernels that were already launched (overview/idle_causes.h); here they
// are by what the host did meanwhile.
//
// Two passes: gpu_line() for all lines, begin(), host_line() for all lines. Keeps 24 bytes for each gap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/holds.h"
#include "tools/analysis/read/line_parts.h"
#include "tools/analysis/tables/iteration_log.h"
#include "tools/analysis/timeline/gpu_timeline.h"

namespace rangefinder {

enum class IdleCall : std::uint8_t { copies, launch, sync, memory, other_call, host_code };
inline constexpr std::size_t kIdleCalls = 6;

/// Not thread-safe.
class IdleByCall {
 public:
  IdleByCall() : timeline_([this](const GpuSpan& span) { add(span); }) {}
  IdleByCall(const IdleByCall&) = delete;
  IdleByCall& operator=(const IdleByCall&) = delete;

  void gpu_line(const Line& line);
  /// Call it between the passes. `log` is finished.
  void begin(const IterationLog& log);
  void host_line(const Line& line);
  /// ns by IdleCall. Call it after the second pass.
  [[nodiscard]] std::array<double, kIdleCalls> of(std::size_t iteration) const;

 private:
  struct Gap {
    TimeNs from_ns, to_ns;
  };
  void add(const GpuSpan& span);
  void add_call(const HostWork& call, IdleCall cause);

  GpuTimeline timeline_;
  Holds holds_;
  TimeNs first_ns_ = kMaxNs, last_ns_ = -kMaxNs;  // of all GPU work
  std::vector<Gap> gaps_, copies_;      // without a kernel, in order of time; later only those in iterations
  std::vector<std::size_t> of_gap_;     // iteration
  std::vector<std::uint32_t> threads_;  // by iteration; 0: unknown
  std::vector<std::array<double, kIdleCalls>> ns_;
};

}  // namespace rangefinder
