// SPDX-License-Identifier: Apache-2.0
//
// Bytes per path from the hardware samples of a trace, with an error bound.
//
//   trace ─▶ SampledTrace::load ─▶ rates of (path, kernel) groups     (sampled_bytes_source.h, unmix.h)
//                  └─ totals(window) ─▶ each sample's bytes over the work it overlaps, in
//                                       proportion to overlap times rate ─▶ SampledTotals
//
// No byte is lost or counted twice: the samples' bytes are the exclusive bytes of all paths, without their
// `estimated_bytes`, plus `unattributed`. Work in a gap where samples were lost is assumed to move bytes at
// the rate of its path inside samples. Each column is time-shared unless its rates predict held-out samples
// better; ColumnSharing reports the method. CopyTruth compares the result with copies, whose bytes are known.
//
// Blocks of samples and work are kept for the fit, and for the attribution if all of them fit in memory.
// Above kMaxKept samples, or twice as many pieces of work, every second block is dropped, repeatedly. The
// rates then come from the blocks that remain, spread over the trace, and totals() reads it again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/sampling/sampled_bytes_groups.h"
#include "tools/analysis/sampling/sampled_bytes_source.h"
#include "tools/analysis/sampling/unmix.h"

namespace rangefinder {

enum class SharingMethod : std::uint8_t { time_shared, unmixed };

/// "time_shared" or "unmixed": the values in JSON.
[[nodiscard]] std::string_view sharing_method_name(SharingMethod method) noexcept;

/// One column of one path, with its error bound.
struct BoundedBytes {
  std::uint64_t bytes = 0;
  std::uint64_t estimated_bytes = 0;  ///< part of `bytes`: work while samples were lost
  std::uint64_t error_bytes = 0;      ///< the true value is within bytes ± error_bytes for 95 % of all paths
  /// Part of `error_bytes` that comes from the noise of the samples. In a run N times longer it is larger
  /// only by the square root of N; `bytes` and the other parts are N times larger.
  double noise_bytes = 0;

  /// 100 * error_bytes / bytes; absent if bytes is 0.
  [[nodiscard]] std::optional<double> error_pct() const noexcept;
};

/// By SharedColumn: DRAM read, DRAM written, L2.
using BoundedColumns = std::array<BoundedBytes, kSharedColumns>;

/// A path with GPU work, its own or below it.
struct SampledPath {
  std::uint32_t path = 0;  ///< 0: launched outside of any range
  BoundedColumns inclusive;
  BoundedColumns exclusive;
  std::uint64_t samples = 0;            ///< that overlap the path's own work
  std::uint64_t inclusive_samples = 0;  ///< that overlap its work or that of a path below it
  std::uint64_t work_ns = 0;            ///< durations of the path's own work, summed
  std::uint64_t overlap_ns = 0;         ///< part of work_ns inside samples
  std::uint64_t estimated_ns = 0;       ///< part of the unsampled time whose bytes are estimated
  /// The same for the path and all paths below it.
  std::uint64_t inclusive_work_ns = 0, inclusive_overlap_ns = 0, inclusive_estimated_ns = 0;

  /// Number of its group in SampledTotals::inseparable, from 1; 0: none, its own bytes can be separated.
  std::uint32_t inseparable = 0;
};

/// Bytes by kernel name; name 0: copies and memsets.
struct SampledKernel {
  std::uint32_t name = 0;
  std::array<std::uint64_t, kSharedColumns> bytes{}, estimated_bytes{};  ///< the second is part of the first
  std::uint64_t work_ns = 0, overlap_ns = 0, estimated_ns = 0;
};

/// How a column was shared.
struct ColumnSharing {
  SharingMethod method = SharingMethod::time_shared;
  std::int32_t lag_ns = 0;  ///< added to the samples' times, to match the records' times
  /// Squared error on held-out samples, unmixed / time-shared; below 1: unmixing predicts better.
  /// Absent: too few samples to decide.
  std::optional<double> held_out_ratio;
  double min_run = 1;  ///< above 1: rates are fitted only in a run at least this many times longer
};

/// Paths whose own work always runs at one time (inseparable.h). The sum is as certain as any path's bytes;
/// each member's bytes are between 0 and it.
struct InseparableGroup {
  std::vector<std::uint32_t> paths;  ///< ids
  BoundedColumns sum;                ///< of their own work
};

struct SampledTotals {
  std::vector<SampledPath> paths;  ///< by path id, ascending
  std::vector<InseparableGroup> inseparable;
  std::vector<SampledKernel> kernels;  ///< by name id, ascending
  std::array<ColumnSharing, kSharedColumns> sharing;
  SampleTotals samples;  ///< attributed and unattributed bytes, link bytes, counts
  CopyTruth truth;

  /// The row of a path; nullptr: no GPU work in the window.
  [[nodiscard]] const SampledPath* find(std::uint32_t path) const noexcept;
};

/// A trace with fitted rates, ready to attribute its samples. Not thread-safe.
class SampledTrace {
 public:
  static constexpr Columns kColumns = kSampledColumns;
  static constexpr std::size_t kMaxKept = std::size_t{1} << 21;
  /// nullopt: the trace has no samples. `trace` has kColumns; it and its files must not change while the
  /// object is in use. `selection`: whose work totals() reports, after it has seen the trace; rates are
  /// fitted to the whole trace. nullptr: all.
  [[nodiscard]] static std::optional<SampledTrace> load(Trace& trace, const Selection* selection = nullptr,
                                                        std::size_t max_kept = kMaxKept);

  /// In the time that the selection covers.
  [[nodiscard]] SampledTotals totals() const;
  [[nodiscard]] SampledTotals totals(const SampleWindow& window) const {
    return totals(groups_, window, window);
  }
  /// Of the whole trace, whatever is selected.
  [[nodiscard]] SampledTotals whole() const;
  [[nodiscard]] const UnmixedRates& rates() const noexcept { return rates_; }

 private:
  SampledTrace(Trace& trace, const Selection* selection, std::size_t max_kept);
  void keep(SampleBlock&& block);
  /// Work in `window`, bytes without work in `unattributed`. `groups`: groups_, or all of it selected.
  [[nodiscard]] SampledTotals totals(const WorkGroups& groups, const SampleWindow& window,
                                     const SampleWindow& unattributed) const;
  [[nodiscard]] std::vector<OwnerWork> work_in(const SampleWindow& window) const;
  /// Adds the sums of samples lines (idle samples, links), each by the part of its time in the window.
  void add_lines(const SampleWindow& window, SampleTotals& totals) const;

  Trace* trace_;
  const Selection* selection_;
  std::size_t max_kept_;
  WorkGroups groups_;
  std::vector<SampleBlock> blocks_;
  std::size_t kept_ = 0;    // samples, plus half the pieces of work, in blocks_
  std::size_t stride_ = 1;  // one of stride_ blocks is kept
  std::size_t seen_ = 0;    // blocks so far
  SampledSums sums_;
  UnmixedRates rates_;
  /// Paths that samples cannot distinguish: positions in WorkGroups::paths() by group.
  std::vector<std::vector<std::uint32_t>> inseparable_;
};

}  // namespace rangefinder
