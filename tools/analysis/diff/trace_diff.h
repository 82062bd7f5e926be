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
// longest iteration are not tested. Nor is a row without a significant change if a side has fewer than four
// batches. A change of 10 % and more that is not significant is unclear: the spread is too large. Sampled
// bytes have no batches: their test is that of a normal distribution with the combined stated errors of both
// sides, which hold for 95 % of paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

enum class Verdict : std::uint8_t { same, better, worse, appeared, gone, unclear, untested };

struct Change {
  std::string key;    ///< path, or demangled kernel name; empty: the iteration
  std::string shown;  ///< indented or shortened
  Quantity quantity = Quantity::gpu_ns;
  std::optional<double> a, b;  ///< per iteration; absent: not in that trace, or not measured
  std::size_t n_a = 0, n_b = 0;
  std::optional<WelchResult> test;  ///< absent: fewer than two batches on a side
  std::optional<double> bound;      ///< sampled bytes: combined error of the difference
  Verdict verdict = Verdict::untested;
  std::string where;  ///< kernels: the path with most of its time

  [[nodiscard]] bool is_changed() const noexcept {
    return verdict != Verdict::same && verdict < Verdict::unclear;
  }
  /// (b - a) / a; absent if a is 0, or a or b is unknown.
  [[nodiscard]] std::optional<double> relative() const;
};

struct DiffOptions {
  double least = 0.02;  ///< smaller relative changes do not count
  double alpha = 0.01;  ///< probability of one or more false changes among the rows of a kind
};

struct TraceDiff {
  std::vector<Change> iterations;  ///< wall_ns first; empty: a side has no iterations
  std::vector<Change> modules;     ///< gpu_ns, then dram_bytes, then l2_bytes of each path, in order of A
  std::vector<Change> calls;       ///< gpu_ns and host_ns of a call of each path outside of iterations
  std::vector<Change> kernels;     ///< largest change of time first
  /// Modules that are worse by more than `over`.
  [[nodiscard]] std::vector<const Change*> worse_than(double over) const;
};

[[nodiscard]] TraceDiff compare(const IterationSeries& a, const IterationSeries& b,
                                const DiffOptions& options);

/// Sorts by the absolute change per iteration: times before bytes.
void heaviest_first(std::vector<Change>& changes);

/// The iteration, modules, kernels, calls outside of iterations if any. `all`: includes rows without a change
/// and has modules in tree order, else the largest change first. The iteration has every row.
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
