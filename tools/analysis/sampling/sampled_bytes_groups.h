// SPDX-License-Identifier: Apache-2.0
//
// Assigns each record of GPU work its owner and its group, as numbers for the unmixing.
//
//   KernelRecord, MemcpyRecord, MemsetRecord, GraphRecord ─▶ OrderedWork { path: owner, kind: group }
//
// An owner receives bytes: a (path, kernel name, selected or not). A group has one byte rate: a (GPU, path,
// kernel name, launch configuration); for copies, kind and size replace the configuration. The first, second,
// … launch within one range are different groups, because one kernel may read other tensors each time.
// Bounded: the ninth and later launches in a range share a group, and so do the ninth and later
// configurations; at most kMaxGroups.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "profiler/attribution/known_traffic.h"
#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/stream_order.h"
#include "schema/record.h"

namespace rangefinder {

class Selection;

class WorkGroups {
 public:
  static constexpr std::size_t kMaxGroups = 65'536;
  static constexpr std::uint32_t kMaxPlaces = 9;

  struct Owner {
    std::uint32_t path = 0;  ///< position in paths()
    std::uint32_t name = 0;  ///< KernelNameRecord; 0: a copy or memset
    bool selected = true;    ///< its bytes are reported
    /// Of the path and the name, so that errors of the whole trace do not depend on what is selected.
    std::uint32_t number = 0;
  };

  /// `selection`: whose work is reported; it must outlive the groups, and have learned the trace's names.
  /// nullptr: all.
  explicit WorkGroups(const Selection* selection = nullptr);
  /// Call it before a second pass over the trace: its records get the same numbers again.
  void start_again() noexcept;
  /// Call it before the first record of that path.
  void add(const PathRecord& path);
  /// Call it before the first record of that GPU, or the bytes of its large copies are not subtracted
  /// (known_traffic.h).
  void add(const GpuRecord& gpu) { l2_sizes_.set(gpu.id, gpu.l2_bytes); }
  /// Calls see(GPU, OrderedWork, whether the record names this GPU) if the work is timed. Call it in the
  /// order of the trace. Work starts when its stream's earlier work has ended (StreamOrder).
  template <typename Record, typename See>
  void number(const Record& record, See&& see) {
    if (!is_timed(record.work)) return;
    see(record.work.gpu, ordered(record), true);
    // A copy between GPUs moves bytes on both, but its record names only one.
    if constexpr (std::is_same_v<Record, MemcpyRecord>) {
      MemcpyRecord there = record;
      there.work.gpu = record.work.gpu == record.source_gpu ? record.destination_gpu : record.source_gpu;
      if (record.kind == CopyKind::PtoP && there.work.gpu != record.work.gpu)
        see(there.work.gpu, ordered(there), false);
    }
  }

  /// Every owner's bytes are reported. Call it after the last record.
  void select_all() noexcept {
    for (Owner& owner : owners_) owner.selected = true;
  }

  /// Mean duration of each group's work so far, in ns; 0 without work.
  [[nodiscard]] std::vector<double> mean_durations() const;
  [[nodiscard]] const std::vector<Owner>& owners() const noexcept { return owners_; }
  /// Ids of all paths with work and of their ancestors. The first is 0.
  [[nodiscard]] const std::vector<std::uint32_t>& paths() const noexcept { return paths_; }
  /// By position in paths(): the position of the parent; 0: outermost.
  [[nodiscard]] const std::vector<std::uint32_t>& parents() const noexcept { return parents_; }

 private:
  using GroupKey = std::array<std::uint32_t, 4>;  // GPU, path, name, configuration or copy kind
  struct KeyHash {
    std::size_t operator()(const GroupKey& key) const noexcept;
  };
  struct Repeated {
    std::uint64_t range = 0;                         // of the last launch
    std::uint32_t launches = 0;                      // in that range, less 1
    std::array<std::uint32_t, kMaxPlaces> groups{};  // by launch number in the range; 0: none yet
  };
  OrderedWork ordered(const KernelRecord& kernel);
  OrderedWork ordered(const MemcpyRecord& copy);
  OrderedWork ordered(const MemsetRecord& memset);
  OrderedWork ordered(const GraphRecord& graph);
  OrderedWork ordered(const GpuWork& work, std::uint32_t name, std::uint32_t what);
  std::uint32_t path_at(std::uint32_t path);
  std::uint32_t owner_at(std::uint32_t path, std::uint32_t name, bool selected);
  Repeated& repeated_at(GroupKey key);
  std::uint32_t group_of(Repeated& repeated, std::uint64_t range);
  std::uint32_t new_group();

  std::unordered_map<std::uint32_t, std::uint32_t> parent_ids_, path_positions_;
  std::vector<std::uint32_t> paths_, parents_;
  const Selection* selection_;
  std::array<std::unordered_map<std::uint64_t, std::uint32_t>, 2> owner_positions_;  // not selected, selected
  std::vector<Owner> owners_;
  std::uint32_t numbers_ = 0;
  std::unordered_map<GroupKey, Repeated, KeyHash> repeated_;
  std::unordered_map<GroupKey, std::uint32_t, KeyHash> configurations_;  // number per kernel of a path
  std::size_t groups_ = 1;  // group 0: all work beyond the limits
  struct Durations {
    double ns = 0, count = 0;
  };
  std::vector<Durations> durations_;  // by group
  L2Sizes l2_sizes_;
  StreamOrder streams_;
};

}  // namespace rangefinder
