// SPDX-License-Identifier: Apache-2.0
//
// Reads the threads' rings, and passes on the events that belong to the window.
//
//   rings of all threads ─▶ read(): begun in the window? ─▶ TraceBuilder::on_event(), with the name of a new
//   thread
//
// Measures the longest time between two reads, in which a ring may overflow. Drain thread only, but begin().
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/drain/trace_files.h"
#include "profiler/events/recorder.h"

namespace rangefinder {

class RingReader {
 public:
  /// `late`: the window begins with begin(); nothing is read before.
  RingReader(Recorder& recorder, TraceFiles& trace, bool late) noexcept
      : recorder_(recorder), trace_(trace), late_(late) {}

  /// Events that began before `from_ns` are not of the window. Any thread, once.
  void begin(std::int64_t from_ns) noexcept { from_ns_.store(from_ns, std::memory_order_release); }
  /// Events that begin at `until_ns` or later are not either.
  void end(std::int64_t until_ns) noexcept { until_ns_ = until_ns; }

  /// The number of events read.
  std::size_t read();
  [[nodiscard]] bool is_of_window(const Event& event) const noexcept;
  /// Sleeps between two reads, until woken or for `limit`. Sleep beyond the limit counts as a gap.
  void sleep(std::chrono::nanoseconds limit) noexcept;
  /// Events since the last read belong to no window, so this gap does not count.
  void skip_gap() noexcept { read_ns_ = 0; }
  [[nodiscard]] std::int64_t longest_gap_ns() const noexcept { return longest_gap_ns_; }

 private:
  void note_read(std::int64_t now_ns) noexcept;
  void name_thread(const ThreadState& state);

  Recorder& recorder_;
  TraceFiles& trace_;
  const bool late_;
  std::atomic<std::int64_t> from_ns_{0};
  std::int64_t until_ns_ = Recorder::kAlways;
  std::int64_t read_ns_ = 0;  // CLOCK_MONOTONIC: the last read began, or the next is due
  std::int64_t longest_gap_ns_ = 0;
  std::vector<std::byte> extra_;
  std::vector<std::uint32_t> named_threads_;
};

}  // namespace rangefinder
