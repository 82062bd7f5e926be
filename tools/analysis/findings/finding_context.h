// SPDX-License-Identifier: Apache-2.0
//
// The input of rules, and what they share. A rule is a function and a row of rules.h.
//
//   chunks ─▶ FindingFacts ─▶ FindingContext ─▶ rule(context) ─▶ Findings
//
// A rule reports nothing if the trace lacks the data: a missing metric, or host times that the profiler
// itself distorted (FindingContext::host_times_valid).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/analysis/findings/call_log.h"
#include "tools/analysis/findings/finding.h"
#include "tools/analysis/findings/kernel_facts.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/queries/gpu_gaps.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {

class FindingFacts;

/// The program's loop, from three iterations on: those that IterationLog counts, without the warm-up.
struct Loop {
  std::string path;                         ///< of the range that marks an iteration; empty: none does
  std::uint64_t count = 0;                  ///< analysed iterations
  std::uint64_t all = 0;                    ///< with those of the warm-up
  std::uint64_t wall_ns = 0, busy_ns = 0;   ///< of the analysed ones, summed
  double median_ns = 0;                     ///< of their wall times
  TimeNs start_ns = 0, end_ns = 0;          ///< from the first of these to the end of the last one's work
  std::uint32_t thread = 0;                 ///< that runs them
  std::unordered_set<std::uint32_t> paths;  ///< of the range and all below it; of a graph: of its nodes

  [[nodiscard]] bool found() const noexcept { return count != 0; }
  [[nodiscard]] bool contains(TimeNs time) const noexcept { return time >= start_ns && time < end_ns; }
};

/// Grids below are grid_under_one_wave's: with more than half a wave the GPU is as good as full.
inline constexpr double kHalfWave = 0.5;

/// Rules run over the work of the loop; with `report --all` once more outside of it: set-up and warm-up.
/// Without a loop, work in ranges that repeat stands for it; without these, all work.
struct FindingContext {
  const SectionInput& input;
  const KernelFacts& kernels;
  const GpuGaps& gaps;
  const CallLog& log;
  const FindingFacts& facts;  ///< all that was read
  const Iterations& iterations;
  Loop loop = {};
  bool outside = false;  ///< the rules run over the work outside of the loop
  /// Paths of the work to analyse; with `outside`, of the work that is not.
  std::unordered_set<std::uint32_t> paths = {};
  /// False: exact windows serialise launches and add time of their own between them.
  bool host_times_valid = true;
  /// The analysed time: the wall time of the loop's iterations, else from the first to the last GPU work.
  std::uint64_t span_ns = 0;
  /// Mean cost of recording a launch, for the launching thread. Absent: the trace does not have it.
  std::optional<std::uint64_t> launch_cost_ns = {};

  // set_scope() fills these from the above.
  std::unordered_set<std::uint32_t> set_up = {};  ///< paths of compilers and autotuners: never analysed
  std::vector<PathTotals> rows = {};              ///< of the analysed paths, without path 0
  std::vector<KernelUse> uses = {};               ///< of the analysed work; longest total first
  std::vector<KernelUse> name_uses = {};          ///< the same by kernel name, as metrics are
  std::vector<KernelPlace> places = {};           ///< the same by path
  std::uint64_t gpu_ns = 0;                       ///< their time, of all iterations; at least 1
  /// Kernels often ran beside others: a kernel alone says little about how full the GPU was, or how fast.
  bool concurrent = false;
  double busy_part = 1;  ///< the time in which kernels ran, over the sum of theirs; at most 1
  void set_scope();

  /// `ns` without the cost of recording `launches`; absent if that is unknown.
  [[nodiscard]] std::optional<std::uint64_t> net_ns(std::uint64_t ns, std::uint64_t launches) const;
  /// Adds that cost to the evidence of a saving that is net of it.
  void add_cost(Finding& finding, std::uint64_t launches) const;

  /// Work at this path is analysed.
  [[nodiscard]] bool analyses(std::uint32_t path) const {
    return (paths.count(path) != 0) != outside && set_up.count(path) == 0;
  }
  /// Host work, a copy or a gap at this path and time is analysed.
  [[nodiscard]] bool analyses(std::uint32_t path, TimeNs time) const {
    return loop.found() ? loop.contains(time) != outside && set_up.count(path) == 0 : analyses(path);
  }
  /// The part of a sum over all iterations that falls on the analysed ones.
  [[nodiscard]] std::uint64_t of_analysed(std::uint64_t sum) const noexcept {
    if (outside || !loop.found()) return sum;
    return static_cast<std::uint64_t>(static_cast<double>(sum) * static_cast<double>(loop.count) /
                                      static_cast<double>(loop.all));
  }
  /// A sum over the analysed iterations as an amount of the median iteration: the same share of it.
  [[nodiscard]] std::uint64_t of_iteration(std::uint64_t ns) const {
    const double share =
        static_cast<double>(ns) / static_cast<double>(std::max<std::uint64_t>(1, loop.wall_ns));
    return host_times_valid ? static_cast<std::uint64_t>(std::llround(share * loop.median_ns))
                            : ns / loop.count;
  }
  /// of_iteration() as text; the sum itself without a loop.
  [[nodiscard]] std::string each_text(std::uint64_t ns) const;
  /// A count over `times` iterations, per iteration, rounded, at least 1; the count itself without a
  /// loop.
  [[nodiscard]] std::uint64_t each_count(std::uint64_t sum, std::uint64_t times) const {
    if (!loop.found() || outside) return sum;
    return std::max<std::uint64_t>(1, (sum + times / 2) / times);
  }
  /// " an iteration"; empty without a loop.
  [[nodiscard]] std::string per() const { return loop.found() && !outside ? " an iteration" : ""; }

  /// "(outside of any range)" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// Numbers folded; empty for 0.
  [[nodiscard]] std::string module_text(std::uint32_t path) const;
  /// The module with most of a kernel's analysed time, numbers folded, and that time.
  struct ModuleTime {
    std::string module;  ///< empty: outside of any range
    std::uint64_t ns = 0;
  };
  [[nodiscard]] ModuleTime module_of(const KernelUse& use) const;
  /// Weights by path, summed by module. The module of path 0 is "".
  [[nodiscard]] std::map<std::string, std::uint64_t> by_module(
      const std::unordered_map<std::uint32_t, std::uint64_t>& weights) const;
  /// Without parameters. Keeps template arguments, which distinguish kernels, unless that is too long.
  [[nodiscard]] std::string kernel_text(std::uint32_t name) const;
  /// Demangled, whole; empty: unknown.
  [[nodiscard]] const std::string& kernel_name(std::uint32_t name) const;
  /// The first GPU of the trace; nullptr: the trace names none.
  [[nodiscard]] const GpuRecord* gpu() const;
  /// False also if the launch configuration or the limits of the GPU are unknown.
  [[nodiscard]] bool under_half_a_wave(const KernelUse& use) const;
  /// `ns` as a share of the analysed GPU time.
  [[nodiscard]] double of_gpu(std::uint64_t ns) const noexcept {
    return static_cast<double>(ns) / static_cast<double>(gpu_ns);
  }
  /// `ns` as a share of the analysed time.
  [[nodiscard]] double of_span(std::uint64_t ns) const noexcept {
    return static_cast<double>(ns) / static_cast<double>(std::max<std::uint64_t>(1, span_ns));
  }
};

/// "`decoder/attn` (model.py:214) "; empty: the whole program.
[[nodiscard]] std::string subject_text(const Finding& finding);
/// Of its module, and of those in `modules`.
void set_sources(const ModuleSources& sources, Finding& finding);

/// 3 % and 10 % of the span.
[[nodiscard]] Severity severity_of(std::uint64_t saving_ns, std::uint64_t span_ns);

/// Makes Evidence of one unit: its key, its text, and a value of the type.
template <typename Value, Unit kUnit>
[[nodiscard]] Evidence evidence_of(std::string key, std::string text, Value value) {
  return {std::move(key), std::move(text), std::move(value), kUnit};
}
inline constexpr auto* evidence_ns = evidence_of<std::uint64_t, Unit::ns>;
inline constexpr auto* evidence_count = evidence_of<std::uint64_t, Unit::count>;
inline constexpr auto* evidence_bytes = evidence_of<std::uint64_t, Unit::bytes>;
inline constexpr auto* evidence_share = evidence_of<double, Unit::share>;
inline constexpr auto* evidence_factor = evidence_of<double, Unit::factor>;
inline constexpr auto* evidence_rate = evidence_of<double, Unit::bytes_per_s>;
inline constexpr auto* evidence_number = evidence_of<double, Unit::number>;
inline constexpr auto* evidence_text = evidence_of<std::string, Unit::text>;

/// `ns` as a share of the analysed GPU time.
[[nodiscard]] Evidence evidence_of_gpu(const FindingContext& context, std::uint64_t ns);

void set_kernel(const FindingContext& context, std::uint32_t name, Finding& finding);
/// With place, kernel and time; the saving, if any, is in the module with most of the kernel's time only.
[[nodiscard]] Finding finding_of_kernel(std::string_view id, const KernelUse& use,
                                        const FindingContext& context);
/// Begins the effect of a finding about a kernel: "`kernel` ", or nothing if a module is its subject.
[[nodiscard]] std::string kernel_subject(const Finding& finding);
/// The module does at least half of its work itself, so its finding does not repeat that of a child.
[[nodiscard]] bool does_half_itself(const PathTotals& row) noexcept;

/// Names the function with most of the time in `why`, if the trace has enough stacks of it.
void add_function(const FindingContext& context, const StackTimes& times, Finding& finding);

/// Adds the named metrics that were measured, under their own names.
void add_measured(Finding& finding, const NamedValues& values, std::initializer_list<const char*> names);

/// One fix mends all of these modules: sets `where` and `modules`. `ns`: by module, over all iterations.
void set_modules(const FindingContext& context, const std::map<std::string, std::uint64_t>& ns,
                 Finding& finding);

/// Keeps the findings with the largest savings, at most kMaxFindings, the largest first.
void keep_most_valuable(std::vector<Finding>& findings);

/// "cuMemAlloc x 8, cuMemFree x 8".
[[nodiscard]] std::string counts_text(const std::map<std::string, std::uint64_t>& counts);

/// The heaviest places of a rule, at most kMaxFindings. `weight(value)`: a number.
template <typename Place, typename Value, typename Weight>
[[nodiscard]] std::vector<std::pair<Place, Value>> heaviest(const std::map<Place, Value>& places,
                                                            Weight weight) {
  std::vector<std::pair<Place, Value>> out(places.begin(), places.end());
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return weight(a.second) > weight(b.second); });
  if (out.size() > kMaxFindings) out.resize(kMaxFindings);
  return out;
}

}  // namespace rangefinder
