// SPDX-License-Identifier: Apache-2.0
//
// What applications get from us as handles: no memory, a tag and an id.
//
//   domain  0x52460001'00000000 | id        string  0x52460002'00000000 | name id
//
// Where a chained tool gave a handle for the same thing, the application gets that
// one, so that every call and every payload means the right thing to that tool
// without translation; IdMap knows which of our ids it stands for.
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
  std::atomic<Slot*> slots_{nullptr};  // made by the first insert(), leaked
};

/// Domain of a handle; NULL and what we do not know is the default domain, 0.
[[nodiscard]] std::uint32_t domain_of(nvtxDomainHandle_t handle) noexcept;
/// Name of a registered string; what we do not know is kOtherName.
[[nodiscard]] std::uint32_t name_of_string(nvtxStringHandle_t handle) noexcept;
/// The handle to give to a chained tool: NULL for one that it never made.
[[nodiscard]] nvtxDomainHandle_t chained_domain(nvtxDomainHandle_t handle) noexcept;

/// What fork() takes, too.
[[nodiscard]] HostMutex& handles_mutex() noexcept;

}  // namespace rangefinder
