// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples of made GPU work: its bytes every 20 us, encoded by the profiler's own encoder.
//
//   add(work, bytes) in the order of time ─▶ bytes by overlap with each sample, plus background ─▶ PmEncoder
//   ─▶ deliver
//
// Work on the GPU does not overlap. Only the current sample is kept.
#pragma once

#include <cstdint>
#include <functional>

#include "profiler/counters/sampling/pm_encoder.h"
#include "schema/record.h"
#include "tests/bench/made_counters.h"

namespace rangefinder::bench {

class MadeSampler {
 public:
  /// `deliver` receives each samples record, valid during the call.
  explicit MadeSampler(std::function<void(const SamplesRecord&)> deliver);

  /// The line that announces sampling, again in each segment, and the one that ends it.
  [[nodiscard]] static SamplingRecord started();
  [[nodiscard]] static SamplingRecord stopped(TimeNs at_ns);

  void add_kernel(const GpuWork& work, const MadeBytes& bytes);
  void add_copy(const MemcpyRecord& copy, const MadeBytes& bytes);
  /// Samples until `until_ns`, and delivers what is left.
  void finish(TimeNs until_ns);

  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

 private:
  using Values = std::array<double, kSampleColumns>;
  void add(const GpuWork& work, const Values& values);
  void end_sample();

  PmEncoder encoder_;
  PmSample sample_;  // the current one; engine_active in ns until it ends
  std::uint64_t samples_ = 0;
};

}  // namespace rangefinder::bench
