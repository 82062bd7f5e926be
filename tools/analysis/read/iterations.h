// SPDX-License-Identifier: Apache-2.0
//
// Which repetitions a program goes through: the instances of one range.
//
//   find_iterations(trace, "")                 the range named iteration, step, batch or epoch
//   (ProfilerStep#12
//                                              counts as ProfilerStep#*), else the outermost one seen most
//                                              often
//   find_iterations(trace, "model/decoder")    the instances of that path
//
// Work belongs to the iteration in which it was launched: that of the range open at the launch.
// Reads the trace once and keeps eight bytes a range.
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

/// The name of a range that counts iterations without its number, "ProfilerStep#12" as
/// "ProfilerStep#*"; every other name as it is. So that paths of different iterations are one.
[[nodiscard]] std::string folded_iteration_name(const std::string& name);

class Iterations {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::string path;                  ///< whose instances they are; empty: the trace has no range
  std::vector<Iteration> instances;  ///< by start

  /// The instance in which a range was opened, on whatever thread; kNone: in none.
  [[nodiscard]] std::size_t of_range(std::uint64_t range) const noexcept;
  /// The instance that was open at that time, or the last one before it; kNone: before the first.
  [[nodiscard]] std::size_t at(TimeNs time) const noexcept;
  /// Of GPU work: by its range, else by its start.
  [[nodiscard]] std::size_t of(const GpuWork& work) const noexcept;
  /// Of host work: by its start.
  [[nodiscard]] std::size_t of(const HostWork& work) const noexcept { return at(work.start_ns); }

 private:
  friend class IterationFinder;
  std::vector<TimeNs> range_starts_;  // by range id; kNoTime: unknown
};

/// Finds them in lines that somebody reads anyway. Keeps what Iterations keeps, and the instances of every
/// range that may be the one.
class IterationFinder {
 public:
  /// As for find_iterations().
  explicit IterationFinder(std::string glob) : glob_(std::move(glob)) {}
  IterationFinder(const IterationFinder&) = delete;
  IterationFinder& operator=(const IterationFinder&) = delete;

  /// Every line of the trace, in file order.
  void line(const Line& line);
  /// Once, after the last line. Throws Missing if the glob names no range.
  [[nodiscard]] Iterations result();

 private:
  /// All instances whose path is the same but for digits in its last name.
  struct Group {
    std::uint32_t depth = 0;
    bool called_iteration = false;
    std::vector<Iteration> instances;
  };
  void add(const RangeRecord& range);
  /// nullptr: this path is not looked for.
  [[nodiscard]] Group* group_of(std::uint32_t path);
  [[nodiscard]] bool names_exactly(const std::string& full) const;
  [[nodiscard]] std::string guess() const;
  [[nodiscard]] std::string named() const;

  std::string glob_;
  std::unordered_map<std::uint32_t, PathRecord> paths_;
  std::unordered_map<std::uint32_t, Group*> by_path_;
  std::map<std::string, Group> groups_;
  std::vector<TimeNs> starts_;
};

/// `glob`: profiler/base/path_glob.h, the first path that it names exactly (not what is below it); empty:
/// guess. Throws Missing if the trace cannot be read or the glob names no range of it.
[[nodiscard]] Iterations find_iterations(const TraceFolder& trace, const std::string& glob);

}  // namespace rangefinder
