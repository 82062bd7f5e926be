// SPDX-License-Identifier: Apache-2.0
//
// Windows over ranges. A push opens the window and a pop closes it, on the application's
// own threads, so that no launch is missing and none is extra.
//
//   pushes that match   1  2  …  10 │ 11  12  …  30 │ 31
//   after 10, for 20                └──── window ───┘     from the push of 11 to the pop of 30
//
// While the previous window is not complete, no window can be opened. The next matching range
// tries again: the application does not wait. Ranges of all threads are counted together. A
// nested range that matches too belongs to the outermost one.
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

/// Selects ranges, and how many of them.
struct RangeCount {
  /// profiler/base/path_glob.h. Empty: every outermost range.
  std::string glob{};
  std::string domain{};     ///< empty: any
  std::uint64_t after = 0;  ///< matching ranges to skip before the window
  std::uint64_t count = 1;  ///< matching ranges in the window
};

class RangeWindows final : public RangeTrigger {
 public:
  /// `wake`: called on an application thread when a window was closed, or none can be opened any more.
  RangeWindows(Recorder& recorder, ControlTarget& target, void (*wake)(void* user) noexcept, void* user)
      : recorder_(recorder), target_(target), wake_(wake), user_(user) {}

  /// Starts counting. Window n of `windows` uses `requests[n]`, or the last request if there are fewer, so
  /// that one window can record the trace and the next one exact bytes. False: out of memory.
  [[nodiscard]] bool arm(const RangeCount& ranges, const std::vector<WindowRequest>& requests,
                         std::uint64_t windows) noexcept;
  /// Opens no more windows. The caller closes one that is open.
  void disarm() noexcept;

  /// Windows that are open or still to be opened.
  [[nodiscard]] std::uint64_t windows_left() const noexcept { return left_.load(); }
  /// How often a window could not be opened, since the previous one was not complete.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_.load(); }
  /// Read it once no window is left: why not all were opened. Empty: all were.
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
  void close() noexcept;
  [[nodiscard]] bool matches(Wanted& wanted, std::uint32_t path) const;
  [[nodiscard]] std::string path_text(std::uint32_t path) const;

  Recorder& recorder_;
  ControlTarget& target_;
  void (*const wake_)(void*) noexcept;
  void* const user_;
  std::atomic<Phase> phase_{Phase::off};
  std::atomic<Wanted*> wanted_{nullptr};  // the replaced one is kept in old_: a push may still read it
  std::unique_ptr<Wanted> current_, old_;
  std::string error_;  // written by the thread in Phase::opening
  std::atomic<std::uint64_t> seen_{0}, left_{0}, skipped_{0}, opened_at_{0}, last_range_{0}, opened_{0};
};

}  // namespace rangefinder
