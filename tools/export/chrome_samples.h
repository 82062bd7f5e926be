// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples as counters of the GPU: DRAM read and write, L2, and engine and SM activity.
//
//   {"ph":"C","name":"DRAM","args":{"read (bytes/s)":3.1e12,"write (bytes/s)":8.4e11}}
//
// A value holds until the next one. Between two runs of samples the counters are 0: the GPU was idle, or
// samples were lost, which the loss ledger counts. Columns that were not collected have no counter. The link
// columns (PCIe, NVLink) are omitted: their bytes are reported in one of up to 50 samples, so a rate per
// sample would be wrong.
#pragma once

#include <map>

#include "tools/export/chrome_timeline.h"

namespace rangefinder {

class ChromeSamples {
 public:
  explicit ChromeSamples(ChromeContext& context) : context_(context) {}

  void add(const SamplingRecord& sampling);
  void add(const SamplesRecord& samples);
  void finish();

 private:
  struct Gpu {
    std::array<bool, kSampleColumns> collected{};
    TimeNs run_end_ns = kNoTime;  ///< end of the latest run
  };
  /// Writes counter values at `at_ns`; zeros if `samples` is nullptr or `place` is beyond its columns.
  void counters(std::uint32_t gpu, const Gpu& state, const SamplesRecord* samples, std::size_t place,
                TimeNs at_ns, double sample_ns);

  ChromeContext& context_;
  std::map<std::uint32_t, Gpu> gpus_;
};

}  // namespace rangefinder
