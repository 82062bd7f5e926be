// SPDX-License-Identifier: Apache-2.0
//
// Keeps single copies, and single host calls that wait or allocate; counts launches on the legacy default
// stream. Rules need those inside the loop, and the loop is known only after the last chunk.
//
// Bounded: the first kMax of each are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/recent_map.h"

namespace rangefinder {

struct LoggedCall {
  enum class What : std::uint8_t { sync, alloc, free };
  What what = What::sync;
  AllocKind memory = AllocKind::device;
  std::uint16_t api = 0;  ///< CallLog::api()
  std::uint32_t thread = 0, path = 0;
  TimeNs start_ns = 0;
  std::uint64_t host_ns = 0;  ///< without the time in which the profiler held the thread
  std::uint64_t bytes = 0;
};

struct LoggedCopy {
  WorkEvent event;
  /// Host time of the call, without the time held by the profiler; 0 for a node of a graph, or where the
  /// launch is not in the trace.
  [[nodiscard]] std::uint64_t call_ns() const noexcept {
    if (!event.launched() || event.work.graph != 0) return 0;
    const std::uint64_t ns = elapsed_ns(event.launch_start_ns, event.launch_end_ns);
    return ns - std::min<std::uint64_t>(ns, event.held_ns);
  }
  [[nodiscard]] bool pageable() const noexcept {
    return event.source == MemoryKind::pageable || event.destination == MemoryKind::pageable;
  }
};

class CallLog {
 public:
  static constexpr std::size_t kMax = 1'000'000;

  /// `iterations`: those of the trace; they must outlive this.
  explicit CallLog(const Iterations& iterations) : iterations_(iterations) {}

  /// The legacy default streams.
  void add(const ContextRecord& context) { null_streams_[context.id] = context.null_stream; }
  /// `holds`: of the trace.
  void add(const SyncRecord& sync, const Holds& holds);
  void add(const AllocRecord& alloc, const Holds& holds);
  void add(const WorkEvent& event);

  [[nodiscard]] const std::vector<LoggedCall>& calls() const noexcept { return calls_; }
  [[nodiscard]] const std::vector<LoggedCopy>& copies() const noexcept { return copies_; }
  /// Launches of kernels and memsets on the legacy default stream, not of graphs, in iterations from the
  /// second on. By path and driver function.
  [[nodiscard]] const auto& default_stream_work() const noexcept { return default_stream_work_.map(); }
  /// Kernels on it in the whole run.
  [[nodiscard]] std::uint64_t default_stream_kernels() const noexcept { return default_stream_kernels_; }
  /// The legacy default stream: not the one of each thread, which is a stream like those that programs
  /// create.
  [[nodiscard]] bool on_default_stream(const GpuWork& work) const {
    const auto at = null_streams_.find(work.context);
    return at != null_streams_.end() && at->second == work.stream;
  }
  /// Events may be missing.
  [[nodiscard]] bool full() const noexcept { return calls_.size() == kMax || copies_.size() == kMax; }
  [[nodiscard]] const std::string& api(std::uint16_t id) const { return apis_[id]; }

 private:
  using PathAndApi = std::pair<std::uint32_t, std::string_view>;
  struct PathHash {
    std::size_t operator()(const PathAndApi& call) const noexcept {
      return std::size_t{call.first} << 8 | call.second.size();
    }
  };
  void add(LoggedCall call, const HostWork& host, std::string_view api, const Holds& holds);

  std::vector<LoggedCall> calls_;
  std::vector<LoggedCopy> copies_;
  const Iterations& iterations_;
  RecentMap<PathAndApi, std::uint64_t, 1024, PathHash> default_stream_work_;
  std::uint64_t default_stream_kernels_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> null_streams_;  // by context
  std::vector<std::string> apis_;
  std::unordered_map<std::string, std::uint16_t> api_ids_;
};

}  // namespace rangefinder
