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
#include <optional>
#include <string>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/trace_files.h"

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

/// `glob`: schema/path_glob.h, the first path that it names exactly (not what is below it); empty: guess.
/// Throws Missing if the trace cannot be read or the glob names no range of it.
[[nodiscard]] Iterations find_iterations(const TraceFolder& trace, const std::string& glob);

}  // namespace rangefinder
