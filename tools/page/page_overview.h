// SPDX-License-Identifier: Apache-2.0
//
// The landing view: what the report says first, where the evidence is, the iterations, and one of them byte
// by byte.
//
//   RunSummary ─▶ opening lines and findings, each with links to its evidence ─┐
//   PageCounts, chunks ─▶ IterationBars, ReplayPicture ────────────────────────┴▶ JSON
//
// A link is a state of the page: {text, view, module, kernel, from, to}. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/queries/section.h"
#include "tools/page/finding_links.h"
#include "tools/page/iteration_bars.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"
#include "tools/page/replay_picture.h"
#include "tools/page/shown_layers.h"

namespace rangefinder {

class PageOverview {
 public:
  static constexpr std::size_t kMaxParts = 14;  ///< of a bar, unless they are siblings
  static constexpr Columns kColumns = IterationBars::kColumns | ReplayPicture::kColumns;

  /// After PageCounts::finish(). It must outlive this.
  explicit PageOverview(const PageCounts& counts);
  /// WholeTrace::measured_from() calls it, if there are samples.
  void measure(const TraceTotals& part, const SampledTrace& samples);
  /// Before add(). `input` must outlive this.
  void begin(const SectionInput& input);
  void add(const SelectedRows& rows);
  [[nodiscard]] nlohmann::ordered_json json(const SectionInput& input, const RunSummary& run,
                                            const PageIndices& indices);

 private:
  [[nodiscard]] nlohmann::ordered_json opening_json(const TraceTotals& trace, const RunSummary& run) const;
  [[nodiscard]] nlohmann::ordered_json evidence_json(const TraceTotals& trace, const Finding& finding,
                                                     const FindingLinks& links,
                                                     const PageIndices& indices) const;
  [[nodiscard]] nlohmann::ordered_json time_link(const char* text) const;
  /// From the first start to the last end of work in the path, or below it, in the median iteration.
  [[nodiscard]] std::optional<SampleWindow> span_of(std::uint32_t path, const TraceNames& names) const;

  const PageCounts& counts_;
  std::optional<std::size_t> median_;  // an iteration
  std::optional<ShownLayers> parts_;   // of bars
  std::optional<IterationBars> bars_;
  std::optional<ReplayPicture> picture_;
  std::unordered_map<std::uint32_t, SampleWindow> spans_;  // of the median iteration's work, by its path
};

}  // namespace rangefinder
