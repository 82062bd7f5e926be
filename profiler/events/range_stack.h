// SPDX-License-Identifier: Apache-2.0
//
// The open push/pop ranges of one thread, over all domains, outermost first.
//
//   level   0        1          2                  path(): id of model/decoder/self_attn
//         model    decoder    self_attn  ◀ top     range(): id of the self_attn instance
//
// NVTX pops per domain, so the range that closes need not be the top one. The ranges
// above it then get the path they would have without it. Beyond kMaxDepth ranges are
// only counted: the path stays that of the last named level.
//
// Owner thread only, except for ThreadState::close_all(), which the drain thread calls
// when recording stops. The fields that it reads are atomics for this reason only. A
// slot is rewritten in the order id = 0, fields, id: a reader that finds the same id
// before and after the fields has read one consistent range.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "schema/record.h"

namespace rangefinder {

/// Extended payload of one NVTX event. `data` is borrowed from the application.
struct NvtxPayload {
  std::uint64_t schema = 0;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// Attributes of an NVTX range or mark besides its text; `payload` holds the bits of the value.
struct NvtxAttributes {
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  PayloadType payload_type = PayloadType::none;
  std::uint64_t payload = 0;
  const NvtxPayload* extended = nullptr;
};

struct OpenRange {
  std::atomic<std::uint64_t> id{0};
  std::atomic<std::int64_t> start_ns{0};  ///< CLOCK_REALTIME, absolute
  std::atomic<std::uint64_t> payload{0};
  std::atomic<std::uint32_t> path{0};
  std::atomic<std::uint32_t> domain{0};
  std::atomic<std::uint32_t> category{0};
  std::atomic<std::uint32_t> color{0};
  std::atomic<PayloadType> payload_type{PayloadType::none};
  // Owner thread only.
  std::uint16_t extended_bytes = 0;  ///< in the thread's payload store, schema id included; 0: none
  std::uint32_t extended_at = 0;
  std::uint32_t name = 0;
  std::uint32_t level = 0;  ///< in its domain
};

class RangeStack {
 public:
  static constexpr std::size_t kMaxDepth = kMaxPathDepth;

  /// Path and innermost range instance of the thread; 0 outside of any range.
  [[nodiscard]] std::uint32_t path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t range() const noexcept { return range_; }
  /// Open levels in `domain`, including those beyond kMaxDepth: the value that NVTX push and pop return.
  [[nodiscard]] int depth(std::uint32_t domain) const noexcept;

 private:
  friend class ThreadRegistry;
  friend class ThreadState;
  static constexpr std::size_t kNone = kMaxDepth;
  struct TooDeep {
    std::uint32_t domain = 0;
    std::uint32_t count = 0;
  };
  /// Any thread: path and id of the innermost range; {0, 0}: none is open, or it changes too often to be
  /// read.
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> innermost_of_other() const noexcept {
    constexpr int kAttempts = 8;
    for (int i = 0; i < kAttempts; ++i) {
      const std::size_t depth = depth_.load(std::memory_order_acquire);
      if (depth == 0 || depth > kMaxDepth) return {0, 0};
      const OpenRange& range = open_[depth - 1];
      const std::uint64_t id = range.id.load(std::memory_order_acquire);
      const std::uint32_t path = range.path.load(std::memory_order_acquire);
      if (id != 0 && range.id.load(std::memory_order_acquire) == id) return {path, id};
    }
    return {0, 0};
  }
  /// Level of the innermost named range of `domain`, or kNone.
  [[nodiscard]] std::size_t innermost(std::uint32_t domain) const noexcept {
    for (std::size_t level = depth_.load(std::memory_order_relaxed); level-- > 0;) {
      if (open_[level].domain.load(std::memory_order_relaxed) == domain) return level;
    }
    return kNone;
  }
  /// Counter of the ranges of `domain` beyond kMaxDepth; nullptr: none, and `add` is false.
  [[nodiscard]] TooDeep* too_deep(std::uint32_t domain, bool add) noexcept;

  std::array<OpenRange, kMaxDepth> open_{};
  std::atomic<std::uint32_t> depth_{0};
  std::uint32_t path_ = 0;
  std::uint64_t range_ = 0;
  std::uint32_t base_ = 0,
                base_depth_ = 0;  // path below which the outermost range hangs, and its levels; 0: none
  std::uint32_t too_deep_total_ = 0;
  std::array<TooDeep, 8> too_deep_{};  // by domain; the last entry is shared by all further domains
};

}  // namespace rangefinder
