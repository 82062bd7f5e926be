// SPDX-License-Identifier: Apache-2.0
//
// Modules that run before the first or after the last iteration, such as set-up: time of each call.
//
//   ranges outside of iterations ─▶ nested by time ─▶ GPU and host time of each call, inclusive
//   kernels, by their range ──────┘                      └─▶ by path: at most kMaxBatches
//
// Excludes a path that is open during the iterations, or that has work of them, as of a CUDA graph whose
// ranges were open when it was captured (iterations.h). Memory: some 50 bytes for each range outside of
// iterations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/diff/welch.h"
#include "tools/analysis/model/iterations.h"

namespace rangefinder {

/// Values per call of one path.
struct CallSeries {
  std::uint64_t calls = 0;
  Moments gpu_ns, host_ns;  ///< over batches of neighbouring calls; gpu_ns.n() == 0: no kernels
};

/// Not thread-safe.
class OutsideCalls {
 public:
  explicit OutsideCalls(const Iterations& iterations) : iterations_(iterations) {}

  void add(const RangeRecord& range);
  void add(const KernelRecord& kernel);
  /// Whether the path has nothing in the iterations. Call it after the last line.
  [[nodiscard]] bool is_outside(std::uint32_t path) const { return paths_.count(path) != 0; }
  /// Call it once, after the last line. `text`: path as text. `parent`: 0 of an outermost path.
  [[nodiscard]] std::map<std::string, CallSeries> result(
      const std::function<std::string(std::uint32_t)>& text,
      const std::function<std::uint32_t(std::uint32_t)>& parent);

 private:
  struct ModuleCall {
    TimeNs start_ns, end_ns;
    std::uint64_t range;
    std::uint32_t thread, path;
    double gpu_ns;
  };
  [[nodiscard]] bool is_outside(TimeNs start) const;

  const Iterations& iterations_;
  std::vector<ModuleCall> calls_;
  std::unordered_map<std::uint64_t, double> gpu_ns_;  // by range
  std::unordered_set<std::uint32_t> paths_, inside_;
};

}  // namespace rangefinder
