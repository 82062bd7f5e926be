// SPDX-License-Identifier: Apache-2.0
//
// The iterations of a program: the instances of one range.
//
//   find_iterations(trace, "")                 the range named iteration, step, batch or epoch
//                                              (ProfilerStep#12 counts as ProfilerStep#*);
//                                              otherwise the most frequent outermost range
//   find_iterations(trace, "model/decoder")    the instances of that path
//
// Work belongs to the iteration that launched it: the one in which the range open at the launch began, for a
// graph launch the one of the call. Work launched between two iterations belongs to none. Reads the trace
// once and keeps 8 bytes per range, and some 40 per graph launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

struct Iteration {
  TimeNs start_ns = 0, end_ns = 0;  ///< on the host
  std::uint32_t thread = 0;
  std::uint64_t range = 0;
};

/// Replaces the number in the name of an iteration range: "ProfilerStep#12" becomes "ProfilerStep#*", so
/// all iterations share one path. Returns every other name unchanged.
[[nodiscard]] std::string folded_iteration_name(const std::string& name);

class Iterations {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::string path;                  ///< the path of the instances; empty: the trace has no range
  std::vector<Iteration> instances;  ///< sorted by start

  /// The instance during which the range was opened, on any thread; kNone: none.
  [[nodiscard]] std::size_t of_range(std::uint64_t range) const noexcept;
  /// The instance that was open at `time`, on any thread, the latest if there are several; kNone: none.
  [[nodiscard]] std::size_t at(TimeNs time) const noexcept;
  /// GPU work: by its launch; by its start on the GPU if the trace does not show when it was launched.
  [[nodiscard]] std::size_t of(const GpuWork& work) const noexcept { return at(launched(work)); }
  /// Host work: by its start.
  [[nodiscard]] std::size_t of(const HostWork& work) const noexcept { return at(work.start_ns); }

  /// The last instance that started at or before `time`, open or not; kNone: `time` is before the first.
  [[nodiscard]] std::size_t last_before(TimeNs time) const noexcept;
  [[nodiscard]] std::size_t last_before(const GpuWork& work) const noexcept {
    return last_before(launched(work));
  }

 private:
  friend class IterationFinder;
  /// Start of the range open at the launch or of the call; of the work itself if neither is known.
  [[nodiscard]] TimeNs launched(const GpuWork& work) const noexcept;

  std::vector<TimeNs> range_starts_;  // by range id; kNoTime: unknown
  std::vector<TimeNs> ends_;          // by instance: the latest end of it and of those before
  std::unordered_map<std::uint32_t, TimeNs> graph_launches_;  // by correlation: start of the call
};

/// Finds the iterations in lines that the caller reads for another purpose. Memory: that of Iterations, plus
/// the instances of every candidate range.
class IterationFinder {
 public:
  /// `glob`: as for find_iterations().
  explicit IterationFinder(std::string glob) : glob_(std::move(glob)) {}
  IterationFinder(const IterationFinder&) = delete;
  IterationFinder& operator=(const IterationFinder&) = delete;

  /// Call it for every line of the trace, in file order.
  void line(const Line& line);
  /// Call it once, after the last line. Throws Missing if the glob matches no range.
  [[nodiscard]] Iterations result();

 private:
  /// All instances whose paths differ only in the digits of the last name.
  struct Group {
    std::uint32_t depth = 0;
    bool called_iteration = false;
    std::vector<Iteration> instances;
  };
  void add(const RangeRecord& range);
  /// nullptr: this path is no candidate.
  [[nodiscard]] Group* group_of(std::uint32_t path);
  [[nodiscard]] bool names_exactly(const std::string& full) const;
  [[nodiscard]] std::string guess() const;
  [[nodiscard]] std::string named() const;

  std::string glob_;
  std::unordered_map<std::uint32_t, PathRecord> paths_;
  std::unordered_map<std::uint32_t, Group*> by_path_;
  std::map<std::string, Group> groups_;
  std::vector<TimeNs> starts_;
  std::unordered_map<std::uint32_t, TimeNs> graph_launches_;  // by correlation
};

/// `glob`: see profiler/base/path_glob.h. It selects the most frequent path that it matches exactly, not the
/// paths below it; empty: guess. Throws Missing if the trace is unreadable or the glob matches no range.
[[nodiscard]] Iterations find_iterations(const TraceFolder& trace, const std::string& glob);

}  // namespace rangefinder
