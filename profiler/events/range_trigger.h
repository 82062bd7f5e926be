// SPDX-License-Identifier: Apache-2.0
//
// Listener for NVTX ranges that open and close windows. Implemented in control/, called
// from the NVTX handlers on every push and pop. Without a listener they only read one
// pointer.
#pragma once

#include <cstdint>

namespace rangefinder {

class RangeTrigger {
 public:
  RangeTrigger() = default;
  virtual ~RangeTrigger() = default;
  RangeTrigger(const RangeTrigger&) = delete;
  RangeTrigger& operator=(const RangeTrigger&) = delete;

  /// Application thread: `range` was just opened at `path`, before any launch in it. `level`: among the
  /// thread's open ranges over all domains, 0 is outermost.
  virtual void on_push(std::uint64_t range, std::uint32_t path, std::uint32_t level,
                       std::int64_t now_ns) noexcept = 0;
  /// Application thread: `range` was just closed.
  virtual void on_pop(std::uint64_t range, std::int64_t now_ns) noexcept = 0;
};

}  // namespace rangefinder
