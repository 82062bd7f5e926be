// SPDX-License-Identifier: Apache-2.0
//
// Bytes that the DRAM of a GPU moved, from NVML's GPU performance monitoring (GPM), Hopper and later.
//
//   sample ─▶ sample ─▶ part of the DRAM's peak between them ─▶ x peak x time = bytes
//
// Of the whole GPU and of all processes; reads and writes together. Needs no permission for counters where
// that was tried (docs/internals/conditions.md). A reading costs 220 us.
#pragma once

#include <cstdint>
#include <memory>

#include "profiler/conditions/nvml_functions.h"

namespace rangefinder {

class GpmBytes {
 public:
  /// `nvml` must outlive this. `device`: a GPU, no MIG instance. No call of NVML yet.
  GpmBytes(const NvmlFunctions& nvml, NvmlDevice device) noexcept : nvml_(nvml), device_(device) {}

  /// `now_ns`: a clock that is never set back. kNvmlNotSupported: this GPU, driver or user has none.
  [[nodiscard]] NvmlReturn read(std::int64_t now_ns) noexcept;
  /// Bytes of the intervals between readings so far; 0 after the first.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(bytes_); }
  /// What moves until the next reading counts for no interval.
  void restart() noexcept { has_first_ = false; }

 private:
  [[nodiscard]] NvmlReturn prepare() noexcept;
  [[nodiscard]] NvmlReturn add_interval(double seconds) noexcept;

  const NvmlFunctions& nvml_;
  const NvmlDevice device_;
  std::unique_ptr<NvmlGpmMetrics> metrics_;  // with both samples; nullptr: not prepared
  double peak_bytes_per_s_ = 0;
  bool has_first_ = false;
  std::int64_t first_ns_ = 0;  // when metrics_->first was taken
  double bytes_ = 0;
};

}  // namespace rangefinder
