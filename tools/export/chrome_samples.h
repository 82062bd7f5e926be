// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples as counters of the GPU: DRAM read and write, L2, and how busy it was.
//
//   {"ph":"C","name":"DRAM","args":{"read (bytes/s)":3.1e12,"write (bytes/s)":8.4e11}}
//
// A value holds until the next. Between two runs of samples the GPU was at rest and next to nothing
// moved (or samples were lost, which the loss ledger says): there the counters stand at 0. Columns
// that were not collected have no counter. The links' columns (PCIe, NVLink) are left out: their bytes
// stand at one of up to 50 samples, so that a rate a sample would be wrong.
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
    TimeNs run_end_ns = kNoTime;  ///< of the latest run
  };
  /// Counter values from `at_ns` on; without `samples`, or at a place behind its columns: zeros.
  void counters(std::uint32_t gpu, const Gpu& state, const SamplesRecord* samples, std::size_t place,
                TimeNs at_ns, double sample_ns);

  ChromeContext& context_;
  std::map<std::uint32_t, Gpu> gpus_;
};

}  // namespace rangefinder
