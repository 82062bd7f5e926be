// SPDX-License-Identifier: Apache-2.0
//
// Somebody who wants to know when ranges open and close, because they open and close
// windows: implemented in control/, called from the NVTX handlers. Only while there is
// one: then every push and pop asks it, else they read one pointer.
#pragma once

#include <cstdint>

namespace rangefinder {

class RangeTrigger {
 public:
  RangeTrigger() = default;
  virtual ~RangeTrigger() = default;
  RangeTrigger(const RangeTrigger&) = delete;
  RangeTrigger& operator=(const RangeTrigger&) = delete;

  /// Thread of the application: the range `range` has just been opened at `path`; `level`: of the
  /// thread's open ranges over all domains, 0 is outermost. What is launched in it follows.
  virtual void on_push(std::uint64_t range, std::uint32_t path, std::uint32_t level,
                       std::int64_t now_ns) noexcept = 0;
  /// It has just been closed.
  virtual void on_pop(std::uint64_t range, std::int64_t now_ns) noexcept = 0;
};

}  // namespace rangefinder
