// SPDX-License-Identifier: Apache-2.0
//
// CLOCK_REALTIME by the processor's time-stamp counter: for the application's threads, which read
// it twice a launch and twice a range, in half the time of clock_gettime().
//
//   drain thread, each turn: (ticks, CLOCK_REALTIME) ──▶ TickRate ──▶ TscClock: a line, valid for a second
//   application's thread:    ticks ──▶ line ──▶ ns               no line, or an old one: clock_gettime()
//
// Refuses to be used where the kernel itself does not keep time by the counter (it has checked that
// counters of all processors agree and never stop), and off x86-64. A clock that is set, steered by NTP or
// jumps is followed within a turn. The line is published like a seqlock: a reader that meets the writer asks
// the kernel.
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
  return __builtin_ia32_rdtsc();  // <x86intrin.h> for this alone would be a third of what a file has to parse
#else
  return 0;
#endif
}

/// Ticks and time of one moment.
struct TickSample {
  std::uint64_t ticks = 0;
  std::int64_t ns = 0;
};

/// ns = at.ns + (ticks - at.ticks) * ns_per_tick / 2^32, up to `valid_ticks` behind `at`.
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

/// How fast the counter runs against the clock, from samples. Pure; one thread.
class TickRate {
 public:
  /// Lines hold so long. A computer that slept, or a drain thread that waits for a disk, needs no care.
  static constexpr std::int64_t kValidNs = 1'000'000'000;
  /// A line that is off by more jumps to the sample; one that is off by less is led back over kLeadNs,
  /// so that no range ends before it begins.
  static constexpr std::int64_t kJumpNs = 20'000;
  static constexpr std::int64_t kLeadNs = 100'000'000;  ///< or as long as the last line was in use

  /// The line from `sample` on; none yet after the first few.
  TickLine add(const TickSample& sample) noexcept;
  /// What the line before the last sample was off by.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return error_ns_; }

 private:
  // The rate is that since the oldest: 20 ns of doubt about a sample count little in 0.4 s, and
  // steering by NTP is noticed in that time.
  static constexpr std::int64_t kSpacingNs = 100'000'000;
  static constexpr std::int64_t kMinPauseNs = 1'000'000;  // a new line is a nanosecond off by rounding
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

  /// The drain thread: looks at both clocks and draws the line anew. Does nothing where the counter is not
  /// to be trusted.
  void calibrate() noexcept;
  /// The same thread: what the line was off by when it was looked at last.
  [[nodiscard]] std::int64_t error_ns() const noexcept { return rate_.error_ns(); }
  /// The counter is in use. Any thread.
  [[nodiscard]] bool running() const noexcept { return valid_ticks_.load(std::memory_order_relaxed) != 0; }

 private:
  /// The kernel keeps time by this counter, and it is invariant.
  [[nodiscard]] static bool is_trusted() noexcept;
  void publish(const TickLine& line) noexcept;

  // No line: valid for 0 ticks.
  alignas(64) std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> at_ticks_{0};
  std::atomic<std::int64_t> at_ns_{0};
  std::atomic<std::uint64_t> ns_per_tick_{0}, valid_ticks_{0};
  alignas(64) TickRate rate_;  // of calibrate(), like the next
  enum class Trust : std::uint8_t { not_asked, yes, no } trust_ = Trust::not_asked;
};

}  // namespace rangefinder
