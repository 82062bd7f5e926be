// SPDX-License-Identifier: Apache-2.0
//
// When the drain thread asks CUPTI for complete records, and how long it sleeps.
//
//   the application emits events   a request every `interval_ns`, sleeps of 10 ms
//   none for a second              one more request, then one every 5 s for late records; sleeps of 100 ms
//
// Pure: the times are arguments, ns of one clock. Drain thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace rangefinder {

class FlushSchedule {
 public:
  explicit FlushSchedule(std::int64_t interval_ns) noexcept : interval_ns_(interval_ns) {}

  /// `late`: the window begins while the application runs; its first request comes after 100 ms.
  void begin(std::int64_t now_ns, bool late) noexcept;
  /// Events were read.
  void note_input(std::int64_t now_ns) noexcept { last_input_ns_ = now_ns; }
  /// True: ask for records now; the next interval begins. `at_once`: do not wait for the interval's end.
  [[nodiscard]] bool begin_request(std::int64_t now_ns, bool at_once) noexcept;
  /// `next_ns`: when something else is due.
  [[nodiscard]] std::chrono::milliseconds time_to_sleep(std::int64_t now_ns,
                                                        std::optional<std::int64_t> next_ns) const noexcept;

 private:
  [[nodiscard]] bool is_quiet(std::int64_t now_ns) const noexcept;

  const std::int64_t interval_ns_;
  std::int64_t last_request_ns_ = 0, last_input_ns_ = 0;
};

}  // namespace rangefinder
