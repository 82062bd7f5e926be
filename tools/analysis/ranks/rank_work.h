// SPDX-License-Identifier: Apache-2.0
//
// What one rank did in each iteration, by module. rank_waits.h has the waits.
//
//   rows ─▶ RankWork ─┬─▶ ns(cost, path, iteration)   own work, without waits for other ranks
//                     ├─▶ own_busy_ns(iteration)      union of own GPU work
//                     ├─▶ communication()             collectives, with their iterations
//                     └─▶ iterations()                lengths, warm-up, clocks
//
// Host time of a path is the time in its ranges without ranges below it and without driver calls, which have
// costs of their own, whichever thread made them. Time between iterations, and of ranges around them, is at
// path 0. What NCCL's own ranges contain counts for the module around them. An iteration lasts until the next
// one starts; without iterations the whole trace is one.
//
// Samples of stacks have the module and the iteration of the host at their time, unless it was in a call.
//
// Memory: 4 bytes per path, cost and iteration, at most 64 MB: of longer traces several iterations
// are one, with the mean of them. Also 16 bytes per span of own GPU work, and 32 bytes per sample of a stack;
// while such a trace is read also its ranges and long calls (host_timeline.h). One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/analysis/model/trace_names.h"
#include "tools/analysis/queries/communication_log.h"
#include "tools/analysis/queries/host_timeline.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/stack_samples.h"

namespace rangefinder {

enum class RankCost : std::uint8_t {
  host,        ///< code outside of driver calls
  launching,   ///< calls that launch kernels and graphs, and calls for events
  copy_calls,  ///< host time of calls that copy
  memory,      ///< allocations and frees
  waiting,     ///< calls that wait for the GPU
  kernels,     ///< GPU time of kernels, without communication
  copies       ///< GPU time of copies and memsets
};
inline constexpr std::size_t kRankCosts = 7;

/// Time in which a GPU did own work, which is all but communication.
class OwnBusy {
 public:
  /// In order of time for each GPU.
  void add(std::uint32_t gpu, TimeNs from, TimeNs to);
  /// Length of the part of [from, to) with own work.
  [[nodiscard]] std::uint64_t within(std::uint32_t gpu, TimeNs from, TimeNs to) const noexcept;
  /// Of all GPUs.
  [[nodiscard]] std::uint64_t within(TimeNs from, TimeNs to) const noexcept;

 private:
  struct Span {
    TimeNs from, to;
    std::uint64_t before_ns;  // length of the spans before
  };
  std::map<std::uint32_t, std::vector<Span>> gpus_;
};

class RankWork {
 public:
  static constexpr Columns kColumns = IterationLog::kColumns | CommunicationLog::kColumns |
                                      Column::work_path | Column::launch_path | Column::launch_thread |
                                      Column::launch_call;
  static constexpr std::size_t kNone = Iterations::kNone;

  void begin(Iterations iterations);
  void add(const SelectedRows& rows);
  /// After the last chunk, while the trace's names are still there.
  void finish();

  [[nodiscard]] const CommunicationLog& communication() const noexcept { return communication_; }
  [[nodiscard]] const IterationLog& iterations() const noexcept { return log_; }
  [[nodiscard]] const OwnBusy& own_busy() const noexcept { return own_busy_; }
  /// At least 1.
  [[nodiscard]] std::size_t size() const noexcept { return std::max<std::size_t>(1, log_.rows().size()); }
  /// Paths with values, in their order in the trace. `path` 0: outside of any range.
  template <typename See>
  void each_path(See&& see) const {
    for (std::size_t path = 0; path < cells_.size(); ++path) {
      if (cells_[path] != nullptr) see(static_cast<std::uint32_t>(path));
    }
  }
  [[nodiscard]] double ns(RankCost cost, std::uint32_t path, std::size_t iteration) const noexcept;
  [[nodiscard]] double own_busy_ns(std::size_t iteration) const noexcept;
  /// RankCost::kernels by kernel name: see(path, name, ns(iteration)).
  template <typename See>
  void each_kernel(See&& see) const {
    for (const auto& [key, values] : by_name_)
      see(key.first, key.second,
          [this, &values](std::size_t iteration) { return value_of(values, iteration); });
  }
  /// A sample of a stack in RankCost::host.
  struct HostSample {
    std::uint32_t path = 0;
    std::size_t iteration = kNone;
    StackMoment moment;
  };
  [[nodiscard]] const std::vector<HostSample>& host_samples() const noexcept { return host_samples_; }
  /// The module of a path: without NCCL's own ranges.
  [[nodiscard]] std::uint32_t module_of(std::uint32_t path) const noexcept {
    return path < modules_.size() ? modules_[path] : path;
  }

 private:
  using Cells = std::array<std::vector<float>, kRankCosts>;
  void set_modules(const TraceNames& names);
  void add_range(const RangeRecord& range);
  template <typename Record>
  void add_call(const Record& record);
  template <typename Record>
  void add_work(const Record& record, bool begins);
  [[nodiscard]] double value_of(const std::vector<float>& values, std::size_t iteration) const noexcept;
  void put(RankCost cost, std::uint32_t path, std::size_t iteration, double ns);
  /// The iteration of a time on the host, or of GPU work.
  template <typename What>
  [[nodiscard]] std::size_t at(const What& what) const;
  void add_stacks(const SelectedRows& rows);
  void match_stacks();
  void add_time_between();
  void set_own_busy();

  IterationLog log_;
  CommunicationLog communication_;
  const TraceNames* names_ = nullptr;
  std::vector<std::uint32_t> modules_;  // by path
  std::uint32_t iteration_thread_ = 0;
  std::size_t width_ = 1;                                                          // iterations that are one
  std::vector<std::unique_ptr<Cells>> cells_;                                      // by path
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<float>> by_name_;  // path, kernel name
  StackSamples stacks_;                                                            // while the trace is read
  std::unordered_map<std::uint32_t, HostTimeline> hosts_;  // the same, of a trace with stacks; by thread
  std::vector<HostSample> host_samples_;
  OwnBusy own_busy_;
  std::vector<double> own_busy_ns_;  // by iteration
  GpuTimeline timeline_{[this](const GpuSpan& span) {
    if (span.kernels != 0) own_busy_.add(span.gpu, span.from_ns, span.to_ns);  // "kernels": own work
  }};
};

}  // namespace rangefinder
