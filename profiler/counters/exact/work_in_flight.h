// SPDX-License-Identifier: Apache-2.0
//
// Streams of one context that may hold work which has not ended.
//
// Before anything drains the GPU we must know that nothing there waits for work yet to be
// launched: such a drain would never end, and cannot be taken back (docs/decisions.md). So
// streams are asked, with cuStreamQuery: beside the exchange of the current context the one
// CUDA call that we make inside of callbacks. Not thread-safe: ExactContext's lock.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

/// cuStreamQuery, looked up in the driver that is loaded already; nullptr without one.
using StreamQuery = CUresult (*)(CUstream);
[[nodiscard]] StreamQuery find_stream_query() noexcept;

class WorkInFlight {
 public:
  static constexpr std::size_t kMaxStreams = 64;

  explicit WorkInFlight(StreamQuery query) noexcept : query_(query) {}

  /// Work goes to `stream`; `name`: NameTable id of the kernel, 0 if it is none; `may_wait`: it is known
  /// to wait for others. False: too many streams have work to follow this one.
  [[nodiscard]] bool add(CUstream stream, std::uint32_t name, bool may_wait) noexcept;
  /// All of it has ended. Asks the driver only about streams that had work since they last were idle.
  [[nodiscard]] bool idle() noexcept;
  /// idle() again and again, for so long.
  [[nodiscard]] bool wait(std::int64_t patience_ns) noexcept;
  /// The stream ends to exist.
  void forget(CUstream stream) noexcept;

  /// Kernel launched last into a stream that is not idle, unless it is known to wait; 0: there is none.
  [[nodiscard]] std::uint32_t unfinished() const noexcept;
  /// Something that is known to wait for others may not have ended.
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
