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
  /// CUPTI is handed to another tool and taken back. The drain thread makes the second, fourth and last step.
  ///
  ///   none ─▶ requested ─▶ begun ─▶ quiet ─▶ away ─▶ free ─▶ over ─▶ none
  ///                                           └────▶ kept ────────────▲
  ///
  /// begun: launches from gap_start_ns() on do not count. quiet: no new records. away: the drain thread does
  /// not use CUPTI. free: nor does anything else of ours. over: all may again. kept: it could not be freed,
  /// and all may again.
  enum class Gap : std::uint8_t { none, requested, begun, quiet, away, free, over, kept };
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
  void request_flush() noexcept { flush_requested_.store(true, std::memory_order_release); }
  [[nodiscard]] std::int64_t flushed_ns() const noexcept {
    return flushed_ns_.load(std::memory_order_acquire);
  }
  void report_refusal(const std::string& reason) noexcept;
  /// In state none.
  void request_gap(const std::string& cause) {
    gap_cause_ = cause;
    move_gap(Gap::requested);
  }
  void move_gap(Gap gap) noexcept { gap_.store(gap, std::memory_order_release); }
  [[nodiscard]] Gap gap() const noexcept { return gap_.load(std::memory_order_acquire); }
  [[nodiscard]] std::int64_t gap_start_ns() const noexcept { return gap_start_ns_; }
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
  [[nodiscard]] bool take_flush_request() noexcept {
    return flush_requested_.load(std::memory_order_relaxed) &&
           flush_requested_.exchange(false, std::memory_order_acquire);
  }
  void note_flush(std::int64_t now_ns) noexcept { flushed_ns_.store(now_ns, std::memory_order_release); }
  /// From requested on.
  [[nodiscard]] const std::string& gap_cause() const noexcept { return gap_cause_; }
  void begin_gap(std::int64_t start_ns) noexcept {
    gap_start_ns_ = start_ns;
    move_gap(Gap::begun);
  }
  /// Why counters were refused, once for each report_refusal().
  [[nodiscard]] std::optional<std::string> take_refusal();
  /// The last call: the other threads may destroy what the drain thread used.
  void note_ended() noexcept;

 private:
  std::atomic<bool> ending_{false};  // end_ is written before
  std::atomic<bool> exiting_{false};
  std::atomic<std::uint64_t> write_requested_{0};
  std::atomic<bool> has_refusal_{false}, flush_requested_{false};
  std::atomic<std::int64_t> flushed_ns_{0};
  std::atomic<Gap> gap_{Gap::none};  // the next two are written before
  std::string gap_cause_;
  std::int64_t gap_start_ns_ = 0;
  End end_;
  mutable std::mutex mutex_;
  Snapshot now_;         // guarded by mutex_; only the drain thread changes `written`
  std::string refusal_;  // guarded by mutex_
  bool ended_ = false;   // guarded by mutex_
  std::condition_variable ended_changed_;
};

}  // namespace rangefinder
