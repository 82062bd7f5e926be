// SPDX-License-Identifier: Apache-2.0
//
// Windows over ranges: opened by a range that opens, closed by one that closes, on the
// application's own threads, so that not a launch is missed or too many.
//
//   pushes that match   1  2  …  10 │ 11  12  …  30 │ 31
//   after 10, for 20                └──── window ───┘     from the push of 11 to the pop of 30
//
// A window that cannot be opened, since the last one is not complete yet, is tried again
// with the next range that matches: the application does not wait. Ranges of all threads
// are counted together. Nested ones that match too belong to the outer one.
//
// arm() and disarm(): one thread at a time. Never destroyed while NVTX may call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "profiler/control/control_target.h"
#include "profiler/events/path_table.h"
#include "profiler/events/recorder.h"

namespace rangefinder {

/// Which ranges, and how many.
struct RangeCount {
  std::string
      glob{};  ///< profiler/base/path_glob.h; without a '/', at any level; empty: every outermost range
  std::string domain{};  ///< empty: any
  std::uint64_t after = 0;
  std::uint64_t count = 1;
};

class RangeWindows final : public RangeTrigger {
 public:
  /// `wake`: called on an application's thread when a window has closed.
  RangeWindows(Recorder& recorder, ControlTarget& target, void (*wake)(void* user) noexcept, void* user)
      : recorder_(recorder), target_(target), wake_(wake), user_(user) {}

  /// From now on; the n-th of `windows` windows is asked for by the n-th of `requests`, and by the last one
  /// when there are no more: so a window can take the trace and the next one exact bytes. False: out of
  /// memory.
  [[nodiscard]] bool arm(const RangeCount& ranges, const std::vector<WindowRequest>& requests,
                         std::uint64_t windows) noexcept;
  /// No window is opened any more; one that is open is left to the caller.
  void disarm() noexcept;

  /// Windows that are still to come, or open.
  [[nodiscard]] std::uint64_t windows_left() const noexcept { return left_.load(); }
  /// Times that a window could not be opened yet.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_.load(); }
  /// Once no window is left: why not all of them were opened; empty: they were.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  void on_push(std::uint64_t range, std::uint32_t path, std::uint32_t level,
               std::int64_t now_ns) noexcept override;
  void on_pop(std::uint64_t range, std::int64_t now_ns) noexcept override;

 private:
  enum class Phase : std::uint8_t { off, counting, opening, open };
  enum class Verdict : std::uint8_t { unknown, no, yes };
  struct Wanted {
    RangeCount ranges;
    std::vector<WindowRequest> requests;  ///< at least one
    std::array<std::atomic<Verdict>, PathTable::kMaxPaths + 1> verdicts{};
  };
  void open(const Wanted& wanted, std::uint64_t number, std::int64_t now_ns);
  [[nodiscard]] bool matches(Wanted& wanted, std::uint32_t path) const;
  [[nodiscard]] std::string path_text(std::uint32_t path) const;

  Recorder& recorder_;
  ControlTarget& target_;
  void (*const wake_)(void*) noexcept;
  void* const user_;
  std::atomic<Phase> phase_{Phase::off};
  std::atomic<Wanted*> wanted_{nullptr};  // replaced ones are kept in old_: a push may look at them
  std::unique_ptr<Wanted> current_, old_;
  std::string error_;  // written by the thread in Phase::opening
  std::atomic<std::uint64_t> seen_{0}, left_{0}, skipped_{0}, opened_at_{0}, last_range_{0}, opened_{0};
};

}  // namespace rangefinder
