// SPDX-License-Identifier: Apache-2.0
//
// Evaluates sampled counters; looks up metric names once instead of once per sample.
//
//   names ─▶ requests, once;   counter image, sample ─▶ NVPW_MetricsEvaluator_EvaluateToGpuValues ─▶ values
//
// cuptiProfilerHostEvaluateToGpuValues makes the same call, but first looks up the names each time: 3.4 us
// per sample instead of 2.0 (six metrics, docs/internals/measured.md). For PM sampling CUPTI creates its
// evaluator with a function that libnvperf_host exports, but only the Nsight Perf SDK's header declares
// (nvperf_device_host.h). If the library lacks it, there is no PreparedMetrics. Results are compared with
// CUPTI's values before they are used (pm_values.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rangefinder {

class PreparedMetrics {
 public:
  /// `cupti`: cuptiGetVersion. The undeclared function's arguments were verified with CUDA 13.0 only.
  [[nodiscard]] static constexpr bool is_verified_with(std::uint32_t cupti) noexcept {
    return cupti / 100 == 1300;
  }
  /// `chip`: for example "GH100". `names`: CUPTI's. After preload_counter_library(). nullptr: not available.
  [[nodiscard]] static std::unique_ptr<PreparedMetrics> make(const std::string& chip,
                                                             std::span<const char* const> names);
  ~PreparedMetrics();
  PreparedMetrics(const PreparedMetrics&) = delete;
  PreparedMetrics& operator=(const PreparedMetrics&) = delete;

  /// Values of one sample of a counter image, in the order of `names`; NaN if the hardware delivered none.
  /// `sample` must be in the image; it is not checked. All images must be of one GPU. False: no values. One
  /// thread at a time.
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
