// SPDX-License-Identifier: Apache-2.0
//
// The counters of one context: CUPTI's Range Profiler from enable to disable.
//
//   start() ─▶ { push() launch pop() } x batch ─▶ decode() ─▶ … ─▶ stop()
//
// Call order as CUPTI documents it for user ranges; images stay
// alive until disable, because CUPTI keeps pointers to them. Not thread-safe: the
// ExactProfiler holds `lock` around every call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "profiler/counters/exact_launch.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {

class ExactSession {
 public:
  enum class State : std::uint8_t { idle, running, failed, ended };

  ExactSession(const CuptiLibrary& library, CUcontext context, std::uint32_t batch);
  ~ExactSession();

  std::timed_mutex lock;
  std::atomic<std::thread::id> owner{};  ///< thread that holds `lock` over a launch
  std::atomic<CUcontext> context;        ///< nullptr once destroyed
  std::atomic<bool> disturbed{false};    ///< some other launch went by while the range was open

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  [[nodiscard]] bool start();
  [[nodiscard]] bool push();
  /// Closes the range and keeps `launch`. True: the batch should be decoded now.
  [[nodiscard]] bool pop(const ExactLaunch& launch, std::int64_t now_ns);
  /// Values of all launches of the batch: stop, decode, evaluate, and, if `again`, start.
  /// The launches, with values or the reason why not, are in batch() until the next push().
  void decode(bool again);
  [[nodiscard]] const std::vector<ExactLaunch>& batch() const noexcept { return launches_; }
  void clear_batch() noexcept { launches_.clear(); }
  void stop();

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool read_device();
  [[nodiscard]] bool enable();
  [[nodiscard]] bool set_config();
  [[nodiscard]] bool reset_image();
  [[nodiscard]] bool run();
  void evaluate_ranges();

  const CuptiLibrary& library_;
  const CuptiFunctions& cupti_;
  const std::uint32_t batch_size_;
  State state_ = State::idle;
  std::string error_;
  std::uint32_t gpu_ = 0;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  MetricConfig config_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> counter_data_;
  std::vector<ExactLaunch> launches_;
  std::vector<std::string> range_names_;
  std::int64_t batch_began_ns_ = 0;
};

}  // namespace rangefinder
