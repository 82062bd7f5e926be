// SPDX-License-Identifier: Apache-2.0
//
// Memory for our library when malloc fails.
//
//   operator new (injection/operator_new.cpp) ─▶ malloc ─ no memory ─▶ EmergencyPool ─ used up ─▶ bad_alloc
//
// Some `noexcept` code allocates, for example the destructor of a JSON object. A failed malloc there would
// end the application. So a pool in static storage serves small requests; its pages cost nothing until they
// are touched. One half is kept for allocations during stack unwinding, when such destructors run.
//
// Any thread, without a lock. Memory becomes free again only when all of it has been given back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

class EmergencyPool {
 public:
  static constexpr std::size_t kBytes = std::size_t{2} << 20;

  /// nullptr: used up, or `alignment` is over 4096. `unwinding`: an exception is in flight.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment, bool unwinding) noexcept;
  /// False: `memory` is not from the pool, and nothing was done.
  bool give_back(const void* memory) noexcept;

 private:
  // Upper 32 bits: blocks in use; lower 32 bits: bytes handed out. Both return to 0 together.
  std::atomic<std::uint64_t> state_{0};
  alignas(4096) std::byte bytes_[kBytes] = {};
};

}  // namespace rangefinder
