// SPDX-License-Identifier: Apache-2.0
//
// Compares two traces of a program: iterations, time and bytes by module and by kernel, calls before and
// after the iterations.
//
//   IterationSeries A, B ─▶ compare() ─▶ one Change per iteration, path or kernel, and quantity ─▶ tables
//                                                                       └─▶ diff_answer.h, fail_limits.h
//
// Modules are matched by path, so a module whose kernels were fused or renamed is still one row. Kernels are
// matched by name; a new or vanished kernel has its path. A change counts if it passes two checks:
//
// * Yuen's test over the batches of iterations: Welch's t-test without the extreme eighth on each side. With
//   Holm's correction over all rows of its kind: at most one of 100 comparisons without any change shows one.
// * It is at least `least` of the row. Two runs of one program differ slightly in clocks and placement in
//   memory, which no number of iterations averages out.
//
// Values of iterations are medians, tested by the medians of the batches. The 95th percentile and the
// longest iteration are not tested. Nor is anything if a side has fewer than five iterations, or what Basis
// excludes. A change of 10 % and more that is not significant is unclear: the spread is too large. Sampled
// bytes have no batches: their test is that of a normal distribution with the combined stated errors of both
// sides, which hold for 95 % of paths. Modules that a kernel is fused over on one side only are not judged:
// the module around them is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

struct NamedMetric;

/// What two traces allow a verdict on.
enum class Basis : std::uint8_t {
  all,
  serialised,  ///< both have exact counters, which run launches one at a time: kernels, busy time, bytes
  bytes,       ///< counters are of different modes, which changes the times
  none         ///< the programs differ
};

/// Fewer iterations prove nothing: three of 10, 10 and 45 ms are compatible with any mean.
inline constexpr std::size_t kMinForVerdict = 5;

/// `fused`: of a module, a part of it is in a kernel that only one trace fuses over several
/// (fused_modules.h).
enum class Verdict : std::uint8_t { same, better, worse, appeared, gone, unclear, untested, fused };

struct Change {
  std::string key;    ///< path, or demangled kernel name; empty: the iteration
  std::string shown;  ///< indented or shortened
  Quantity quantity = Quantity::gpu_ns;
  std::optional<double> a, b;  ///< per iteration; absent: not in that trace, or not measured
  std::size_t n_a = 0, n_b = 0;
  std::optional<WelchResult> test;  ///< absent: fewer than two batches on a side
  std::optional<double> bound;      ///< sampled bytes: combined error of the difference
  Verdict verdict = Verdict::untested;
  std::string where;                           ///< kernels: the path with most of its time
  std::optional<RankSpread> ranks_a, ranks_b;  ///< modules of jobs

  [[nodiscard]] bool is_changed() const noexcept {
    return verdict != Verdict::same && verdict < Verdict::unclear;
  }
  /// (b - a) / a; absent if a is 0, or a or b is unknown.
  [[nodiscard]] std::optional<double> relative() const;
};

/// A named metric of a module or a kernel that both traces have. There is no test: values have no batches.
struct MetricChange {
  std::string key;  ///< path, or demangled kernel name
  bool of_kernel = false;
  const NamedMetric* metric = nullptr;
  double a = 0, b = 0;
  Verdict verdict = Verdict::same;  ///< unclear: changed, and neither direction is better
};

struct DiffOptions {
  double least = 0.02;  ///< smaller relative changes do not count
  /// Nor do changes of modules, kernels and calls below this time, or this share of the iteration.
  double min_ns = 10'000, min_share = 0.005;
  double alpha = 0.01;  ///< probability of one or more false changes among the rows of a kind
};

struct TraceDiff {
  Basis basis = Basis::all;
  bool enough = false;  ///< both sides have kMinForVerdict iterations
  /// wall_ns first, of Basis::serialised busy_ns; without times for Basis::bytes; empty: a side has no
  /// iterations
  std::vector<Change> iterations;
  std::vector<Change> modules;        ///< gpu_ns, then dram_bytes, then l2_bytes of each path, in order of A
  std::vector<Change> calls;          ///< gpu_ns and host_ns of a call of each path outside of iterations
  std::vector<Change> kernels;        ///< largest change of time first
  std::vector<MetricChange> metrics;  ///< of modules, then of kernels
  /// Modules that are worse by more than `over`.
  [[nodiscard]] std::vector<const Change*> worse_than(double over) const;
};

/// Programs differ if their names do, and less than half of the GPU time is in modules or kernels of both.
[[nodiscard]] Basis basis_of(const IterationSeries& a, const IterationSeries& b);
/// The name of the program, of Python that of its script or module.
[[nodiscard]] std::string program_name(const Header& header);

[[nodiscard]] TraceDiff compare(const IterationSeries& a, const IterationSeries& b,
                                const DiffOptions& options);

/// The absolute change per iteration; of bytes so small that times come first.
[[nodiscard]] double weight(const Change& change);
/// Sorts by it.
void heaviest_first(std::vector<Change>& changes);
/// What got worse, then other changes, then the rest; each the heaviest first.
void worst_first(TraceDiff& diff);
/// Of a verdict in a table: "worse" ("slower", "more"), "better" ("faster", "less"), "changed" ("new",
/// "gone"); empty: none of these.
[[nodiscard]] std::string_view verdict_tone(std::string_view verdict) noexcept;

/// For a comment: rows of `failed` first, then what else got worse, then other changes. Modules that differ
/// in a number and changed alike are one row. 20 rows, and all failed ones.
[[nodiscard]] Table modules_for_comment(const TraceDiff& diff, const std::vector<const Change*>& failed);
/// The iteration, modules, kernels, metrics if any, calls outside of iterations if any. `all`: includes rows
/// without a change and has modules in tree order, else the largest change first. The iteration has every
/// row.
[[nodiscard]] std::vector<Table> diff_tables(const TraceDiff& diff, bool all);
/// Of an iteration: "slower", "fewer", "too few", "untested".
[[nodiscard]] const char* iteration_verdict_name(const Change& change) noexcept;
/// "gpu_ns", "wall_ns": as in JSON.
[[nodiscard]] const char* quantity_key(Quantity quantity) noexcept;
/// The inverse; empty: there is no such quantity.
[[nodiscard]] std::optional<Quantity> quantity_of(std::string_view key) noexcept;
/// A value in the unit of its quantity; `with_sign`: "+" before a positive one.
[[nodiscard]] std::string value_text(double value, Quantity quantity, bool with_sign = false);

}  // namespace rangefinder
