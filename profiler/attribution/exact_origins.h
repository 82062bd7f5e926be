// SPDX-License-Identifier: Apache-2.0
//
// Finds the exact line of the launch that a record of GPU work belongs to.
//
//   ExactRecord (a launch) ─▶ put(): correlation ─▶ slot ◀─ find() ─ KernelRecord, MemcpyRecord, …
//
// An exact line comes before the records of its launch: TraceBuilder delays records that were
// earlier. A launch may have many records (a graph, a batch of copies). So a slot stays until
// another launch needs it, kSlots correlation ids later, when all its records have come.
// Memory is allocated only for exact lines: 96 KiB per 8,192 ids in use, at most 6 MiB.
//
// Records of a graph launch are too many to delay, and come before its line. They are counted by
// path (hold) until the line takes them (take). Pure. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rangefinder {

class ExactOrigins {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 19;

  struct Origin {
    std::uint32_t correlation = 0;
    std::uint32_t node = kNone;     ///< position of the launch's path in TotalsBuilder
    bool has_timed_kernel = false;  ///< a timed kernel record was found; set by the caller
  };

  /// Launches whose records can be held: more than one batch of counter ranges has.
  static constexpr std::size_t kMaxHeld = 4'096;
  /// Records of a graph launch that came before its exact line.
  struct Held {
    struct Records {
      std::uint32_t node = 0;
      std::uint64_t count = 0;
    };
    std::vector<Records> records;
    std::uint64_t timed_kernels = 0, kernels_ns = 0;
  };

  /// Counts a record of the launch. Too many launches: `drop` receives what the oldest one holds.
  template <typename Drop>
  Held& hold(std::uint32_t correlation, std::uint32_t node, Drop&& drop) {
    const auto [at, added] = held_.try_emplace(correlation);
    if (added) held_order_.push_back(correlation);
    std::vector<Held::Records>& records = at->second.records;
    // From the back: the next record is nearly always of the last path.
    const auto same = std::find_if(records.rbegin(), records.rend(),
                                   [&](const Held::Records& known) { return known.node == node; });
    if (same != records.rend()) {
      ++same->count;
    } else {
      records.push_back({node, 1});
    }
    Held& held = at->second;
    if (held_.size() > kMaxHeld) {
      const auto oldest = held_.find(held_order_.front());
      held_order_.pop_front();
      if (oldest != held_.end()) {
        drop(oldest->second);
        held_.erase(oldest);
      }
    }
    return held;
  }
  /// The exact line of the launch has come: what its records so far hold.
  [[nodiscard]] std::optional<Held> take(std::uint32_t correlation) {
    const auto at = held_.find(correlation);
    if (at == held_.end()) return std::nullopt;
    Held held = std::move(at->second);
    held_.erase(at);
    // Lines come in the order of their launches.
    while (!held_order_.empty() && held_.find(held_order_.front()) == held_.end()) held_order_.pop_front();
    return held;
  }
  [[nodiscard]] const std::unordered_map<std::uint32_t, Held>& held() const noexcept { return held_; }

  void put(std::uint32_t correlation, std::uint32_t node) {
    const std::size_t slot = correlation % kSlots;
    std::unique_ptr<Page>& page = pages_[slot / kPageSlots];
    if (!page) page = std::make_unique<Page>();
    (*page)[slot % kPageSlots] = {correlation, node, false};
  }
  /// nullptr: the launch has no exact line.
  [[nodiscard]] Origin* find(std::uint32_t correlation) noexcept {
    const std::size_t slot = correlation % kSlots;
    const std::unique_ptr<Page>& page = pages_[slot / kPageSlots];
    if (!page) return nullptr;
    Origin& origin = (*page)[slot % kPageSlots];
    return origin.node != kNone && origin.correlation == correlation ? &origin : nullptr;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kPageSlots = 8'192;
  using Page = std::array<Origin, kPageSlots>;
  std::array<std::unique_ptr<Page>, kSlots / kPageSlots> pages_;
  std::unordered_map<std::uint32_t, Held> held_;
  std::deque<std::uint32_t> held_order_;  // oldest first; may name launches that were taken
};

}  // namespace rangefinder
