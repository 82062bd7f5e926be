// SPDX-License-Identifier: Apache-2.0
//
// Splits each sample's bytes over the work that overlaps it, in proportion to overlap times rate.
//
//   SampleBlock ─▶ SampleSplit::add ─▶ bytes by path and by owner; no unit of selected work is lost
//                                  └─▶ the same for each replica: other rates, times and shapes
//
// Sums here are exclusive; sampled_bytes.cpp adds up the tree of paths.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/sampling/sampled_bytes_groups.h"
#include "tools/analysis/sampling/unmix.h"

namespace rangefinder {

/// Sums of one path and column, in bytes.
struct SharedSum {
  double bytes = 0;
  double time_shared = 0;
  std::array<double, kReplicas> replicas{};
  SharedSum& operator+=(const SharedSum& other) noexcept;
};

class SampleSplit {
 public:
  struct Bytes {
    std::array<std::uint64_t, kSharedColumns> bytes{};
    std::uint64_t overlap_ns = 0;  ///< of the work with samples
  };
  struct Owner : Bytes {
    Bytes whole;  ///< in the whole trace, whatever is selected
  };
  struct Path : Owner {
    std::array<SharedSum, kSharedColumns> sums;
    std::uint64_t samples = 0, inclusive_samples = 0;
  };

  /// `rates` and `groups` must outlive the split. `groups` has numbered all work of the blocks.
  /// Counts work in `window`, and bytes without work in `unattributed`.
  SampleSplit(const UnmixedRates& rates, const WorkGroups& groups, const SampleWindow& window,
              const SampleWindow& unattributed);
  void add(const SampleBlock& block);

  [[nodiscard]] const std::vector<Path>& paths() const noexcept { return paths_; }
  /// By position in WorkGroups::owners().
  [[nodiscard]] const std::vector<Owner>& owners() const noexcept { return owners_; }
  /// Bytes of samples in the window, and the unattributed ones; other fields are not set.
  [[nodiscard]] const SampleTotals& totals() const noexcept { return totals_; }

 private:
  struct Piece {
    std::uint32_t owner = 0, path = 0, group = 0;
    TimeNs start_ns = 0, end_ns = 0;  // of the work
    double ns = 0;                    // overlap; 0 or less: near the sample, not in it
    double pace = 1;
    double weight = 0;
    double inside = 1;  // part of the overlap in the window; 0: the work is not selected
    bool bytes_known = false;
    std::uint32_t known_units = 0;    // in this sample
    std::optional<double> max_units;  // upper bound of its bytes here; absent: none
  };
  void count(const SampleBlock& block);
  /// Counts the current sample for a path and all paths above it, once for each.
  void count_sample(std::uint32_t path);
  void split(std::size_t column, const SampleBlock& block);
  /// Adds units of a piece to its path, its owner and the totals.
  void give(std::size_t column, const Piece& piece, std::uint64_t units);
  void split_sample(std::size_t column, const OrderedSample& sample, double background_units);
  void gather(std::size_t column, const SampleBatch& batch, const OrderedSample& sample,
              const std::vector<SampleOverlap>& overlaps, std::span<const KnownShare> known_shares);
  /// Gives work of known bytes its units and removes it from pieces_. Returns the units that remain.
  std::uint32_t subtract_known(std::size_t column, const OrderedSample& sample);
  /// Lowers the weight of pieces that would get more than they can have moved, if others ran too.
  void limit_weights(std::uint32_t units);
  void add_bytes(std::size_t column, const OrderedSample& sample, std::uint32_t units, double background,
                 double all);
  void add_replicas(std::size_t column, const OrderedSample& sample, std::uint32_t units, double background,
                    double all);
  void perturb(const ColumnRates& rates, std::size_t replica, const OrderedSample& sample);
  [[nodiscard]] static double weight_of(const Piece& piece, const std::vector<double>& rates, TimeNs from,
                                        TimeNs to) noexcept;
  void add_unattributed(std::size_t column, const OrderedSample& sample, std::uint64_t units);
  [[nodiscard]] bool one_path() const noexcept;

  const UnmixedRates& rates_;
  const WorkGroups& groups_;
  SampleWindow window_, unattributed_window_;
  SampleSweep sweep_;
  std::vector<Piece> pieces_;
  std::vector<double> perturbed_;
  std::vector<Path> paths_;                  // by position in WorkGroups::paths()
  std::vector<std::uint64_t> last_samples_;  // number of the last sample counted for a path
  std::vector<std::uint64_t> last_inclusive_samples_;
  std::vector<Owner> owners_;
  SampleTotals totals_;
  std::uint64_t seen_ = 0;  // samples
};

}  // namespace rangefinder
