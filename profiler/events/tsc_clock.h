// SPDX-License-Identifier: Apache-2.0
//
// CLOCK_REALTIME from the processor's time-stamp counter (TSC). Application threads read it twice for
// each launch and range, in half the time of clock_gettime().
//
//   drain thread, each turn: (ticks, CLOCK_REALTIME) ──▶ TickRate ──▶ TscClock: a line, valid for a second
//   application thread:      ticks ──▶ line ──▶ ns               no line, or an old one: clock_gettime()
//
// Not used if the kernel itself does not keep time by the counter (the kernel has checked that the counters
// of all processors agree and never stop), nor on other processors than x86-64. It follows a clock that is
// set or steered by NTP within one turn of the drain thread. The line is published as a seqlock: a reader
// that meets the writer calls clock_gettime().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <time.h>

namespace rangefinder {

/// CLOCK_REALTIME in ns: the clock of CUPTI's timestamps (the default source of cuptiGetTimestamp on Linux).
[[nodiscard]] inline std::int64_t clock_now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[nodiscard]] inline std::uint64_t ticks_now() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // <x86intrin.h> would be a third of what each file has to parse
#else
  return 0;
#endif
}

/// Counter and clock at the same moment.
struct TickSample {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

/// ns = at.ns + (ticks - at.ticks) * ns_per_tick / 2^32, up to `valid_ticks` after `at`.
struct TickLine {
  TickSample at;
  std::uint64_t ns_per_tick = 0;  ///< times 2^32; 0: no line
  std::uint64_t valid_ticks = 0;

  [[nodiscard]] bool holds(std::uint64_t ticks) const noexcept { return ticks - at.ticks < valid_ticks; }
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept {
    const auto product = static_cast<unsigned __int128>(ticks - at.ticks) * ns_per_tick;
    return at.ns + static_cast<std::int64_t>(product >> 32);
  }
};

/// Rate of the counter relative to the clock, from samples. Pure; one thread.
class TickRate {
 public:
  /// How long a line is valid. Covers a computer that slept and a drain thread that waits for a disk.
  static constexpr std::int64_t kValidNs = 1'000'000'000;
  /// A line with a larger error jumps to the sample. A smaller error is corrected gradually over kLeadNs, so
  /// that no range ends before it begins.
  static constexpr std::int64_t kJumpNs = 20'000;
  static constexpr std::int64_t kLeadNs =
      100'000'000;  ///< or the time that the last line was in use, if longer

  /// The line from `sample` on; no line after the first few samples.
  TickLine add(const TickSample& sample) noexcept;
  /// Error of the previous line at the last sample.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return error_ns_; }

 private:
  // The rate is measured since the oldest sample: over 0.4 s the uncertainty of 20 ns is negligible, and NTP
  // steering is still noticed.
  static constexpr std::int64_t kSpacingNs = 100'000'000;
  static constexpr std::int64_t kMinPauseNs =
      1'000'000;  // each new line adds a rounding error of a nanosecond
  static constexpr std::int64_t kMinBaseNs = 20'000'000;
  void forget() noexcept;

  std::array<TickSample, 5> kept_{};
  std::size_t next_ = 0, count_ = 0;
  TickLine line_;
  std::int64_t error_ns_ = 0;
};

class TscClock {
 public:
  /// Any thread.
  [[nodiscard]] std::int64_t now_ns() const noexcept {
    const std::uint64_t before = sequence_.load(std::memory_order_acquire);
    TickLine line;
    line.at.ticks = at_ticks_.load(std::memory_order_acquire);
    line.at.ns = at_ns_.load(std::memory_order_acquire);
    line.ns_per_tick = ns_per_tick_.load(std::memory_order_acquire);
    line.valid_ticks = valid_ticks_.load(std::memory_order_acquire);
    const std::uint64_t ticks = ticks_now();
    const bool whole = before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before;
    if (!whole || !line.holds(ticks)) [[unlikely]]
      return clock_now_ns();
    return line.ns(ticks);
  }

  /// Drain thread: reads both clocks and publishes a new line. Does nothing if the counter is not trusted.
  void calibrate() noexcept;
  /// Drain thread: error of the line at the last calibration.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return rate_.error_ns(); }
  /// Whether the counter is in use. Any thread.
  [[nodiscard]] bool running() const noexcept { return valid_ticks_.load(std::memory_order_relaxed) != 0; }

 private:
  /// Whether the kernel keeps time by this counter, and it is invariant.
  [[nodiscard]] static bool is_trusted() noexcept;
  void publish(const TickLine& line) noexcept;

  // No line: valid for 0 ticks.
  alignas(64) std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> at_ticks_{0};
  std::atomic<std::int64_t> at_ns_{0};
  std::atomic<std::uint64_t> ns_per_tick_{0}, valid_ticks_{0};
  alignas(64) TickRate rate_;  // used by calibrate(), like the next
  enum class Trust : std::uint8_t { not_asked, yes, no } trust_ = Trust::not_asked;
};

}  // namespace rangefinder
