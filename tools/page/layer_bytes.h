// SPDX-License-Identifier: Apache-2.0
//
// Bytes of the layers of an iteration: of all counted iterations together, and of some of them (replays).
//
//   samples  ─▶ values of each replay's time ─▶ measure() ─┐
//   exact lines ──────────────────────────────▶ add() ─────┴▶ a cell a layer and replay, with its bound
//
// A cell is compared with the median of its layer. The bound of exact bytes is their carry-over and 1 %, to
// which they agree with other tools. Not thread-safe.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/model/iterations.h"
#include "tools/analysis/queries/row_values.h"
#include "tools/page/page_indices.h"
#include "tools/page/shown_layers.h"

namespace rangefinder {

class LayerBytes {
 public:
  static constexpr std::size_t kMaxLayers = 40;

  /// `part`: totals of the counted iterations. It must outlive this.
  LayerBytes(const TraceTotals& part, const Iterations& iterations, std::size_t replays);

  [[nodiscard]] const ShownLayers& layers() const noexcept { return layers_; }
  /// `values`: of the replay's time.
  void measure(std::size_t replay, const RowValues& values);
  /// A launch of the replay, with bytes.
  void add(std::size_t replay, const ExactRecord& exact);
  /// Call it after the last launch.
  void finish(const GpuPeaks& peaks);

  /// {cells: by layer and replay [bytes, error, shown, beyond] or null, medians}
  [[nodiscard]] nlohmann::ordered_json heat_json() const;
  /// By layer, with their errors; null where these forbid a number.
  [[nodiscard]] nlohmann::ordered_json bands_json(std::size_t replay) const;
  /// Of all replays, `calls` in number.
  [[nodiscard]] nlohmann::ordered_json rows_json(const RowValues& values, std::size_t calls,
                                                 const PageIndices& indices) const;

 private:
  const TraceTotals& part_;
  ShownLayers layers_;
  std::unordered_map<std::uint32_t, PathTotals> rows_;  // by path
  std::vector<std::vector<RowBytes>> bytes_;            // by replay and layer; empty: not measured
  std::vector<std::vector<PathTotals>> exact_;          // the same, until finish()
};

}  // namespace rangefinder
