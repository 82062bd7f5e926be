// SPDX-License-Identifier: Apache-2.0
//
// Does the GPU time of modules follow the bytes that they move? `report --section modules --fit`, and the
// finding time_follows_bytes.
//
//   rows of one depth ─▶ (bytes, GPU time) a call ─▶ least squares: time = intercept + slope x bytes
//
// One line for DRAM bytes and one for L2 bytes at each depth. Uses modules whose bytes are complete. A module
// without calls of its own, such as a level of a dotted name, counts once per call of the module around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

struct FitModule {
  std::uint32_t path = 0;
  double ns = 0;                  ///< GPU time a call
  std::array<double, 2> bytes{};  ///< DRAM, L2; a call
  /// Of these, by sharing samples; of exact ones the carry-over, where tables mark it. 0: none, or unknown.
  std::array<double, 2> error{};
  std::array<bool, 2> shown{};  ///< the bound allows a number
};

/// Of DRAM read plus written, as FitModule::error has it.
[[nodiscard]] double dram_bound(const RowBytes& bytes) noexcept;

struct FittedLine {
  double r = 0;                       ///< correlation; 0: no line, because all bytes or all times are equal
  double slope = 0;                   ///< ns per byte
  double intercept = 0;               ///< ns
  std::vector<std::size_t> outliers;  ///< of DepthFit::modules; the furthest first

  [[nodiscard]] double at(double bytes) const noexcept { return intercept + slope * bytes; }
  /// Share of the spread that the line explains, corrected for the number of modules: few fit any line.
  [[nodiscard]] double explained(std::size_t modules) const noexcept;
};

struct DepthFit {
  enum Level : std::size_t { dram, l2 };
  std::uint32_t depth = 0;
  std::vector<FitModule> modules;
  std::array<FittedLine, 2> lines;  ///< by Level
};

inline constexpr std::size_t kMinModulesOfFit = 3;
/// Depths with at least `least` modules, outermost first. `only`: paths to use; nullptr: all.
[[nodiscard]] std::vector<DepthFit> byte_fits(const TraceTotals& trace, const RowValues& values,
                                              const std::unordered_set<std::uint32_t>* only = nullptr,
                                              std::size_t least = kMinModulesOfFit);

/// One row for each depth, DRAM beside L2. `depth`: deepest; 0: all.
[[nodiscard]] Table byte_fit_table(const std::vector<DepthFit>& fits, std::uint32_t depth);
/// The modules that are far from a line. `most`: number for each depth; 0: all.
[[nodiscard]] Table byte_fit_outliers(const TraceTotals& trace, const std::vector<DepthFit>& fits,
                                      std::uint32_t depth, std::size_t most);

}  // namespace rangefinder
