// SPDX-License-Identifier: Apache-2.0
//
// The strip of iterations: one bar each, its GPU time divided by module.
//
//   IterationLog ─▶ which iterations have a bar ─┐
//   each chunk ──────────────────────────────────┴▶ GPU time by bar and layer ─▶ JSON
//
// Of more iterations than kMaxBars each bar is the slowest of some neighbours. The parts of a bar add up to
// the GPU time of the iteration in `report --section iterations`. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/page/page_indices.h"
#include "tools/page/shown_layers.h"

namespace rangefinder {

class IterationBars {
 public:
  static constexpr std::size_t kMaxBars = 480;
  /// `layers` and `log` must outlive this.
  IterationBars(const IterationLog& log, const ShownLayers& layers);

  static constexpr Columns kColumns = kWorkOfIteration | Column::work_path;
  void add(const SelectedRows& rows);
  /// `median`: the iteration that stands for all.
  [[nodiscard]] nlohmann::ordered_json json(const TraceNames& names, const PageIndices& indices,
                                            std::size_t median) const;

 private:
  const IterationLog& log_;
  const ShownLayers& layers_;
  std::size_t group_ = 1;             // iterations a bar
  std::vector<std::size_t> bars_;     // iterations, by bar
  std::vector<std::uint32_t> bar_;    // by iteration; kNoBar: none
  std::vector<std::uint64_t> parts_;  // ns by bar and layer; the last of a bar: in no layer
};

/// [{module, name, path, family, member, members, gpu_ns}]
[[nodiscard]] nlohmann::ordered_json layers_json(const ShownLayers& layers, const TraceNames& names,
                                                 const PageIndices& indices);

}  // namespace rangefinder
