// SPDX-License-Identifier: Apache-2.0
//
// Streams of one context that may have unfinished work.
//
// Before a drain we must know that no work on the GPU waits for a later launch. Otherwise the
// drain would never end, and it cannot be cancelled (docs/internals/decisions.md). So streams are
// polled with cuStreamQuery. Besides switching the current context, it is the only CUDA call
// that we make inside callbacks. Not thread-safe: under ExactContext's lock.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

/// cuStreamQuery of the already loaded driver; nullptr without a driver.
using StreamQuery = CUresult (*)(CUstream);
[[nodiscard]] StreamQuery find_stream_query() noexcept;

class WorkInFlight {
 public:
  static constexpr std::size_t kMaxStreams = 64;

  explicit WorkInFlight(StreamQuery query) noexcept : query_(query) {}

  /// Work was launched into `stream`. `name`: NameTable id of the kernel, 0 for other work; `may_wait`: it
  /// is known to wait for other work. False: too many streams have work to track this one.
  [[nodiscard]] bool add(CUstream stream, std::uint32_t name, bool may_wait) noexcept;
  /// All work has ended. Queries only streams that had work since they were last idle.
  [[nodiscard]] bool idle() noexcept;
  /// Polls idle() for up to `patience_ns`.
  [[nodiscard]] bool wait(std::int64_t patience_ns) noexcept;
  /// The stream is destroyed.
  void forget(CUstream stream) noexcept;

  /// The last kernel of a stream that is not idle and not known to wait; 0: none.
  [[nodiscard]] std::uint32_t unfinished() const noexcept;
  /// Work that is known to wait for other work may not have ended.
  [[nodiscard]] bool has_waiter() const noexcept;

 private:
  struct Entry {
    CUstream stream;
    std::uint32_t name;
    bool may_wait;
  };
  const StreamQuery query_;
  std::array<Entry, kMaxStreams> streams_{};
  std::size_t count_ = 0;
};

}  // namespace rangefinder
