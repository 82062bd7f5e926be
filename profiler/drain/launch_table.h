// SPDX-License-Identifier: Apache-2.0
//
// The join: finds the launch that caused a GPU record, by correlation id.
//
//   Event(launch) ─▶ put() ─▶ slot [correlation mod kSlots] ─▶ find()      ◀─ kernel record
//                    graph launches ─▶ a map of their own   ─▶ find()      ◀─ graph record
//                                                           ─▶ find_body() ◀─ record of a conditional body
//
// Records normally come after their launch's event. If one comes first, the caller keeps it
// and tries again. A slot holds the whole correlation id, so a wrapped or foreign id finds
// nothing rather than the wrong launch. A graph launch has many late records, and plain
// launches would overwrite its slot: hence the map. An executable runs one launch after the other, so a
// launch is complete once a later one has a record. The map keeps kDoneLaunches of these, and at most
// kGraphLaunches in all.
//
// Drain thread only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/events/node_paths.h"
#include "schema/record.h"

namespace rangefinder {

/// What a GPU record takes from its launch.
struct LaunchOrigin {
  std::uint32_t path = 0;
  std::uint64_t range = 0;
  std::uint32_t kernel = 0;  ///< NameTable id; 0: the record has the right name itself
};

/// What a launch of kind graph launched.
struct GraphLaunch {
  std::shared_ptr<const LaunchedGraph> graph;  ///< nullptr: unknown
  std::int64_t start_ns = 0;                   ///< of the call
};

class LaunchTable {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 19;
  static constexpr std::size_t kGraphLaunches = 65'536;
  static constexpr std::size_t kDoneLaunches = 512;
  /// With exact lines, which come in batches: the number of launches in several.
  static constexpr std::size_t kDoneExactLaunches = 8'192;
  /// Launches before the newest with a record that late records of bodies may still belong to.
  static constexpr std::size_t kLateBodies = 64;

  LaunchTable();

  /// A successful launch of `kind`. `expect_record` false: a record may never come, as for a
  /// captured launch, and its absence is no loss.
  void put(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, bool expect_record,
           GraphLaunch graph = {});
  /// A launch that may have no record: records were switched on or off during its call. It enters the
  /// balance only when its record comes.
  void put_at_edge(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin,
                   GraphLaunch graph = {}) {
    store(correlation, kind, origin, State::at_edge, std::move(graph));
  }
  /// A launch with an exact line. That line closes its balance. Its record is still expected, for the
  /// kernel's time, and counted as missing if it never comes.
  void put_exact(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, bool expect_record,
                 GraphLaunch graph = {});

  static constexpr std::uint32_t kSeveralGraphs = UINT32_MAX;

  /// `graph` is valid until the next put.
  struct Found : LaunchOrigin {
    const LaunchedGraph* graph = nullptr;  ///< nullptr: no graph launch, or its graph is unknown
    std::uint32_t correlation = 0;
  };
  /// The launch of a record; marks it as recorded. `graph`: the record's, if `of_graph`. Empty: not known
  /// (yet).
  [[nodiscard]] std::optional<Found> find(std::uint32_t correlation, bool of_graph, std::uint32_t graph = 0);
  /// The launch of a record from the body of a conditional node, which names only the executable: the last
  /// one that began before it.
  [[nodiscard]] std::optional<Found> find_body(std::uint32_t executable, std::int64_t start_ns);
  /// The launch by the host that led to a launch of `graph` from the device, by a kernel of `launcher`: the
  /// last one of the executable `launcher` that began before it. Is no record of that launch.
  [[nodiscard]] std::optional<Found> find_device_launch(std::uint32_t launcher, std::uint32_t graph,
                                                        std::int64_t start_ns);
  /// What a launch of kind graph launched. Empty: no such launch.
  struct Launched {
    std::shared_ptr<const LaunchedGraph> graph;  ///< nullptr: unknown
    std::uint32_t id = 0;                        ///< of the graph, by its records; 0: it has none yet
  };
  [[nodiscard]] std::optional<Launched> graph_of(std::uint32_t correlation) const;
  /// Exact lines will come.
  void expect_exact() noexcept { kept_done_ = kDoneExactLaunches; }

  /// Launches whose record has not come yet.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }

  /// Ends the count: launches that still wait for a record count as lost.
  void close();

  /// By WorkKind. launched = recorded + exact + lost once close() was called.
  [[nodiscard]] const std::array<LaunchBalance, 4>& balance() const noexcept { return balance_; }
  /// Exact launches whose record never came.
  [[nodiscard]] std::uint64_t exact_without_record() const noexcept { return exact_without_record_; }
  /// Launches overwritten in their slot before their record came. Part of `lost` or of
  /// exact_without_record().
  [[nodiscard]] std::uint64_t overwritten() const noexcept { return overwritten_; }

 private:
  enum class State : std::uint8_t { empty, waiting, exact_waiting, optional, at_edge, recorded };
  struct Slot {
    std::uint64_t range = 0;
    std::uint32_t correlation = 0;
    std::uint32_t path = 0;
    std::uint32_t kernel = 0;
    std::uint32_t graph = 0;
    WorkKind kind = WorkKind::kernel;
    State state = State::empty;
  };
  struct GraphSlot : Slot {
    GraphLaunch launch;
    bool has_record = false;
    std::list<std::uint32_t>::iterator order;
  };
  using GraphSlots = std::unordered_map<std::uint32_t, GraphSlot>;
  struct Executable {
    std::uint32_t newest_recorded = 0;
    std::deque<std::uint32_t> launches;  // oldest first
  };
  /// The last launch of `executable` that began by `start_ns`; 0: none is known.
  [[nodiscard]] std::uint32_t last_launch(std::uint32_t executable, std::int64_t start_ns) const;
  void store(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, State state,
             GraphLaunch graph);
  void store_graph(std::uint32_t correlation, const Slot& slot, GraphLaunch graph);
  /// Its record has come.
  void note_record(Slot& slot) noexcept;
  void note_graph_record(GraphSlot& slot);
  void erase(GraphSlots::iterator at) noexcept;
  [[nodiscard]] static bool is_waiting(State state) noexcept {
    return state == State::waiting || state == State::exact_waiting;
  }
  void close_slot(Slot& slot) noexcept;  // before it is reused, or when the count ends
  void replace(Slot& slot) noexcept;     // before another launch overwrites it

  [[nodiscard]] LaunchBalance& balance_of(WorkKind kind) noexcept {
    return balance_[static_cast<std::size_t>(kind)];
  }

  std::vector<Slot> slots_;
  GraphSlots graphs_;
  std::list<std::uint32_t> graph_order_;                              // oldest first
  std::unordered_map<std::uint32_t, Executable> executables_;         // of the launches in graphs_
  std::deque<std::uint32_t> done_;                                    // graph launches, oldest first
  std::unordered_map<std::uint32_t, std::uint32_t> device_launches_;  // graph -> launch that led to its last
  std::size_t kept_done_ = kDoneLaunches;
  std::array<LaunchBalance, 4> balance_{};
  std::uint64_t exact_without_record_ = 0;
  std::uint64_t overwritten_ = 0;
  std::uint64_t waiting_ = 0;
};

}  // namespace rangefinder
