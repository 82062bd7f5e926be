// SPDX-License-Identifier: Apache-2.0
//
// A session of CUPTI's Range Profiler for one context, from enable to disable.
//
//   start(group) ─▶ { push() launches pop() } x batch ─▶ end_batch() ─▶ image() ─▶ start(group) … disable()
//
// The call order is CUPTI's for user ranges. Images live until disable, because CUPTI keeps
// pointers to them. Ranges are named by their number in the batch. Not thread-safe:
// ExactContext holds its lock around every call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/counters/exact/counter_config.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {

class ExactSession {
 public:
  enum class State : std::uint8_t { idle, running, failed };

  ExactSession(const CuptiLibrary& library, CUcontext context);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// The hardware is reserved: no other process can use this GPU's counters.
  [[nodiscard]] bool holds_counters() const noexcept { return profiler_ != nullptr; }
  /// CUPTI reported that another program holds the GPU's counters.
  [[nodiscard]] bool busy() const noexcept { return busy_; }

  /// Ranges may follow. The first start, and one with a different group, reserves the hardware: up to 1 s.
  /// After a batch of the same group it takes 18 ms (docs/internals/measured.md).
  /// `batch`: maximum number of ranges until the next start.
  [[nodiscard]] bool start(const CounterConfig& config, std::size_t group, std::uint32_t batch);
  /// Opens range number `index` of the batch.
  [[nodiscard]] bool push(std::size_t index);
  [[nodiscard]] bool pop();
  /// Waits for the GPU and decodes the values of all ranges into image().
  [[nodiscard]] bool end_batch();
  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return image_; }
  /// Releases the hardware.
  void disable() noexcept;
  /// After a failure: closes and stops without values, then disables. Waits for the GPU.
  void abandon() noexcept;

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool enable();
  [[nodiscard]] bool size_image(const MetricConfig& config);
  [[nodiscard]] bool reset_image();
  [[nodiscard]] bool set_config(const MetricConfig& config);
  [[nodiscard]] CUptiResult run();

  const CuptiLibrary& library_;
  const CuptiFunctions& cupti_;
  const CUcontext context_;
  std::uint32_t batch_size_ = 0;
  State state_ = State::idle;
  bool busy_ = false;
  bool open_ = false;     // a range is open
  bool started_ = false;  // between cuptiRangeProfilerStart and Stop
  std::string error_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  const MetricConfig* configured_ = nullptr;
  std::vector<std::uint8_t> image_;
  std::vector<std::string> range_names_;
};

}  // namespace rangefinder
