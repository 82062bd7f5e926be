// SPDX-License-Identifier: Apache-2.0
//
// The iterations of a program.
//
//   find_iterations(trace, "model/decoder")    the instances of that path
//   find_iterations(trace, "")                 the first of these rules that finds any (IterationRule):
//     numbered    ranges whose names differ in a number: iterations0, iterations1, … (iteration_names.h)
//     named       a range named iteration, step, batch, frame or epoch
//     outermost   the repeating outermost range that covers most of the time, also in a range around
//                 everything; copies and data loading only if there is nothing else; of functions that a
//                 framework compiled, the one with most GPU time
//     graph       launches of a CUDA graph           (repeated_work.h)
//     kernels     a period in the sequence of kernels
// Ranges that a rule finds are no iterations if they do not do alike (alike.h), or if most GPU work runs
// outside of any range and of them.
//
// Work belongs to the iteration that launched it: the one in which the range open at the launch began, for a
// graph launch the one of the call. Work launched between two iterations belongs to none. Without ranges it
// belongs to the iteration during which it started; after the last one it belongs to none. Reads the trace
// once and keeps 8 bytes per range, and some 40 per graph launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/huge_pages.h"
#include "tools/analysis/model/repeated_work.h"
#include "tools/analysis/model/shown_paths.h"

namespace rangefinder {

struct Iteration {
  TimeNs start_ns = 0, end_ns = 0;  ///< on the host
  std::uint32_t thread = 0;
  std::uint64_t range = 0;  ///< 0: no range marks it
};

enum class IterationRule : std::uint8_t { none, given, numbered, named, outermost, graph, kernels };

/// For people: "names that differ in a number". "" for none.
[[nodiscard]] std::string_view rule_text(IterationRule rule);
/// For JSON: "numbered".
[[nodiscard]] std::string_view rule_key(IterationRule rule);

/// Less of the GPU time in ranges, and the ranges do not describe the program.
inline constexpr double kMinCoverage = 0.8;

class Chunk;
class Trace;

class Iterations {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  IterationRule rule = IterationRule::none;
  std::string path;                  ///< shown path of the instances, or what repeats; empty: no iterations
  std::vector<Iteration> instances;  ///< sorted by start
  std::unordered_set<std::uint32_t> paths;  ///< ids of the instances' paths, as in the lines

  /// False: no range marks an iteration, and times of the host are those of the launches.
  [[nodiscard]] bool by_range() const noexcept { return gpu_starts_.empty(); }
  /// The instance that was open at `time`, on any thread, the latest if there are several; kNone: none.
  [[nodiscard]] std::size_t at(TimeNs time) const noexcept;
  /// GPU work: by its launch; by its start on the GPU if the trace does not show when it was launched.
  [[nodiscard]] std::size_t of(const GpuWork& work) const noexcept {
    return by_range() ? at(launched(work)) : of_gpu_time(work.start_ns);
  }
  /// Host work: by its start.
  [[nodiscard]] std::size_t of(const HostWork& work) const noexcept { return at(work.start_ns); }
  [[nodiscard]] std::size_t of(TimeNs time) const noexcept { return at(time); }

  /// After this of() is not asked about GPU work any more: frees what it needs, most of the memory.
  void forget_launches() {
    Starts().swap(range_starts_);
    std::unordered_map<std::uint32_t, TimeNs>().swap(graph_launches_);
  }

  /// The last instance that started at or before `time`, open or not; kNone: `time` is before the first.
  [[nodiscard]] std::size_t last_before(TimeNs time) const noexcept;
  [[nodiscard]] std::size_t last_before(const GpuWork& work) const noexcept {
    return by_range() ? last_before(launched(work)) : of_gpu_time(work.start_ns);
  }

 private:
  friend class IterationFinder;
  void clear();
  void set_ends();
  /// Start of the range open at the launch or of the call; of the work itself if neither is known.
  [[nodiscard]] TimeNs launched(const GpuWork& work) const noexcept;
  [[nodiscard]] std::size_t of_gpu_time(TimeNs start) const noexcept;

  using Starts = std::vector<TimeNs, HugePages<TimeNs>>;
  Starts range_starts_;       // by range id; kNoTime: unknown
  std::vector<TimeNs> ends_;  // by instance: the latest end of it and of those before
  std::unordered_map<std::uint32_t, TimeNs> graph_launches_;  // by correlation: start of the call
  mutable std::size_t last_ = 0;                              // the answer of last_before()
  std::vector<TimeNs> gpu_starts_;  // of the instances' first work; only if no range marks them
  TimeNs gpu_end_ns_ = 0;           // of the last instance's work; only if no range marks them
};

/// Finds the iterations in chunks that the caller reads for another purpose. Memory: that of Iterations, plus
/// the instances of every candidate range, plus that of RepeatedWork.
class IterationFinder {
 public:
  /// `glob`: as for find_iterations().
  explicit IterationFinder(std::string glob) : glob_(std::move(glob)), shown_(glob_) {}
  IterationFinder(const IterationFinder&) = delete;
  IterationFinder& operator=(const IterationFinder&) = delete;

  /// Every chunk of the trace, in order, with kIterationColumns.
  void add(const Chunk& chunk);
  /// Call it once, after the last chunk. Throws NoMatch if the glob matches no range.
  [[nodiscard]] Iterations result();

 private:
  /// All instances of one shown path.
  struct Group {
    IterationRule rule = IterationRule::outermost;
    bool epoch = false;        ///< its parts are iterations, if there are any
    bool copies = false;       ///< named like a copy or data loading
    bool set_up = false;       ///< compilation: no candidate
    bool function = false;     ///< compiled code: its calls return before its work is done
    std::uint64_t gpu_ns = 0;  ///< of a function: its work
    std::uint32_t depth = 0;
    std::uint32_t parent = 0;     ///< shown id
    std::uint64_t count = 0;      ///< instances, also of a group that keeps none
    std::uint64_t total_ns = 0;   ///< sum of their durations
    std::vector<Iteration> kept;  ///< empty: no candidate
    std::unordered_set<std::uint32_t> paths;
    bool is_part = false;  ///< a range above it repeats
  };
  using Groups = std::map<std::uint32_t, Group>;  ///< by shown id
  void add(const RangeRecord& range);
  void count_of_function(const GpuWork& work);
  Group& group_of(std::uint32_t shown);
  [[nodiscard]] bool is_candidate(Group& group) const;
  [[nodiscard]] bool is_most_of_parent(const Group& group) const;
  [[nodiscard]] Groups::iterator best();
  [[nodiscard]] bool covers_enough(const Group& group) const;
  [[nodiscard]] static std::uint64_t typical_ns(const Group& group);
  [[nodiscard]] bool describe_run(const Iterations& iterations) const;
  void use_repeated_work(Iterations& out);

  std::string glob_;
  ShownPaths shown_;
  std::unordered_map<std::uint32_t, PathRecord> levels_;  // by shown id
  std::optional<std::uint32_t> nccl_;                     // NVTX domain
  Groups groups_;
  std::vector<Group*> by_path_;                  // the same, by shown id
  std::unordered_set<std::uint32_t> functions_;  // shown ids
  RepeatedWork work_;
  Iterations::Starts starts_;
  std::unordered_map<std::uint32_t, TimeNs> graph_launches_;  // by correlation
};

/// What find_iterations() reads while the files are read (TraceOptions::while_reading), and what
/// Iterations::of() needs of GPU work.
inline constexpr Columns kIterationColumns =
    Column::range_times | Column::range_thread | Column::range_path | Column::range_id |
    Column::launch_times | Column::launch_thread | Column::launch_call | Column::launch_correlation |
    Column::work_times | Column::work_name | Column::work_correlation | Column::work_graph |
    Column::work_path | Column::work_range | Column::copies;
inline constexpr Columns kWorkOfIteration =
    Column::work_times | Column::work_range | Column::work_graph | Column::work_correlation;
/// `glob`: see profiler/base/path_glob.h. It selects the most frequent path that it matches exactly, not the
/// paths below it; empty: guess. Reads the files: call it before anything else does. Throws Missing if the
/// trace is unreadable, NoMatch if the glob matches no range.
[[nodiscard]] Iterations find_iterations(Trace& trace, const std::string& glob);

}  // namespace rangefinder
