// SPDX-License-Identifier: Apache-2.0
//
// Chooses the modules by which the overview divides an iteration: the layers of its picture, the parts of its
// bars.
//
//   iteration ─▶ model ─▶ backbone, encoder, decoder ─▶ the heaviest again, while they are few enough
//
// No layer contains another. They are in order of first appearance, and together have nearly all GPU time of
// the modules above them. A family is what layers differ from by numbers only: `decode/layer *`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

class ShownLayers {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Layer {
    std::uint32_t path = 0;
    std::uint32_t family = 0;  ///< index of families()
    std::uint32_t member = 0;  ///< number in its family
    std::uint64_t gpu_ns = 0;
  };

  /// `part`: totals of the iterations, whose paths are `around`; empty: no range marks them. `max`: number of
  /// layers, which siblings of the outermost level may exceed.
  ShownLayers(const TraceTotals& part, const std::unordered_set<std::uint32_t>& around, std::size_t max);

  [[nodiscard]] const std::vector<Layer>& layers() const noexcept { return layers_; }
  /// Paths with `*` for numbers (numbers_folded), as findings name them.
  [[nodiscard]] const std::vector<std::string>& families() const noexcept { return families_; }
  [[nodiscard]] std::size_t members(std::uint32_t family) const noexcept { return members_[family]; }
  /// The layer that contains the path; kNone: none.
  [[nodiscard]] std::size_t of(std::uint32_t path) const;
  /// The layer, below the outermost path around it that is not around most layers.
  [[nodiscard]] std::vector<std::uint32_t> chain(std::size_t layer) const;

 private:
  void add(std::uint32_t path, std::uint64_t gpu_ns);

  const TraceTotals& part_;
  std::vector<Layer> layers_;
  std::vector<std::string> families_;
  std::vector<std::uint32_t> members_;                     // by family
  std::unordered_map<std::uint32_t, std::size_t> places_;  // by path, of layers
  mutable std::unordered_map<std::uint32_t, std::size_t> known_;
};

}  // namespace rangefinder
