// SPDX-License-Identifier: Apache-2.0
//
// Handles that we return to applications: a tag and an id, without memory behind them.
//
//   domain  0x52460001'00000000 | id        string  0x52460002'00000000 | name id
//
// If a chained tool returned a handle for the same object, the application gets that
// one. So every later call and payload is valid for that tool without translation. IdMap
// maps such handles to our ids.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "profiler/guest/host_mutex.h"
#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// Map of 64-bit keys other than 0 to ids. find(): any thread, no lock. Bounded, never shrinks.
class IdMap {
 public:
  static constexpr std::size_t kMaxEntries = 32'768;

  /// 0: unknown.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept;
  /// One thread at a time. A known key gets the new id. False: full.
  bool insert(std::uint64_t key, std::uint32_t id) noexcept;

 private:
  static constexpr std::size_t kSlots = 2 * kMaxEntries;
  struct Slot {
    std::atomic<std::uint64_t> key{0};
    std::atomic<std::uint32_t> id{0};
  };
  std::size_t used_ = 0;
  std::atomic<Slot*> slots_{nullptr};  // allocated by the first insert(), never freed
};

/// Domain of a handle; NULL and unknown handles are the default domain, 0.
[[nodiscard]] std::uint32_t domain_of(nvtxDomainHandle_t handle) noexcept;
/// Name of a registered string; unknown handles are kOtherName.
[[nodiscard]] std::uint32_t name_of_string(nvtxStringHandle_t handle) noexcept;
/// The handle to pass to a chained tool: NULL if the tool did not create it.
[[nodiscard]] nvtxDomainHandle_t chained_domain(nvtxDomainHandle_t handle) noexcept;

/// Also held during fork().
[[nodiscard]] HostMutex& handles_mutex() noexcept;

}  // namespace rangefinder
