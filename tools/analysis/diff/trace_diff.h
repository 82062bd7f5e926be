// SPDX-License-Identifier: Apache-2.0
//
// What changed between two traces of a program: by module and by kernel, time and bytes.
//
//   IterationSeries A, B ─▶ compare() ─▶ a Change a path, kernel and quantity ─▶ tables, verdict for CI
//
// Rows meet by path, so a module whose kernels were fused or renamed is still one row; kernels meet by
// name, and those that came or went say where. A change is believed if it passes Welch's t-test over
// the batches of iterations, with Holm's correction over all rows of its kind (at most one run of 100
// without any change shows one), and is at least `least` of the row: two runs of one program differ by
// a little for good, by clocks and where memory lies, which no number of iterations averages out.
// Sampled bytes have no batches: there the stated errors of both sides must not explain the change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/tables/table.h"

namespace rangefinder {

enum class Verdict : std::uint8_t { same, better, worse, appeared, gone, untested };
/// "same", "better", "worse", "new", "gone", "untested".
[[nodiscard]] const char* verdict_name(Verdict verdict) noexcept;

struct Change {
  std::string key;    ///< path, or demangled kernel name
  std::string shown;  ///< indented or shortened
  Quantity quantity = Quantity::gpu_ns;
  std::optional<double> a, b;  ///< of one iteration; absent: not there, or not measured
  std::size_t n_a = 0, n_b = 0;
  std::optional<WelchResult> test;  ///< absent: fewer than two batches on a side
  std::optional<double> bound;      ///< sampled bytes: combined error of the difference
  Verdict verdict = Verdict::untested;
  std::string where;  ///< kernels: path with most of its time

  /// (b - a) / a; absent where a is 0 or one of them is not known.
  [[nodiscard]] std::optional<double> relative() const;
};

struct DiffOptions {
  double least = 0.02;  ///< smaller relative changes count as none
  double alpha = 0.01;  ///< chance of even one false change among the rows of a kind
};

struct TraceDiff {
  std::vector<Change> modules;  ///< gpu_ns, then dram_bytes, then l2_bytes of each path, in order of A
  std::vector<Change> kernels;  ///< heaviest change of time first
  /// Rows that are worse by more than `over`.
  [[nodiscard]] std::vector<const Change*> worse_than(double over) const;
};

[[nodiscard]] TraceDiff compare(const IterationSeries& a, const IterationSeries& b,
                                const DiffOptions& options);

/// By how much changed in an iteration: times before bytes.
void heaviest_first(std::vector<Change>& changes);

/// `all`: rows without a change too, modules in the order of a tree; else heaviest change first.
[[nodiscard]] Table module_changes(const TraceDiff& diff, bool all);
[[nodiscard]] Table kernel_changes(const TraceDiff& diff, bool all);

}  // namespace rangefinder
