// SPDX-License-Identifier: Apache-2.0
//
// The join: from a GPU record's correlation id to the launch that caused it.
//
//   Event(launch) ─▶ put() ─▶ slot [correlation mod kSlots] ─▶ take() ◀─ kernel record
//                    graph launches ─▶ a map of their own      graph record: look() only
//
// Records normally come after their launch's event; where one comes first the caller
// keeps it and asks again. A slot knows its whole correlation id, so a wrapped or
// foreign id finds nothing rather than the wrong launch. A graph's records come many
// and late, and would wait in slots that plain launches overwrite: hence the map,
// bounded to the youngest kGraphLaunches.
//
// Drain thread only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// What a GPU record wants to know about its launch.
struct LaunchOrigin {
  std::uint32_t path = 0;
  std::uint64_t range = 0;
  std::uint32_t kernel = 0;  ///< NameTable id; 0: the record itself has the right name
};

class LaunchTable {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 19;
  static constexpr std::size_t kGraphLaunches = 65'536;

  LaunchTable();

  /// A launch of `kind` that succeeded. `expect_record` false: made while a stream was being
  /// captured, so that a record may never come and its absence is no loss.
  void put(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, bool expect_record);
  /// A launch that may have a record or none: records were switched on or off during its call. It is in the
  /// balance once its record has come.
  void put_at_edge(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin) {
    store(correlation, kind, origin, State::at_edge);
  }
  /// A launch in an exact window: its line, written elsewhere, settles the balance. Its record is
  /// expected like any other's, and missed if it never comes: the kernel's time is there.
  void put_exact(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, bool expect_record);

  /// The launch of a record, marked as recorded. Empty: not (yet) known.
  [[nodiscard]] std::optional<LaunchOrigin> find(std::uint32_t correlation, bool of_graph);

  /// Launches whose record has not come yet.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }

  /// Ends the count: launches that still wait for a record are lost.
  void close();

  /// By WorkKind. launched = recorded + exact + lost once close() was called.
  [[nodiscard]] const std::array<LaunchBalance, 4>& balance() const noexcept { return balance_; }
  /// Of those that count as exact: their record never came.
  [[nodiscard]] std::uint64_t exact_without_record() const noexcept { return exact_without_record_; }
  /// Launches pushed out of their slot before their record came (part of `lost`, or of the exact ones
  /// without record).
  [[nodiscard]] std::uint64_t overwritten() const noexcept { return overwritten_; }

 private:
  enum class State : std::uint8_t { empty, waiting, exact_waiting, optional, at_edge, recorded };
  struct Slot {
    std::uint64_t range = 0;
    std::uint32_t correlation = 0;
    std::uint32_t path = 0;
    std::uint32_t kernel = 0;
    WorkKind kind = WorkKind::kernel;
    State state = State::empty;
  };
  void store(std::uint32_t correlation, WorkKind kind, const LaunchOrigin& origin, State state);
  [[nodiscard]] static bool is_waiting(State state) noexcept {
    return state == State::waiting || state == State::exact_waiting;
  }
  void settle(Slot& slot) noexcept;   // a slot is about to be reused or the count ends
  void replace(Slot& slot) noexcept;  // by another launch

  [[nodiscard]] LaunchBalance& balance_of(WorkKind kind) noexcept {
    return balance_[static_cast<std::size_t>(kind)];
  }

  std::vector<Slot> slots_;
  std::unordered_map<std::uint32_t, Slot> graphs_;
  std::deque<std::uint32_t> graph_order_;  // oldest first
  std::array<LaunchBalance, 4> balance_{};
  std::uint64_t exact_without_record_ = 0;
  std::uint64_t overwritten_ = 0;
  std::uint64_t waiting_ = 0;
};

}  // namespace rangefinder
