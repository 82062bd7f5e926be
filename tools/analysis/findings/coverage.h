// SPDX-License-Identifier: Apache-2.0
//
// How much of the GPU time the ranges of a program describe, and what hides the rest.
//
//   ranges, work ─▶ CoverageFacts ─▶ Coverage ─▶ the first line of the report, if it is low
//
// A range that holds all work of an iteration, or of the run, describes nothing: only what its parts hold
// counts, unless it is one kernel. One thread; memory grows with threads and kernel names, by 4
// to 6 bytes an outermost range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/findings/kernel_facts.h"
#include "tools/analysis/model/dense_ids.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/queries/stack_samples.h"

namespace rangefinder {

/// Why GPU time has no path. By the name of its kernels, its graphs and its threads.
enum class Uncovered : std::uint8_t {
  none,         ///< all has one, or no work was seen
  no_ranges,    ///< the program has none
  compiled,     ///< kernels that a compiler of models generated
  early_graph,  ///< graphs captured before recording began
  threads,      ///< launched by threads that open no ranges, while others do
  around,       ///< in ranges around all work only
  outside,      ///< launched while no range was open
  unnamed,      ///< in ranges around compiled code whose modules have no names
};

struct Coverage {
  double share = 1;  ///< of the GPU time, 0 to 1; 1 without GPU time
  Uncovered why = Uncovered::none;
  std::string around;  ///< the innermost range around all work; empty: there is none
  /// Part of the GPU time that compiled code without module names takes, and its range with most of it.
  double unnamed_share = 0;
  std::string unnamed;
  bool of_iterations = false;            ///< of the counted iterations, not of the whole run
  std::optional<MainFunction> function;  ///< of the host where no range was open; from samples of stacks

  [[nodiscard]] bool low() const noexcept { return share < kMinCoverage; }
  /// Work was launched while its thread had no range open.
  [[nodiscard]] bool is_outside() const noexcept {
    return why != Uncovered::none && why != Uncovered::around && why != Uncovered::unnamed;
  }
  [[nodiscard]] bool is_known() const noexcept { return !low() && unnamed.empty(); }
};

class CoverageFacts {
 public:
  /// `outermost`: of its thread.
  void add_range(const RangeRecord& range, bool outermost);
  /// Work in order of start. `names`: those so far.
  void add(const WorkEvent& event, const TraceNames& names);
  /// `trace`: complete, or the part of it that the rows beside the coverage are of.
  [[nodiscard]] Coverage result(const TraceTotals& trace, const Iterations& iterations,
                                const KernelFacts& kernels) const;
  /// From `first_ns` to `last_ns`, while they had no range open: the threads that launched work so and have
  /// samples.
  [[nodiscard]] ThreadSpans outside(TimeNs first_ns, TimeNs last_ns, const StackSamples& samples) const;

 private:
  DenseIds compiled_;  // by kernel name: 2 if a compiler generated it, else 1
  std::uint64_t outside_ns_ = 0, compiled_ns_ = 0, early_graph_ns_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> ns_by_thread_;  // of work outside of any range
  std::unordered_set<std::uint32_t> threads_;                      // with ranges
  ThreadSpans ranges_;                                             // times of the outermost
};

/// Two sentences: what is missing and why, and the step that changes it. Empty where all is known.
[[nodiscard]] std::string coverage_text(const Coverage& coverage);
/// {share, why: "compiled_code", around, unnamed, function, text}
[[nodiscard]] nlohmann::ordered_json coverage_json(const Coverage& coverage);

}  // namespace rangefinder
