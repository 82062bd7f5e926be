// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "profiler/attribution/kernel_carry.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/sampling/inseparable.h"
#include "tools/analysis/sampling/sampled_bytes_split.h"

namespace rangefinder {
namespace {

// The 95 % quantile of Student's t with kDrawnReplicas degrees of freedom.
constexpr double kDeviations = 2.2;
// Factor on what moves when the jitter of times is added a second time.
constexpr double kJitterPart = 1.5;
// Factor on what unmixing moved between paths.
constexpr double kModelPart = 0.1;
// Factor on what work outside samples would move at its path's rate; the path has none of these bytes.
constexpr double kUnsampledPart = 1.25;
// Factor on the bytes estimated for lost samples.
constexpr double kEstimatedPart = 0.25;
// Variation of counters, clocks and cache state between runs.
constexpr double kFloorPart = 0.01;

double deviation_of(const SharedSum& sum) noexcept {
  double squares = 0;
  for (std::size_t k = 0; k < kDrawnReplicas; ++k) {
    squares += (sum.replicas[k] - sum.bytes) * (sum.replicas[k] - sum.bytes);
  }
  return std::sqrt(squares / kDrawnReplicas);
}

// Sums of one path: first of its own work, later including all paths below it.
struct PathSums {
  std::array<SharedSum, kSharedColumns> sums;
  std::array<std::uint64_t, kSharedColumns> bytes{}, estimated{};  // the second is not part of the first
  SampleSplit::Bytes whole;                                        // of its own work in the whole trace
  std::uint64_t work_ns = 0, overlap_ns = 0, estimated_ns = 0, pieces = 0;
  std::uint64_t lost_ns = 0;  // of its own work
  std::uint32_t group = 0;    // of its own work: InseparableGroup, from 1
  std::array<double, kSharedColumns> squared_carry{};

  PathSums& operator+=(const PathSums& other) noexcept {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      sums[c] += other.sums[c];
      bytes[c] += other.bytes[c];
      estimated[c] += other.estimated[c];
      squared_carry[c] += other.squared_carry[c];
    }
    work_ns += other.work_ns;
    overlap_ns += other.overlap_ns;
    estimated_ns += other.estimated_ns;
    return *this;
  }
};

/// Estimates bytes of work while samples were lost, at the rate inside the samples of the whole trace.
void estimate_lost(PathSums& sums) {
  if (sums.whole.overlap_ns == 0 || sums.work_ns <= sums.overlap_ns) return;
  sums.estimated_ns = std::min(sums.lost_ns, sums.work_ns - sums.overlap_ns);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const double rate = static_cast<double>(sums.whole.bytes[c]) / static_cast<double>(sums.whole.overlap_ns);
    sums.estimated[c] =
        static_cast<std::uint64_t>(std::llround(rate * static_cast<double>(sums.estimated_ns)));
  }
}

/// What work that has neither samples nor an estimate would move, and the error of the estimate.
/// `mean_rate`: bytes per ns of all work, for paths without samples.
double unsampled_bytes(const PathSums& path, std::size_t column, double mean_rate) noexcept {
  const auto work = static_cast<double>(path.work_ns), overlap = static_cast<double>(path.overlap_ns);
  const double rate = overlap > 0 ? path.sums[column].bytes / overlap : mean_rate;
  return kUnsampledPart * std::max(0.0, work - overlap - static_cast<double>(path.estimated_ns)) * rate +
         kEstimatedPart * static_cast<double>(path.estimated[column]);
}

/// Estimated bytes are derived from the measured ones and have the same relative error.
double grown_by_estimate(const PathSums& path, std::size_t column) noexcept {
  const double bytes = path.sums[column].bytes;
  return bytes > 0 ? 1 + static_cast<double>(path.estimated[column]) / bytes : 1;
}

/// The part of error_bytes() that comes from the noise of the samples: fitted rates, like means, become more
/// exact with the square root of the number of samples. Their replicas also have the clocks' offset, which
/// does not, so a run that is long enough by this is a lower bound. Rates that were not fitted are unknown
/// however long the run is.
double noise_bytes(const PathSums& path, std::size_t column, bool unmixed) noexcept {
  return unmixed ? grown_by_estimate(path, column) * kDeviations * deviation_of(path.sums[column]) : 0;
}

/// The error bound of a path's sampled bytes.
///
///   replicas ──────────────┐  perturbed rates, times and shapes: bytes that leak to and from other paths
///   time-shared ───────────┤  a part of what unmixing moved, in case the model is wrong
///   work without samples ──┼─▶ error_bytes: holds for 95 % of all paths; smaller where bytes are estimated
///   work that runs alone ──┤  what caches carry from one kernel to the next
///   the counters' own ─────┘  a floor
///
/// Every part is computed from sums over the path and all paths below it. Bytes that leak between two
/// children stay in the parent, so a parent's error is smaller than the sum of its children's errors.
double error_bytes(const PathSums& path, std::size_t column, bool unmixed, double mean_rate) noexcept {
  const SharedSum& sum = path.sums[column];
  const double moved = unmixed ? std::abs(sum.bytes - sum.time_shared) : 0;
  const double jitter_shift = unmixed ? std::abs(sum.replicas[kJitterReplica] - sum.bytes) : 0;
  return grown_by_estimate(path, column) * (kDeviations * deviation_of(sum) + kJitterPart * jitter_shift +
                                            kModelPart * moved + kFloorPart * sum.bytes) +
         unsampled_bytes(path, column, mean_rate) + std::sqrt(path.squared_carry[column]);
}

class PathTable {
 public:
  /// `work`: by owner. All arguments must outlive the table.
  PathTable(const WorkGroups& groups, const UnmixedRates& rates, const SampleSplit& split,
            const std::vector<OwnerWork>& work)
      : work_groups_(groups), rates_(rates), split_(split), work_(work) {}

  /// `inseparable`: positions in WorkGroups::paths() by group.
  std::vector<SampledPath> rows(const std::vector<std::vector<std::uint32_t>>& inseparable) {
    const WorkGroups& groups = work_groups_;
    own_.resize(groups.paths().size());
    for (std::size_t i = 0; i < own_.size(); ++i) own_[i] = own_sums(i);
    for (std::size_t o = 0; o < groups.owners().size(); ++o) {
      if (!groups.owners()[o].selected) continue;
      own_[groups.owners()[o].path].work_ns += work_[o].ns;
      own_[groups.owners()[o].path].pieces += work_[o].count;
      own_[groups.owners()[o].path].lost_ns += work_[o].lost_ns;
    }
    for (PathSums& own : own_) {
      set_carry(own);
      estimate_lost(own);
    }
    set_mean_rates();
    for (const std::vector<std::uint32_t>& group : inseparable) add_group(group);
    std::vector<PathSums> inclusive = own_;
    // A parent always has a lower position than its children.
    for (std::size_t i = inclusive.size(); i-- > 1;) {
      if (groups.parents()[i] != 0) inclusive[groups.parents()[i]] += inclusive[i];
    }
    std::vector<SampledPath> rows;
    for (std::size_t i = 0; i < inclusive.size(); ++i) {
      if (inclusive[i].work_ns != 0) rows.push_back(row_of(i, inclusive[i]));
    }
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return rows;
  }

  /// After rows().
  std::vector<InseparableGroup> extract_groups() { return std::move(groups_); }

 private:
  PathSums own_sums(std::size_t i) const {
    const SampleSplit::Path& path = split_.paths()[i];
    PathSums own;
    own.sums = path.sums;
    own.bytes = path.bytes;
    own.overlap_ns = path.overlap_ns;
    own.whole = path.whole;
    return own;
  }

  /// The members' error is what any of them may have of the others' bytes. In an ancestor of all it cancels
  /// out.
  void add_group(const std::vector<std::uint32_t>& members) {
    PathSums all;
    for (const std::uint32_t member : members) all += own_[member];
    if (all.work_ns == 0) return;
    InseparableGroup& group = groups_.emplace_back();
    group.sum = bounded(all);
    for (std::size_t m = 0; m < members.size(); ++m) {
      PathSums& own = own_[members[m]];
      group.paths.push_back(work_groups_.paths()[members[m]]);
      own.group = static_cast<std::uint32_t>(groups_.size());
      for (std::size_t c = 0; c < kSharedColumns; ++c) {
        for (std::size_t k = 0; k < kDrawnReplicas; ++k) {
          const bool has_all = k % members.size() == m;  // each in turn
          own.sums[c].replicas[k] += (has_all ? all.sums[c].bytes : 0) - own.sums[c].bytes;
        }
      }
    }
  }

  static void set_carry(PathSums& own) {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      own.squared_carry[c] =
          squared_carry(static_cast<SharedColumn>(c), static_cast<double>(own.bytes[kSharedL2]), own.pieces);
    }
  }

  void set_mean_rates() {
    double ns = 0;
    std::array<double, kSharedColumns> bytes{};
    for (const PathSums& own : own_) {
      ns += static_cast<double>(own.overlap_ns);
      for (std::size_t c = 0; c < kSharedColumns; ++c) bytes[c] += static_cast<double>(own.bytes[c]);
    }
    for (std::size_t c = 0; c < kSharedColumns; ++c) mean_rates_[c] = ns > 0 ? bytes[c] / ns : 0;
  }

  BoundedColumns bounded(const PathSums& sums) const {
    BoundedColumns out;
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      out[c].bytes = sums.bytes[c] + sums.estimated[c];
      out[c].estimated_bytes = sums.estimated[c];
      out[c].error_bytes = static_cast<std::uint64_t>(
          std::ceil(error_bytes(sums, c, rates_.columns[c].unmixed, mean_rates_[c])));
      out[c].noise_bytes = noise_bytes(sums, c, rates_.columns[c].unmixed);
    }
    return out;
  }

  SampledPath row_of(std::size_t i, const PathSums& inclusive) const {
    SampledPath row;
    row.path = work_groups_.paths()[i];
    row.inclusive = bounded(inclusive);
    row.exclusive = bounded(own_[i]);
    row.inseparable = own_[i].group;
    row.samples = split_.paths()[i].samples;
    row.inclusive_samples = split_.paths()[i].inclusive_samples;
    row.work_ns = own_[i].work_ns;
    row.overlap_ns = own_[i].overlap_ns;
    row.estimated_ns = own_[i].estimated_ns;
    row.inclusive_work_ns = inclusive.work_ns;
    row.inclusive_overlap_ns = inclusive.overlap_ns;
    row.inclusive_estimated_ns = inclusive.estimated_ns;
    if (row.inseparable != 0) limit_to_group(row);
    return row;
  }

  /// A member has any part of the group's sum.
  void limit_to_group(SampledPath& row) const {
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const BoundedBytes& sum = groups_[row.inseparable - 1].sum[c];
      if (row.exclusive[c].bytes != 0) row.exclusive[c].error_bytes = sum.bytes + sum.error_bytes;
      if (row.inclusive_work_ns == row.work_ns) row.inclusive[c] = row.exclusive[c];
    }
  }

  const WorkGroups& work_groups_;
  const UnmixedRates& rates_;
  const SampleSplit& split_;
  const std::vector<OwnerWork>& work_;
  std::vector<PathSums> own_;
  std::vector<InseparableGroup> groups_;
  std::array<double, kSharedColumns> mean_rates_{};
};

/// Of the paths that `selection` shows.
std::vector<SampledKernel> kernel_rows(const WorkGroups& groups, const SampleSplit& split,
                                       const std::vector<OwnerWork>& work, const Selection* selection) {
  std::map<std::uint32_t, PathSums> rows;
  for (std::size_t o = 0; o < work.size(); ++o) {
    const WorkGroups::Owner& owner = groups.owners()[o];
    if (selection != nullptr && !selection->in_range(groups.paths()[owner.path])) continue;
    PathSums& row = rows[owner.name];
    const SampleSplit::Owner& part = split.owners()[o];
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      row.bytes[c] += part.bytes[c];
      row.whole.bytes[c] += part.whole.bytes[c];
    }
    row.overlap_ns += part.overlap_ns;
    row.whole.overlap_ns += part.whole.overlap_ns;
    if (!owner.selected) continue;
    row.work_ns += work[o].ns;
    row.lost_ns += work[o].lost_ns;
  }
  std::vector<SampledKernel> out;
  for (auto& [name, sums] : rows) {
    if (sums.work_ns == 0) continue;
    estimate_lost(sums);
    SampledKernel row{name, sums.bytes, sums.estimated, sums.work_ns, sums.overlap_ns, sums.estimated_ns};
    for (std::size_t c = 0; c < kSharedColumns; ++c) row.bytes[c] += row.estimated_bytes[c];
    out.push_back(row);
  }
  return out;
}

TimeNs length_inside(TimeNs start, TimeNs end, const SampleWindow& window) noexcept {
  return std::max<TimeNs>(0, std::min(end, window.to_ns) - std::max(start, window.from_ns));
}

double part_of_line(const LineSums& line, const SampleWindow& window) noexcept {
  if (line.from_ns >= window.from_ns && line.to_ns <= window.to_ns) return 1;
  if (line.to_ns <= line.from_ns) return 0;
  return static_cast<double>(length_inside(line.from_ns, line.to_ns, window)) /
         static_cast<double>(line.to_ns - line.from_ns);
}

std::uint64_t part_of(std::uint64_t count, double part) noexcept {
  return part >= 1 ? count : static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * part));
}

}  // namespace

std::string_view sharing_method_name(SharingMethod method) noexcept {
  return method == SharingMethod::unmixed ? "unmixed" : "time_shared";
}

std::optional<double> BoundedBytes::error_pct() const noexcept {
  if (bytes == 0) return std::nullopt;
  return 100.0 * static_cast<double>(error_bytes) / static_cast<double>(bytes);
}

const SampledPath* SampledTotals::find(std::uint32_t path) const noexcept {
  const auto row = std::lower_bound(paths.begin(), paths.end(), path,
                                    [](const SampledPath& a, std::uint32_t id) { return a.path < id; });
  return row != paths.end() && row->path == path ? &*row : nullptr;
}

std::optional<SampledTrace> SampledTrace::load(Trace& trace, const Selection* selection,
                                               std::size_t max_kept) {
  SampledTrace out(trace, selection, max_kept);
  if (out.sums_.lines.empty()) return std::nullopt;
  return out;
}

SampledTrace::SampledTrace(Trace& trace, const Selection* selection, std::size_t max_kept)
    : trace_(&trace), selection_(selection), max_kept_(max_kept), groups_(selection) {
  sums_ = read_sampled(trace, groups_, [this](SampleBlock&& block) { keep(std::move(block)); });
  if (sums_.lines.empty()) return;
  InseparablePaths inseparable(groups_);
  for (const SampleBlock& block : blocks_) inseparable.add(block);
  inseparable_ = inseparable.groups();
  rates_ = unmix(blocks_, groups_.mean_durations(), background_of(blocks_, sums_.lines), trace.jobs());
}

void SampledTrace::keep(SampleBlock&& block) {
  if (seen_++ % stride_ != 0) return;
  kept_ += block.samples.size() + block.work.size() / 2;
  blocks_.push_back(std::move(block));
  while (kept_ > max_kept_ && blocks_.size() > 1) {
    stride_ *= 2;
    kept_ = 0;
    std::vector<SampleBlock> kept;
    for (std::size_t i = 0; i < blocks_.size(); i += 2) {
      kept_ += blocks_[i].samples.size() + blocks_[i].work.size() / 2;
      kept.push_back(std::move(blocks_[i]));
    }
    blocks_ = std::move(kept);
  }
}

std::vector<OwnerWork> SampledTrace::work_in(const SampleWindow& window) const {
  const bool is_all = window.from_ns == INT64_MIN && window.to_ns == INT64_MAX;
  return is_all && sums_.gaps.none() ? sums_.owner_work : owner_work(*trace_, groups_, sums_.gaps, window);
}

void SampledTrace::add_lines(const SampleWindow& window, SampleTotals& totals) const {
  totals.late_work += sums_.late_work;
  for (const LineSums& line : sums_.lines) {
    const double part = part_of_line(line, window);
    totals.idle_samples += part_of(line.idle_samples, part);
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const std::uint64_t idle = part_of(line.idle_units[kSharedSampleColumns[c]], part) * kSampleUnitBytes;
      totals.bytes[c] += idle;
      totals.unattributed[c] += idle;
    }
    for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
      totals.link_bytes[c] += part_of(line.link_units[c], part) * kSampleUnitBytes;
    }
  }
}

SampledTotals SampledTrace::totals() const {
  return selection_ == nullptr ? totals(SampleWindow{})
                               : totals(groups_, selection_->window(), selection_->sample_window());
}

SampledTotals SampledTrace::whole() const {
  WorkGroups all = groups_;
  all.select_all();
  return totals(all, {}, {});
}

SampledTotals SampledTrace::totals(const WorkGroups& groups, const SampleWindow& window,
                                   const SampleWindow& unattributed) const {
  SampleSplit split(rates_, groups, window, unattributed);
  if (stride_ == 1) {
    for (const SampleBlock& block : blocks_) split.add(block);
  } else {
    WorkGroups read = groups;
    static_cast<void>(read_sampled(*trace_, read, [&split](SampleBlock&& block) { split.add(block); }));
  }

  SampledTotals out;
  out.samples = split.totals();
  add_lines(unattributed, out.samples);
  out.truth = sums_.truth;
  const std::vector<OwnerWork> work = work_in(window);
  PathTable table(groups, rates_, split, work);
  out.paths = table.rows(inseparable_);
  out.inseparable = table.extract_groups();
  out.kernels = kernel_rows(groups, split, work, selection_);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const ColumnRates& column = rates_.columns[c];
    out.sharing[c] = {column.unmixed ? SharingMethod::unmixed : SharingMethod::time_shared, column.lag_ns,
                      column.held_out_ratio, column.min_run};
  }
  return out;
}

}  // namespace rangefinder
