// SPDX-License-Identifier: Apache-2.0
//
// summary.json: totals per path, per kernel and per kind of copy, losses, and our own
// cost. Dashboards build on this contract (schema/README.md, summary.schema.json).
//
//   TotalsBuilder ─┐
//   SampleSharing ─┤
//   names by id   ─┼─▶ summary_json() ─▶ text ─▶ summary.json (atomic_file.h)
//   loss, cost    ─┘   layer_summary() ─▶ the table at the end of a run (layer_report.h)
//
// Pure. Written row by row, so that 65,536 modules cost the application their text, and no
// JSON tree. Makes no findings: `rangefinder run` adds them when the application has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/attribution/condition_totals.h"
#include "profiler/attribution/layer_report.h"
#include "profiler/attribution/monitor_rates.h"
#include "profiler/attribution/path_totals.h"
#include "profiler/attribution/sample_sharing.h"
#include "schema/record.h"

namespace rangefinder {

/// Rows of kernels, heaviest first. All others share one row named "(other)".
inline constexpr std::size_t kSummaryKernels = 1000;

/// Everything a summary is made of. The callbacks must not throw.
struct SummaryInput {
  Header header;
  std::vector<GpuRecord> gpus;
  const TotalsBuilder& totals;
  std::function<std::string_view(std::uint32_t path)> path_name;  ///< own name, any bytes
  std::function<std::uint32_t(std::uint32_t path)> path_parent;   ///< 0: outermost
  /// May return null for an unknown id.
  std::function<const KernelNameRecord*(std::uint32_t name)> kernel_name;
  std::array<std::uint64_t, kLossCauses.size()> loss{};
  OwnCost own_cost{};
  bool final = false;
  std::uint64_t duration_ns = 0;           ///< since recording began
  const SampleSharing* samples = nullptr;  ///< sampled mode: bytes shared so far
  const MonitorRates* monitor = nullptr;   ///< monitor mode: its rates so far
  const ConditionTotals* conditions = nullptr;
  std::uint64_t records = 0;  ///< event lines that are in the segments' files
};

/// The whole text, newline at the end; always valid UTF-8. Throws bad_alloc, nothing else.
[[nodiscard]] std::string summary_json(const SummaryInput& input);

/// What the layer report shows of it: the same values as in the text.
[[nodiscard]] LayerSummary layer_summary(const SummaryInput& input);

}  // namespace rangefinder
