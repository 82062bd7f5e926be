// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/drain_progress.h"

#include <chrono>
#include <utility>

namespace rangefinder {

DrainProgress::Snapshot DrainProgress::snapshot(bool with_summary) const {
  const std::lock_guard lock(mutex_);
  if (with_summary) return now_;
  return {now_.opened,  now_.begin_ns,      now_.folder,  now_.error,
          now_.records, now_.bytes_written, now_.written, {}};
}

bool DrainProgress::ended() const noexcept {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void DrainProgress::wait_until_ended(std::uint32_t patience_ms) noexcept {
  std::unique_lock lock(mutex_);
  ended_changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [this] { return ended_; });
}

void DrainProgress::request_end(const End& end) noexcept {
  const std::lock_guard lock(mutex_);
  if (!ending_.load(std::memory_order_relaxed)) {
    end_ = end;
    ending_.store(true, std::memory_order_release);
  }
  if (end.window_end_ns == 0) exiting_.store(true, std::memory_order_release);
}

void DrainProgress::report_refusal(const std::string& reason) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    refusal_ = reason;
  } catch (...) {
  }
  has_refusal_.store(true, std::memory_order_release);
}

std::uint64_t DrainProgress::open_request() const noexcept {
  const std::uint64_t last = write_requested_.load(std::memory_order_acquire);
  return last == now_.written ? 0 : last;
}

std::optional<std::string> DrainProgress::take_refusal() {
  if (!has_refusal_.exchange(false, std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return refusal_;
}

void DrainProgress::note_ended() noexcept {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  ended_changed_.notify_all();
}

}  // namespace rangefinder
