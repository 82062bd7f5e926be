// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/gpm_bytes.h"

#include <new>
#include <utility>

namespace rangefinder {
namespace {

constexpr double kNsPerSecond = 1e9;
/// Two transfers a clock.
constexpr double kTransfersPerClock = 2, kBitsPerByte = 8, kHzPerMhz = 1e6;

}  // namespace

NvmlReturn GpmBytes::prepare() noexcept {
  if (nvml_.GpmSampleAlloc == nullptr || nvml_.GpmSampleGet == nullptr || nvml_.GpmMetricsGet == nullptr ||
      nvml_.DeviceGetMaxClockInfo == nullptr || nvml_.DeviceGetMemoryBusWidth == nullptr)
    return kNvmlNotSupported;
  unsigned mhz = 0, bits = 0;
  if (const auto result = nvml_.DeviceGetMaxClockInfo(device_, kNvmlClockMemory, &mhz);
      result != kNvmlSuccess)
    return result;
  if (const auto result = nvml_.DeviceGetMemoryBusWidth(device_, &bits); result != kNvmlSuccess)
    return result;
  peak_bytes_per_s_ = mhz * kHzPerMhz * kTransfersPerClock * bits / kBitsPerByte;
  std::unique_ptr<NvmlGpmMetrics> metrics(new (std::nothrow) NvmlGpmMetrics);
  if (metrics == nullptr) return kNvmlNotSupported;
  metrics->metrics[0].id = kNvmlGpmDramUsedPct;
  // Never freed, as NVML is never shut down.
  for (NvmlGpmSample* const sample : {&metrics->first, &metrics->second}) {
    if (const auto result = nvml_.GpmSampleAlloc(sample); result != kNvmlSuccess) return result;
  }
  metrics_ = std::move(metrics);
  return kNvmlSuccess;
}

NvmlReturn GpmBytes::read(std::int64_t now_ns) noexcept {
  if (metrics_ == nullptr) {
    if (const NvmlReturn result = prepare(); result != kNvmlSuccess) return result;
  }
  const NvmlReturn sampled = nvml_.GpmSampleGet(device_, has_first_ ? metrics_->second : metrics_->first);
  if (sampled != kNvmlSuccess) return sampled;
  if (!std::exchange(has_first_, true)) {
    first_ns_ = now_ns;
    return kNvmlSuccess;
  }
  // Without a value the interval goes on: GPM's counters had no news since the first sample.
  if (add_interval(static_cast<double>(now_ns - first_ns_) / kNsPerSecond) != kNvmlSuccess)
    return kNvmlSuccess;
  std::swap(metrics_->first, metrics_->second);
  first_ns_ = now_ns;
  return kNvmlSuccess;
}

NvmlReturn GpmBytes::add_interval(double seconds) noexcept {
  const NvmlReturn result = nvml_.GpmMetricsGet(metrics_.get());
  if (result != kNvmlSuccess) return result;
  const NvmlGpmMetric& used = metrics_->metrics[0];
  if (used.result != kNvmlSuccess) return used.result;
  constexpr double kPercent = 100;
  if (!(used.value >= 0)) return kNvmlNotSupported;  // not a number
  bytes_ += used.value / kPercent * peak_bytes_per_s_ * seconds;
  return kNvmlSuccess;
}

}  // namespace rangefinder
