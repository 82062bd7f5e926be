// SPDX-License-Identifier: Apache-2.0
//
// What each module and each kernel of a trace took, iteration by iteration: what a comparison of two
// traces needs to tell a change from noise.
//
//   trace ─▶ iterations (iterations.h) ─▶ at most kBatches batches of neighbouring iterations
//     └─▶ kernels, exact bytes of each batch ─▶ a Measure a path and a kernel name
//
// Batches, not single iterations: neighbours resemble each other, which would make a test too sure,
// and memory stays at a few hundred bytes a path however long the program ran. The first iteration is
// left out where there are at least three: it loads code and warms caches. Reads the trace twice, and once
// more where its bytes are sampled.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/diff/welch.h"
#include "tools/analysis/read/selection.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

enum class Quantity : std::uint8_t { gpu_ns, dram_bytes, l2_bytes };
inline constexpr std::size_t kQuantities = 3;

/// Sums by batch of one path or kernel.
struct BatchSums {
  std::array<std::vector<double>, kQuantities> sums;  ///< by Quantity, then batch; empty: never measured
  std::uint64_t kernels = 0;
  bool partial_bytes = false;  ///< some launches have no bytes: sums of others tell nothing of all
  void add(Quantity quantity, std::size_t batch, std::size_t batches, double value);
  BatchSums& operator+=(const BatchSums& other);
};

struct PathSeries {
  std::string name;  ///< the path's own
  std::uint32_t depth = 0;
  std::size_t order = 0;  ///< of first appearance
  BatchSums sums;         ///< inclusive
};

/// Sampled bytes of a path in one iteration, and the bound of their error for 95 % of paths.
struct SampledSeries {
  double dram_bytes = 0, dram_error = 0, l2_bytes = 0, l2_error = 0;
};

struct KernelSeries {
  BatchSums sums;
  std::map<std::string, double> ns_by_path;  ///< where it runs
};

class IterationSeries {
 public:
  static constexpr std::size_t kBatches = 32;

  /// `iteration_range`: glob, or empty (find_iterations). `iterations`: which of them. Throws Missing.
  [[nodiscard]] static IterationSeries load(const TraceFolder& trace, const std::string& iteration_range,
                                            const HalfOpen<std::uint64_t>& iterations);

  std::map<std::string, PathSeries> paths;       ///< by path; names of iterations without their numbers
  std::map<std::string, KernelSeries> kernels;   ///< by demangled name
  std::map<std::string, SampledSeries> sampled;  ///< by path; empty: no samples, or exact bytes are there
  std::string iteration_path;                    ///< empty: the trace has none, all of it is one batch
  std::string title;                             ///< folder and program
  std::string counters;                          ///< mode, as in Header::counters
  std::uint64_t iterations = 0;                  ///< that count
  std::vector<std::uint64_t> batch_sizes;        ///< iterations in each batch

  /// Mean and spread over the batches, of one iteration. Nothing was measured: n() is 0.
  [[nodiscard]] Moments moments(const BatchSums& sums, Quantity quantity) const;
};

}  // namespace rangefinder
