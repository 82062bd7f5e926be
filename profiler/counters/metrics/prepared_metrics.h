// SPDX-License-Identifier: Apache-2.0
//
// Values of sampled counters, their metrics' names looked up once instead of for every sample.
//
//   names ─▶ requests, once;   counter image, sample ─▶ NVPW_MetricsEvaluator_EvaluateToGpuValues ─▶ values
//
// cuptiProfilerHostEvaluateToGpuValues ends in the same call, but looks the names up before it each time: 3.4
// us a sample where this takes 2.0 (six metrics, docs/measured.md). For PM sampling CUPTI makes its evaluator
// with a function that libnvperf_host exports and that only the Nsight Perf SDK's header declares
// (nvperf_device_host.h): where a library lacks it there is no PreparedMetrics, and what it says is compared
// with CUPTI's values (pm_values.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rangefinder {

class PreparedMetrics {
 public:
  /// `cupti`: cuptiGetVersion. With another than CUDA 13.0's nobody has looked whether that function still
  /// takes what it took.
  [[nodiscard]] static constexpr bool is_tried_with(std::uint32_t cupti) noexcept {
    return cupti / 100 == 1300;
  }
  /// `chip` as in "GH100"; `names` as CUPTI's. After preload_counter_library(). nullptr: cannot be had here.
  [[nodiscard]] static std::unique_ptr<PreparedMetrics> make(const std::string& chip,
                                                             std::span<const char* const> names);
  ~PreparedMetrics();
  PreparedMetrics(const PreparedMetrics&) = delete;
  PreparedMetrics& operator=(const PreparedMetrics&) = delete;

  /// Values of one sample of a counter image, in the order of `names`; no number where the hardware gave
  /// none. `sample`: one that the image has, which nobody checks. All images are of one GPU. False: there
  /// are no values. One thread at a time.
  [[nodiscard]] bool evaluate(std::span<const std::uint8_t> image, std::size_t sample,
                              std::span<double> values);

 private:
  struct Library;
  struct Evaluator;
  explicit PreparedMetrics(const Library& library);

  const Library& library_;
  std::vector<std::uint8_t> scratch_;  // the evaluator's memory
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace rangefinder
