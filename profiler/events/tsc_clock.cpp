// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/tsc_clock.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstring>

namespace rangefinder {
namespace {

constexpr double kFraction = 4'294'967'296.0;  // 2^32

/// The fastest of four readings of both clocks: usually 20 ns of uncertainty.
TickSample best_sample() noexcept {
  TickSample best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t before = ticks_now();
    const std::int64_t ns = clock_now_ns();
    const std::uint64_t took = ticks_now() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, ns};
  }
  return best;
}

bool counter_is_invariant() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007U, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
#else
  return false;
#endif
}

bool kernel_uses_counter() noexcept {
  const int file =
      open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char name[16] = {};
  const ssize_t bytes = read(file, name, sizeof name - 1);
  close(file);
  return bytes > 0 && std::strcmp(name, "tsc\n") == 0;
}

}  // namespace

void TickRate::forget() noexcept {
  next_ = count_ = 0;
  line_ = {};
}

TickLine TickRate::add(const TickSample& sample) noexcept {
  const TickSample* const latest = count_ == 0 ? nullptr : &kept_[(next_ + kept_.size() - 1) % kept_.size()];
  const bool drawn = line_.ns_per_tick != 0 && line_.holds(sample.ticks);
  if (drawn && sample.ns > line_.at.ns && sample.ns - line_.at.ns < kMinPauseNs) return line_;
  error_ns_ = drawn ? sample.ns - line_.ns(sample.ticks) : 0;
  const bool jumped = error_ns_ > kJumpNs || error_ns_ < -kJumpNs;
  // The clock was set, or the computer slept: earlier samples may be invalid.
  const bool went_back = latest != nullptr && (sample.ticks <= latest->ticks || sample.ns <= latest->ns);
  const bool paused = line_.ns_per_tick != 0 && !drawn;
  if (jumped || went_back || paused) forget();

  if (count_ == 0 || sample.ns - kept_[(next_ + kept_.size() - 1) % kept_.size()].ns >= kSpacingNs) {
    kept_[next_] = sample;
    next_ = (next_ + 1) % kept_.size();
    if (count_ < kept_.size()) ++count_;
  }
  const TickSample& oldest = kept_[count_ < kept_.size() ? 0 : next_];
  if (sample.ns - oldest.ns < kMinBaseNs) return line_;

  double ns_per_tick =
      static_cast<double>(sample.ns - oldest.ns) / static_cast<double>(sample.ticks - oldest.ticks);
  TickLine line;
  line.at = sample;
  line.valid_ticks = static_cast<std::uint64_t>(static_cast<double>(kValidNs) / ns_per_tick);
  if (line_.ns_per_tick != 0) {
    // Continues where the last line ends, and approaches the clock from there.
    const std::int64_t lead_ns = std::max(kLeadNs, sample.ns - line_.at.ns);
    line.at.ns -= error_ns_;
    ns_per_tick *= 1 + static_cast<double>(error_ns_) / static_cast<double>(lead_ns);
  }
  line.ns_per_tick = static_cast<std::uint64_t>(ns_per_tick * kFraction);
  line_ = line;
  return line_;
}

bool TscClock::is_trusted() noexcept {
  return counter_is_invariant() && kernel_uses_counter();
}

void TscClock::calibrate() noexcept {
  if (trust_ == Trust::not_asked) trust_ = is_trusted() ? Trust::yes : Trust::no;
  if (trust_ == Trust::yes) publish(rate_.add(best_sample()));
}

void TscClock::publish(const TickLine& line) noexcept {
  const std::uint64_t sequence = sequence_.load(std::memory_order_relaxed);
  sequence_.store(sequence + 1, std::memory_order_relaxed);
  // Release keeps each of these stores after the odd sequence number.
  at_ticks_.store(line.at.ticks, std::memory_order_release);
  at_ns_.store(line.at.ns, std::memory_order_release);
  ns_per_tick_.store(line.ns_per_tick, std::memory_order_release);
  valid_ticks_.store(line.valid_ticks, std::memory_order_release);
  sequence_.store(sequence + 2, std::memory_order_release);
}

}  // namespace rangefinder
