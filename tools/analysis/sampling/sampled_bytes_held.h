// SPDX-License-Identifier: Apache-2.0
//
// A trace read once. Its blocks are kept for the fit, and for the attribution if all of them fit in memory.
//
//   RecordReader ─▶ SampledSource ─▶ blocks ─▶ background_of ─▶ unmix ─▶ rates
//
// Above kMaxHeld samples, or twice as many pieces of work, every second block is dropped, repeatedly. The
// rates then come from the blocks that remain, spread over the trace, and the attribution reads it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tools/analysis/sampling/sampled_bytes.h"
#include "tools/analysis/sampling/sampled_bytes_source.h"
#include "tools/analysis/sampling/unmix.h"

namespace rangefinder {

class HeldTrace {
 public:
  static constexpr std::size_t kMaxHeld = std::size_t{1} << 21;

  /// `selection`: see WorkGroups.
  explicit HeldTrace(RecordReader reader, const Selection* selection = nullptr,
                     std::size_t max_held = kMaxHeld);

  [[nodiscard]] bool any_samples() const noexcept { return !lines_.empty(); }
  [[nodiscard]] const WorkGroups& groups() const noexcept { return *groups_; }
  [[nodiscard]] const UnmixedRates& rates() const noexcept { return rates_; }
  /// Paths that samples cannot tell apart: positions in WorkGroups::paths() by group.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& inseparable() const noexcept {
    return inseparable_;
  }
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_; }
  void for_each_block(const std::function<void(const SampleBlock&)>& see) const;
  /// Work by owner: the part of its durations in the window, and the count of work that starts there.
  [[nodiscard]] std::vector<OwnerWork> owner_work(const SampleWindow& window) const;
  /// Adds the sums of samples lines (idle samples, links), each by the part of its time in the window.
  void add_lines(const SampleWindow& window, SampleTotals& totals) const;

 private:
  void hold(SampleBlock&& block, SampledSource& source);

  RecordReader reader_;
  std::size_t max_held_;
  std::unique_ptr<WorkGroups> groups_;  // on the heap: a source keeps a reference while this object moves
  std::vector<SampleBlock> blocks_;
  std::size_t held_ = 0;    // samples, plus half the pieces of work, in blocks_
  std::size_t stride_ = 1;  // one of stride_ blocks is kept
  std::size_t seen_ = 0;    // blocks so far
  std::vector<LineSums> lines_;
  std::vector<SampledSource::Work> work_;
  SampleGaps gaps_;
  std::vector<OwnerWork> owner_work_;
  CopyTruth truth_;
  std::uint64_t late_work_ = 0;
  UnmixedRates rates_;
  std::vector<std::vector<std::uint32_t>> inseparable_;
};

}  // namespace rangefinder
