// SPDX-License-Identifier: Apache-2.0
//
// Counter configuration of one GPU: the request's metrics as groups of one pass, each with
// CUPTI's configuration image, and the evaluation of counter images.
//
//   context ─▶ open() ─▶ chip, availability
//                request ─▶ build() ─▶ groups ─▶ ExactSession::start
//          decoded image ─▶ evaluate() ─▶ values
//
// build() takes 0.1 to 1.5 s. ExactGpus runs it on its own thread, not the application's.
// Not thread-safe except for const methods; after build() only the drain thread evaluates.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/counters/exact/exact_launch.h"
#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {

class CounterConfig {
 public:
  explicit CounterConfig(const CuptiLibrary& library) noexcept : library_(library) {}

  /// Loads the counter library and makes it register its exit handlers. `context`: any context on `gpu`;
  /// `cancelled`: as in build(). False: see error().
  [[nodiscard]] bool open(CUcontext context, std::uint32_t gpu, const std::atomic<bool>* cancelled = nullptr);
  /// After open(). `cancelled`: once true, CUPTI is not called any more; nullptr: never. False: see error().
  [[nodiscard]] bool build(const std::string& request, const std::atomic<bool>* cancelled = nullptr);
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

  [[nodiscard]] const MetricPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::size_t groups() const noexcept { return plan_.groups.size(); }
  [[nodiscard]] const MetricConfig& config(std::size_t group) const noexcept { return *configs_[group]; }

  /// Values of range `range` of a decoded image that was collected with `group`. False: no values.
  [[nodiscard]] bool evaluate(std::size_t group, std::span<const std::uint8_t> image, std::size_t range,
                              std::span<double, kMaxRangeMetrics> values);

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool read_device(CUcontext context, std::uint32_t gpu);
  [[nodiscard]] bool build_groups(const std::atomic<bool>* cancelled);

  const CuptiLibrary& library_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  MetricPlan plan_;
  std::vector<std::unique_ptr<MetricConfig>> configs_;  // by group
  std::string error_;
};

}  // namespace rangefinder
