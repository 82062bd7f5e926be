// SPDX-License-Identifier: Apache-2.0
//
// Assigns events to rows of the timeline, and names the rows.
//
//   stream 13   ▇▇▇ ▇▇▇▇▇      ▇▇▇        kernels of one stream may overlap (programmatic dependent
//   stream 13 (2)    ▇▇▇▇  ▇▇▇▇▇          launch, branches of a graph): they get a second lane
//
// Slices of a row must nest, or readers drop or move them. The row id of a thread is the thread's id, that of
// a stream the stream's id if it is free. All other rows have ids above any thread id.
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

/// The content of a group of lanes. Part of the key; also the order of rows in a process.
enum class RowKind : std::uint8_t { stream, annotation, domain, overhead, counter_range, stacks };

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
  /// The row of a host thread; the first call writes its name. Thread 0 gets an id above any thread id.
  [[nodiscard]] ChromeRow thread(std::uint32_t pid, std::uint32_t thread, const std::string& name);
  /// The first lane of the group that is free at `start_ns`. `wanted_tid`: id of the first lane, used if it
  /// is free; 0: any. Calls `name()` for a new lane.
  template <typename Name>
  [[nodiscard]] ChromeRow lane(const RowKey& key, std::uint32_t wanted_tid, TimeNs start_ns, TimeNs end_ns,
                               Name&& name) {
    Lane* lane = free_lane(key, start_ns);
    if (lane == nullptr) lane = &add_lane(key, wanted_tid, name());
    lane->last_end_ns = lane->last_end_ns < end_ns ? end_ns : lane->last_end_ns;
    return lane->row;
  }

 private:
  // A GPU runs at most 128 grids at once. Beyond that, slices overlap in the last lane.
  static constexpr std::size_t kMaxLanes = 128;
  // Above PID_MAX_LIMIT (2^22): no thread has such an id.
  static constexpr std::uint32_t kFirstOwnTid = 1u << 23;

  struct Lane {
    ChromeRow row;
    TimeNs last_end_ns = INT64_MIN;
  };
  /// nullptr: all lanes are busy, and another one is allowed.
  [[nodiscard]] Lane* free_lane(const RowKey& key, TimeNs start_ns);
  /// Adds a lane to the group of the last free_lane().
  [[nodiscard]] Lane& add_lane(const RowKey& key, std::uint32_t wanted_tid, const std::string& name);
  [[nodiscard]] ChromeRow make_row(std::uint32_t pid, std::uint32_t wanted_tid, const std::string& name);

  ChromeEvents& events_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ChromeRow> threads_;  // by pid and thread
  std::map<RowKey, std::vector<Lane>> lanes_;
  RowKey last_key_;
  std::vector<Lane>* last_ = nullptr;  // lanes of last_key_: consecutive events mostly share a row
  std::set<std::pair<std::uint32_t, std::uint32_t>> used_tids_;
  std::uint32_t next_tid_ = kFirstOwnTid;
};

}  // namespace rangefinder
