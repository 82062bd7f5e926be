// SPDX-License-Identifier: Apache-2.0
//
// Launches and ranges that began after the end of all GPU work. Work follows each launch, so many of them
// mean that records ended early: another tool took CUPTI over.
//
// Add all records of a trace, in file order. Memory: 168 bytes per path.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "schema/record.h"

namespace rangefinder {

class AfterLastWork {
 public:
  static constexpr std::size_t kKept = 20;

  /// Starts of the last kKept.
  struct Latest {
    std::array<TimeNs, kKept> starts_ns{};
    std::size_t count = 0;
    void add(TimeNs start_ns) noexcept { starts_ns[count++ % kKept] = start_ns; }
    void add(const Latest& later) noexcept {
      for (std::size_t i = later.count - std::min(later.count, kKept); i < later.count; ++i)
        add(later.starts_ns[i % kKept]);
    }
    [[nodiscard]] std::size_t after(TimeNs time) const noexcept {
      const auto* const first = starts_ns.data();
      return static_cast<std::size_t>(std::count_if(first, first + std::min(count, kKept),
                                                    [time](TimeNs start_ns) { return start_ns > time; }));
    }
  };

  void add(const GpuWork& work) {
    if (work.end_ns != kNoTime && (end_ns_ == kNoTime || work.end_ns > end_ns_)) end_ns_ = work.end_ns;
  }
  void add(const Latest& launches) { launches_.add(launches); }
  void add(const RangeRecord& range) {
    if (range.name == 0) ranges_[range.path].add(range.start_ns);
  }
  void add(const GapRecord&) {
    launches_ = {};
    ranges_.clear();
  }

  /// kNoTime: no work.
  [[nodiscard]] TimeNs end_ns() const noexcept { return end_ns_; }
  /// Of the last kKept launches, or ranges of the path, those that began after all work.
  [[nodiscard]] std::size_t launches() const noexcept { return launches_.after(end_ns_); }
  [[nodiscard]] std::size_t ranges(std::uint32_t path) const noexcept {
    const auto at = ranges_.find(path);
    return at == ranges_.end() ? 0 : at->second.after(end_ns_);
  }

 private:
  TimeNs end_ns_ = kNoTime;
  Latest launches_;
  std::unordered_map<std::uint32_t, Latest> ranges_;
};

}  // namespace rangefinder
