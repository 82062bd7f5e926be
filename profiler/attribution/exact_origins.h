// SPDX-License-Identifier: Apache-2.0
//
// Finds the exact line of the launch that a record of GPU work belongs to.
//
//   ExactRecord (a launch) ─▶ put(): correlation ─▶ slot ◀─ find() ─ KernelRecord, MemcpyRecord, …
//
// An exact line comes before the records of its launch: TraceBuilder delays records that were
// earlier. A launch may have many records (a graph, a batch of copies). So a slot stays until
// another launch needs it, kSlots correlation ids later, when all its records have come.
// Memory is allocated only for exact lines: 96 KiB per 8,192 ids in use, at most 6 MiB. Pure.
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rangefinder {

class ExactOrigins {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << 19;

  struct Origin {
    std::uint32_t correlation = 0;
    std::uint32_t node = kNone;     ///< position of the launch's path in TotalsBuilder
    bool has_timed_kernel = false;  ///< a timed kernel record was found; set by the caller
  };

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
};

}  // namespace rangefinder
