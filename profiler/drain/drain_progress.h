// SPDX-License-Identifier: Apache-2.0
//
// What other threads may know of a drain thread, and what they may request from it.
//
//   other threads ── request_end(), request_write(), report_refusal() ──▶ drain thread
//   other threads ◀── snapshot(), ended(), wait_until_ended() ─────────── drain thread
//
// The mutex guards assignments only. Wakes no thread but those in wait_until_ended().
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace rangefinder {

class DrainProgress {
 public:
  /// State of the trace while it is written.
  struct Snapshot {
    bool opened = false;
    std::int64_t begin_ns = 0;  ///< only of a window that begins when ready, once opened
    std::string folder;         ///< absolute, once opened
    std::string error;          ///< why it could not be opened
    std::uint64_t records = 0, bytes_written = 0;
    std::uint64_t written = 0;  ///< the last fulfilled request of request_write()
    std::string summary;        ///< the last written text
  };
  /// How the trace ends.
  struct End {
    const char* reason = "exit";
    std::int64_t window_end_ns = 0;  ///< 0: the process exits
    std::uint32_t patience_ms = 0;   ///< for records of work that began before window_end_ns
  };

  // Any thread.
  [[nodiscard]] Snapshot snapshot(bool with_summary) const;
  [[nodiscard]] bool ended() const noexcept;
  void wait_until_ended(std::uint32_t patience_ms) noexcept;
  /// Only the first request counts. When the process exits, no later one waits for records.
  void request_end(const End& end) noexcept;
  [[nodiscard]] std::uint64_t request_write() noexcept { return write_requested_.fetch_add(1) + 1; }
  void report_refusal(const std::string& reason) noexcept;
  /// Calls change(Snapshot&) under the mutex.
  template <typename Change>
  void update(Change change) {
    const std::lock_guard lock(mutex_);
    change(now_);
  }

  // Drain thread.
  [[nodiscard]] bool ending() const noexcept { return ending_.load(std::memory_order_acquire); }
  [[nodiscard]] bool exiting() const noexcept { return exiting_.load(std::memory_order_acquire); }
  /// Once ending().
  [[nodiscard]] const End& end() const noexcept { return end_; }
  /// The last request of request_write() that is not fulfilled; 0: none.
  [[nodiscard]] std::uint64_t open_request() const noexcept;
  /// Why counters were refused, once for each report_refusal().
  [[nodiscard]] std::optional<std::string> take_refusal();
  /// The last call: the other threads may destroy what the drain thread used.
  void note_ended() noexcept;

 private:
  std::atomic<bool> ending_{false};  // end_ is written before
  std::atomic<bool> exiting_{false};
  std::atomic<std::uint64_t> write_requested_{0};
  std::atomic<bool> has_refusal_{false};
  End end_;
  mutable std::mutex mutex_;
  Snapshot now_;         // guarded by mutex_; only the drain thread changes `written`
  std::string refusal_;  // guarded by mutex_
  bool ended_ = false;   // guarded by mutex_
  std::condition_variable ended_changed_;
};

}  // namespace rangefinder
