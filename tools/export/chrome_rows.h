// SPDX-License-Identifier: Apache-2.0
//
// Which row of the timeline an event goes to, and the names of the rows.
//
//   stream 13   ▇▇▇ ▇▇▇▇▇      ▇▇▇        kernels of one stream may overlap (programmatic dependent
//   stream 13 (2)    ▇▇▇▇  ▇▇▇▇▇          launch, branches of a graph): a second lane takes them
//
// Slices of a row must nest, or readers drop or move them. Threads keep their own id as row; streams
// too where it is free; all other rows get ids above any thread's.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/export/chrome_events.h"

namespace rangefinder {

/// What a group of lanes shows. Part of the key, and the order of the rows of a process.
enum class RowKind : std::uint8_t { stream, annotation, domain, overhead, counter_range };

/// A group of lanes: stream `number` of context `owner`, …
struct RowKey {
  std::uint32_t pid = 0;
  RowKind kind = RowKind::stream;
  std::uint32_t owner = 0, number = 0, level = 0;
  auto operator<=>(const RowKey&) const = default;
};

/// Not thread-safe. Memory grows with the number of rows.
class ChromeRows {
 public:
  explicit ChromeRows(ChromeEvents& events) : events_(events) {}

  void process(std::uint32_t pid, const std::string& name, std::uint32_t sort_index);
  /// The row of a host thread; writes its name at the first call. Thread 0 gets a row of its own.
  [[nodiscard]] ChromeRow thread(std::uint32_t pid, std::uint32_t thread, const std::string& name);
  /// The first lane of the group in which everything ended by `start_ns`. `wanted_tid` is its first
  /// lane's id if that is free; 0: any. `name()` is asked for when a lane is new.
  template <typename Name>
  [[nodiscard]] ChromeRow lane(const RowKey& key, std::uint32_t wanted_tid, TimeNs start_ns, TimeNs end_ns,
                               Name&& name) {
    Lane* lane = free_lane(key, start_ns);
    if (lane == nullptr) lane = &add_lane(key, wanted_tid, name());
    lane->last_end_ns = lane->last_end_ns < end_ns ? end_ns : lane->last_end_ns;
    return lane->row;
  }

 private:
  // More at once than this overlap in the last lane; a GPU runs 128 grids at most.
  static constexpr std::size_t kMaxLanes = 128;
  // Above PID_MAX_LIMIT (2^22): no thread has such an id.
  static constexpr std::uint32_t kFirstOwnTid = 1u << 23;

  struct Lane {
    ChromeRow row;
    TimeNs last_end_ns = INT64_MIN;
  };
  /// nullptr: all are busy, and there may be more.
  [[nodiscard]] Lane* free_lane(const RowKey& key, TimeNs start_ns);
  /// To the group that free_lane() looked at.
  [[nodiscard]] Lane& add_lane(const RowKey& key, std::uint32_t wanted_tid, const std::string& name);
  [[nodiscard]] ChromeRow make_row(std::uint32_t pid, std::uint32_t wanted_tid, const std::string& name);

  ChromeEvents& events_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ChromeRow> threads_;  // by pid and thread
  std::map<RowKey, std::vector<Lane>> lanes_;
  RowKey last_key_;
  std::vector<Lane>* last_ = nullptr;  // of last_key_: most events follow one of the same row
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken_;
  std::uint32_t next_tid_ = kFirstOwnTid;
};

}  // namespace rangefinder
