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
// Owner thread only, except for for_each() and innermost_of_other(). The fields that they
// read are atomics for this reason only. A slot is rewritten in the order id = 0, fields,
// id: a reader that finds the same id before and after the fields has read one consistent
// range. Allocates once, at the first extended payload.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "profiler/events/nvtx_attributes.h"
#include "schema/record.h"

namespace rangefinder {

class RangeStack {
  static constexpr auto kRelaxed = std::memory_order_relaxed, kRelease = std::memory_order_release,
                        kAcquire = std::memory_order_acquire;

 public:
  static constexpr std::size_t kMaxDepth = kMaxPathDepth;
  static constexpr int kNotOpen = -1;

  struct Range {
    std::atomic<std::uint64_t> id{0};
    std::atomic<std::int64_t> start_ns{0};  ///< CLOCK_REALTIME, absolute
    std::atomic<std::uint64_t> payload{0};
    std::atomic<std::uint32_t> path{0};
    std::atomic<std::uint32_t> domain{0};
    std::atomic<std::uint32_t> category{0};
    std::atomic<std::uint32_t> color{0};
    std::atomic<PayloadType> payload_type{PayloadType::none};
    // Owner thread only.
    std::uint16_t extended_bytes = 0;  ///< in payloads_, schema id included; 0: none
    std::uint32_t extended_at = 0;
    std::uint32_t name = 0;
    std::uint32_t level = 0;  ///< in its domain
  };

  /// Path and innermost range instance of the thread; 0 outside of any range.
  [[nodiscard]] std::uint32_t path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t range() const noexcept { return range_; }
  /// The innermost open range with this path; 0: none.
  [[nodiscard]] std::uint64_t open_range(std::uint32_t path) const noexcept {
    for (std::size_t level = depth(); level-- > 0;) {
      if (open_[level].path.load(kRelaxed) == path) return open_[level].id.load(kRelaxed);
    }
    return 0;
  }
  /// Open levels of all domains, without those beyond kMaxDepth.
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_.load(kRelaxed); }
  /// Open levels in `domain`, including those beyond kMaxDepth: the value that NVTX push and pop return.
  [[nodiscard]] int depth(std::uint32_t domain) const noexcept;

  /// The outermost range is to hang below `path`, which has `levels` levels. While none is open.
  void set_base(std::uint32_t path, std::uint32_t levels) noexcept {
    base_ = path_ = path;
    base_depth_ = levels;
  }
  [[nodiscard]] bool has_base() const noexcept { return base_ != 0; }

  /// The next push into `domain` can only be counted, by push_too_deep().
  [[nodiscard]] bool is_too_deep(std::uint32_t domain) noexcept {
    return depth() + base_depth_ >= kMaxDepth || is_counted(domain);
  }
  /// The innermost range of `domain` is only counted: pop_too_deep() closes it.
  [[nodiscard]] bool is_counted(std::uint32_t domain) noexcept { return too_deep(domain, false) != nullptr; }
  /// Both return the level in the domain.
  int push_too_deep(std::uint32_t domain) noexcept;
  int pop_too_deep(std::uint32_t domain) noexcept;

  /// Opens a range and returns its level in its domain. `path`: of its name below path().
  int push(std::uint32_t domain, std::uint32_t name, std::uint32_t path, std::uint64_t id,
           std::int64_t start_ns, const NvtxAttributes& attributes) noexcept {
    const std::uint32_t depth = this->depth();
    Range& range = open_[depth];
    const std::size_t below = innermost(domain);
    range.level = below == kNone ? 0 : open_[below].level + 1;
    range.id.store(0, kRelaxed);
    range.payload.store(attributes.payload, kRelease);
    range.path.store(path, kRelease);
    range.domain.store(domain, kRelease);
    range.category.store(attributes.category, kRelease);
    range.color.store(attributes.color, kRelease);
    range.payload_type.store(attributes.payload_type, kRelease);
    range.name = name;
    range.extended_bytes = 0;
    path_ = path;
    range_ = id;
    range.start_ns.store(start_ns, kRelease);
    range.id.store(id, kRelease);
    depth_.store(depth + 1, kRelease);
    return static_cast<int>(range.level);
  }

  /// Closes the innermost range of `domain` and returns its level, or kNotOpen. Calls closed(range, id)
  /// first: for_each() no longer has the id, but path() and range() are still those of before.
  /// `path_of(parent, name, domain)`: the new paths of the ranges above.
  template <typename Closed, typename PathOf>
  int pop(std::uint32_t domain, Closed closed, PathOf path_of) noexcept {
    const std::size_t level = innermost(domain);
    if (level == kNone) [[unlikely]]
      return kNotOpen;
    Range& range = open_[level];
    const int domain_level = static_cast<int>(range.level);
    const std::uint64_t id = range.id.load(kRelaxed);
    range.id.store(0, kRelease);
    closed(range, id);
    remove(level, path_of);
    return domain_level;
  }

  /// Any thread: visit(range, id) for every open range, outermost first. The owner may close it meanwhile;
  /// then `range.id` is another one.
  template <typename Visit>
  void for_each(Visit visit) const noexcept {
    const std::size_t depth = std::min<std::size_t>(depth_.load(kAcquire), kMaxDepth);
    for (std::size_t level = 0; level < depth; ++level) visit(open_[level], open_[level].id.load(kAcquire));
  }
  /// Any thread: path and id of the innermost range; {0, 0}: none is open, or it changes too often to be
  /// read.
  [[nodiscard]] std::pair<std::uint32_t, std::uint64_t> innermost_of_other() const noexcept;

  /// Stores the extended payload of the range opened last. False: it was cut, or there was no room for it.
  [[nodiscard]] bool store_payload(const NvtxPayload& payload) noexcept;
  /// Of a range with extended_bytes, valid until the next push.
  [[nodiscard]] NvtxPayload payload_of(const Range& range) const noexcept;

  /// No range is open any more.
  void clear() noexcept;

 private:
  static constexpr std::size_t kNone = kMaxDepth;
  // Holds the extended payloads of open ranges one after the other, in the order of the ranges.
  static constexpr std::size_t kPayloadStoreBytes = 65'536;
  struct TooDeep {
    std::uint32_t domain = 0;
    std::uint32_t count = 0;
  };
  /// Level of the innermost named range of `domain`, or kNone.
  [[nodiscard]] std::size_t innermost(std::uint32_t domain) const noexcept {
    for (std::size_t level = depth(); level-- > 0;) {
      if (open_[level].domain.load(kRelaxed) == domain) return level;
    }
    return kNone;
  }
  template <typename PathOf>
  void remove(std::size_t level, PathOf path_of) noexcept {
    const std::uint32_t depth = this->depth() - 1;
    const bool had_payload = open_[level].extended_bytes != 0;
    std::uint32_t parent = level == 0 ? base_ : open_[level - 1].path.load(kRelaxed);
    for (std::size_t i = level; i < depth; ++i) {
      const Range& above = open_[i + 1];
      parent = path_of(parent, above.name, above.domain.load(kRelaxed));
      move(above, open_[i], parent);
    }
    depth_.store(depth, kRelease);
    if (depth == 0) base_ = base_depth_ = parent = 0;
    path_ = parent;
    range_ = depth == 0 ? 0 : open_[depth - 1].id.load(kRelaxed);
    if (had_payload) [[unlikely]]
      remove_payload();
  }
  static void move(const Range& from, Range& to, std::uint32_t path) noexcept;
  void remove_payload() noexcept;
  /// Counter of the ranges of `domain` beyond kMaxDepth; nullptr: none, and `add` is false.
  [[nodiscard]] TooDeep* too_deep(std::uint32_t domain, bool add) noexcept {
    return too_deep_total_ == 0 && !add ? nullptr : find_too_deep(domain, add);
  }
  [[nodiscard]] TooDeep* find_too_deep(std::uint32_t domain, bool add) noexcept;

  std::array<Range, kMaxDepth> open_{};
  std::atomic<std::uint32_t> depth_{0};
  std::uint32_t path_ = 0;
  std::uint64_t range_ = 0;
  std::uint32_t base_ = 0,
                base_depth_ = 0;  // path below which the outermost range hangs, and its levels; 0: none
  std::uint32_t too_deep_total_ = 0;
  std::array<TooDeep, 8> too_deep_{};      // by domain; the last entry is shared by all further domains
  std::unique_ptr<std::byte[]> payloads_;  // kPayloadStoreBytes, allocated on first use
  std::size_t payloads_used_ = 0;
};

}  // namespace rangefinder
