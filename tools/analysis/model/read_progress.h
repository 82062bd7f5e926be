// SPDX-License-Identifier: Apache-2.0
//
// How much of a trace has been read, for a progress bar.
//
//   Trace, read_lines: begin(bytes of all segments) ─▶ file reads: add(bytes) ─▶ progress bar
//
// One object per process: a command reads one trace after the other. Counting costs one addition per MiB.
#pragma once

#include <atomic>
#include <cstdint>

namespace rangefinder {

class ReadProgress {
 public:
  /// A pass over files of `bytes` bytes begins. Some commands make several passes.
  void begin(std::uint64_t bytes) noexcept {
    done_.store(0, std::memory_order_relaxed);
    total_.store(bytes, std::memory_order_relaxed);
    passes_.fetch_add(1, std::memory_order_relaxed);
  }
  void add(std::uint64_t bytes) noexcept { done_.fetch_add(bytes, std::memory_order_relaxed); }

  [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t passes() const noexcept { return passes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> done_{0}, total_{0}, passes_{0};
};

inline ReadProgress read_progress;

}  // namespace rangefinder
