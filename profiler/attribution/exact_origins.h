// SPDX-License-Identifier: Apache-2.0
//
// Which records of GPU work are of launches that have an exact line.
//
//   ExactRecord (a launch) ─▶ put(): correlation ─▶ slot ◀─ find() ─ KernelRecord, MemcpyRecord, …
//
// An exact line comes before the records of its launch: TraceBuilder holds those back that
// were earlier. A launch may have many records (a graph, a batch of copies), so a slot stays
// until another launch needs it: kSlots correlation ids later, when its records have come.
// Memory only where there are exact lines: 6 MiB. Pure, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

class ExactOrigins {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 19;

  struct Origin {
    std::uint32_t correlation = 0;
    std::uint32_t node = kNone;     ///< position of the launch's path in TotalsBuilder
    bool has_timed_kernel = false;  ///< of a record; the caller sets it
  };

  void put(std::uint32_t correlation, std::uint32_t node) {
    if (slots_.empty()) slots_.resize(kSlots);
    slots_[correlation % kSlots] = {correlation, node, false};
  }
  /// nullptr: the launch has no exact line.
  [[nodiscard]] Origin* find(std::uint32_t correlation) noexcept {
    if (slots_.empty()) return nullptr;
    Origin& slot = slots_[correlation % kSlots];
    return slot.node != kNone && slot.correlation == correlation ? &slot : nullptr;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<Origin> slots_;
};

}  // namespace rangefinder
