// SPDX-License-Identifier: Apache-2.0
//
// What our library allocates from when the process has no memory left.
//
//   operator new (injection/operator_new.cpp) ─▶ malloc ─ no memory ─▶ EmergencyPool ─ used up ─▶ bad_alloc
//
// Code that is `noexcept` and allocates all the same, the destructor of a JSON object first among them, would
// end the application where malloc fails. So a reserve in static storage serves what is small: its pages cost
// nothing until they are touched. One half is for those who allocate while an exception is under way, which
// is when such destructors run; the other half is for everybody.
//
// Any thread, without a lock. Memory comes back when all of it was given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

class EmergencyPool {
 public:
  static constexpr std::size_t kBytes = std::size_t{2} << 20;

  /// nullptr: used up, or `alignment` is over 4096. `unwinding`: an exception is under way.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool unwinding) noexcept;
  /// False: `memory` is not of the reserve, and nothing was done.
  bool give_back(const void* memory) noexcept;

 private:
  // Uses in the upper 32 bits, bytes in the lower: they begin again at 0 together.
  std::atomic<std::uint64_t> state_{0};
  alignas(4096) std::byte bytes_[kBytes] = {};
};

}  // namespace rangefinder
