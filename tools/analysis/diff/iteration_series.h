// SPDX-License-Identifier: Apache-2.0
//
// Time and bytes of each module and each kernel of a trace, by batches of iterations. A comparison of two
// traces needs them to distinguish a change from noise.
//
//   trace ─▶ IterationLog ─▶ at most kMaxBatches batches of neighbouring iterations
//     │           └─▶ wall time, GPU busy, … of each iteration ─▶ IterationValues
//     ├─▶ kernels, exact bytes of each batch ─▶ Spreads per path and per kernel name
//     └─▶ ranges before and after the iterations ─▶ CallSeries per path
//
// Why batches and not single iterations: neighbours are correlated, so a test would claim too much
// certainty. Memory: some hundred bytes per path and iteration, and that of idle_causes.h. Warm-up is
// excluded, as iteration_log.h finds it. Reads the trace once, with its columns in memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/analysis/diff/outside_calls.h"
#include "tools/analysis/diff/run_conditions.h"
#include "tools/analysis/diff/welch.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

enum class Quantity : std::uint8_t {
  gpu_ns,
  dram_bytes,
  l2_bytes,
  // Of an iteration as a whole:
  wall_ns,
  wall_p95_ns,
  wall_longest_ns,
  busy_ns,
  idle_ns,
  idle_copies_ns,  ///< these seven: by IdleCause
  idle_queued_ns,
  idle_function_ns,
  idle_launch_ns,
  idle_sync_ns,
  idle_memory_ns,
  idle_code_ns,
  host_ns,
  launches,
  kernels,
  memory_bytes,  ///< largest of the whole trace
  rank_wait_ns,  ///< of a job: waits for other ranks, mean of the ranks
  transfer_ns    ///< the rest of exposed communication
};
/// Number of quantities that paths and kernels have: the first ones.
inline constexpr std::size_t kQuantities = 3;
[[nodiscard]] constexpr bool is_idle_cause(Quantity quantity) noexcept {
  return quantity >= Quantity::idle_copies_ns && quantity <= Quantity::idle_code_ns;
}

/// Values per iteration of one path or kernel, by Quantity: trimmed mean and spread over the batches. n() is
/// 0 if nothing was measured, or not for all launches.
using Spreads = std::array<Moments, kQuantities>;

/// Named metrics of a module or a kernel, by name; those that are sums (MetricForm::sum) per launch.
using MetricValues = std::map<std::string, double>;

/// GPU time per iteration on the fastest and the slowest rank of a job.
struct RankSpread {
  double min_ns = 0, max_ns = 0;
};

struct PathSeries {
  std::string name;  ///< last component of the path
  std::uint32_t depth = 0;
  std::size_t order = 0;  ///< of first appearance
  Spreads spreads;        ///< inclusive
  MetricValues metrics = {};
  std::optional<RankSpread> ranks = {};  ///< of a job
};

/// Sampled bytes of a path per iteration, and the error bound that holds for 95 % of paths.
struct SampledSeries {
  double dram_bytes = 0, dram_error = 0, l2_bytes = 0, l2_error = 0;
};

struct KernelSeries {
  Spreads spreads;
  std::string where;  ///< the path with most of its time
  MetricValues metrics = {};
};

/// One quantity of the compared iterations.
struct IterationValues {
  std::size_t n = 0;  ///< iterations that have a value
  double median = 0, p95 = 0, longest = 0;
  Moments batches;  ///< trimmed, of the medians of the batches
};

/// By batch; nullopt: there are none.
[[nodiscard]] std::optional<IterationValues> iteration_values(
    const std::vector<std::vector<double>>& by_batch);

class IterationSeries {
 public:
  /// `iteration_range`: glob, or empty (find_iterations). `iterations`: the selected ones. Throws Missing.
  [[nodiscard]] static IterationSeries load(const TraceFolder& trace, const std::string& iteration_range,
                                            const HalfOpen<std::uint64_t>& iterations,
                                            const ReadLimits& limits = {});
  /// Of a trace with kColumns that was read for another purpose; if it is sampled, also with those of
  /// SampledTrace. `found`: its iterations.
  [[nodiscard]] static IterationSeries of(Trace& trace, Iterations found,
                                          const HalfOpen<std::uint64_t>& iterations);
  static const Columns kColumns;

  std::map<std::string, PathSeries> paths;       ///< by path, as shown (shown_paths.h)
  std::map<std::string, KernelSeries> kernels;   ///< by demangled name
  std::map<std::string, SampledSeries> sampled;  ///< by path; empty: no samples, or the trace has exact bytes
  std::map<std::string, CallSeries> calls;       ///< by path; outside of iterations
  std::map<Quantity, IterationValues> of_iterations;  ///< wall_ns, busy_ns, …; empty: no iterations
  std::string iteration_path;                         ///< empty: no iterations, the whole trace is one batch
  std::string title;                                  ///< folder and program
  Header header;                                      ///< of the first segment
  std::set<std::string> gpus;                         ///< names
  std::set<std::string> clocks;                       ///< "SM 1980 MHz, memory 2619 MHz"; empty: unknown
  RunConditions conditions;                           ///< while the compared iterations ran
  std::string counters;                               ///< mode, as in Header::counters
  std::uint64_t iterations = 0;                       ///< number of compared iterations
  std::size_t batches = 0;
  std::size_t ranks = 0;  ///< of a job: GPU times are those of own work, without communication; 0: one trace
  std::string late;       ///< of a job: who is late, and why
};

}  // namespace rangefinder
