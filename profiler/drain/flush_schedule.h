// SPDX-License-Identifier: Apache-2.0
//
// When the drain thread asks CUPTI for complete records, when it writes them, and how long it sleeps.
//
//   the application emits events   a request every `interval_ns`, sleeps of 10 ms
//   none for a second              one more request, then one every 5 s for late records; sleeps of 100 ms
//
// A process may end before the first interval has passed, without a last call of ours. So the first requests
// come 20, 40, 80 … ms one after the other, from the first event on (GrowingInterval).
//
// Pure: the times are arguments, ns of one clock. Drain thread only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace rangefinder {

/// An interval that doubles each time, up to `usual_ns`, once work has begun.
class GrowingInterval {
 public:
  explicit GrowingInterval(std::int64_t usual_ns) noexcept : usual_ns_(usual_ns), interval_ns_(usual_ns) {}

  void begin(std::int64_t now_ns) noexcept { last_ns_ = now_ns; }
  /// Only the first call counts.
  void begin_work(std::int64_t now_ns) noexcept {
    if (has_work_) return;
    has_work_ = true;
    interval_ns_ = std::min(kFirstNs, usual_ns_);
    last_ns_ = now_ns;
  }
  [[nodiscard]] bool is_due(std::int64_t now_ns) const noexcept { return now_ns - last_ns_ >= interval_ns_; }
  void restart(std::int64_t now_ns) noexcept {
    last_ns_ = now_ns;
    interval_ns_ = std::min(2 * interval_ns_, usual_ns_);
  }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }

 private:
  static constexpr std::int64_t kFirstNs = 20'000'000;

  std::int64_t usual_ns_, interval_ns_, last_ns_ = 0;
  bool has_work_ = false;
};

class FlushSchedule {
 public:
  explicit FlushSchedule(std::int64_t interval_ns) noexcept : interval_(interval_ns) {}

  void begin(std::int64_t now_ns) noexcept;
  /// Events were read.
  void note_input(std::int64_t now_ns) noexcept {
    interval_.begin_work(now_ns);
    last_input_ns_ = now_ns;
  }
  /// True: ask for records now; the next interval begins. `at_once`: do not wait for the interval's end.
  [[nodiscard]] bool begin_request(std::int64_t now_ns, bool at_once) noexcept;
  /// `next_ns`: when something else is due.
  [[nodiscard]] std::chrono::milliseconds time_to_sleep(std::int64_t now_ns,
                                                        std::optional<std::int64_t> next_ns) const noexcept;

 private:
  [[nodiscard]] bool is_quiet(std::int64_t now_ns) const noexcept;

  GrowingInterval interval_;
  std::int64_t last_input_ns_ = 0;
};

}  // namespace rangefinder
