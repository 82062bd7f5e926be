// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/attribution/kernel_carry.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/read/trace_reader.h"
#include "tools/analysis/sampling/sampled_bytes_error.h"
#include "tools/analysis/sampling/sampled_bytes_held.h"
#include "tools/analysis/sampling/sampled_bytes_split.h"

namespace rangefinder {
namespace {

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

class PathTable {
 public:
  /// `work`: by owner. All arguments must outlive the table.
  PathTable(const HeldTrace& held, const SampleSplit& split, const std::vector<OwnerWork>& work)
      : held_(held), split_(split), work_(work) {}

  std::vector<SampledPath> rows() {
    const WorkGroups& groups = held_.groups();
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
    for (const std::vector<std::uint32_t>& group : held_.inseparable()) add_group(group);
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
  std::vector<InseparableGroup> take_groups() { return std::move(groups_); }

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
      group.paths.push_back(held_.groups().paths()[members[m]]);
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
      const ErrorContext context{static_cast<SharedColumn>(c),
                                 held_.rates().columns[c].unmixed,
                                 sums.work_ns,
                                 sums.overlap_ns,
                                 sums.estimated_ns,
                                 static_cast<double>(sums.estimated[c]),
                                 mean_rates_[c],
                                 sums.squared_carry[c]};
      out[c].bytes = sums.bytes[c] + sums.estimated[c];
      out[c].estimated_bytes = sums.estimated[c];
      out[c].error_bytes = static_cast<std::uint64_t>(std::ceil(error_bytes(sums.sums[c], context)));
    }
    return out;
  }

  SampledPath row_of(std::size_t i, const PathSums& inclusive) const {
    SampledPath row;
    row.path = held_.groups().paths()[i];
    row.inclusive = bounded(inclusive);
    row.exclusive = bounded(own_[i]);
    row.inseparable = own_[i].group;
    row.samples = split_.paths()[i].samples;
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

  const HeldTrace& held_;
  const SampleSplit& split_;
  const std::vector<OwnerWork>& work_;
  std::vector<PathSums> own_;
  std::vector<InseparableGroup> groups_;
  std::array<double, kSharedColumns> mean_rates_{};
};

/// Of the paths that `selection` shows.
std::vector<SampledKernel> kernel_rows(const HeldTrace& held, const SampleSplit& split,
                                       const std::vector<OwnerWork>& work, const Selection* selection) {
  std::map<std::uint32_t, PathSums> rows;
  for (std::size_t o = 0; o < work.size(); ++o) {
    const WorkGroups::Owner& owner = held.groups().owners()[o];
    if (selection != nullptr && !selection->in_range(held.groups().paths()[owner.path])) continue;
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

}  // namespace

std::string_view sharing_method_name(SharingMethod method) noexcept {
  return method == SharingMethod::unmixed ? "unmixed" : "time_shared";
}

std::optional<double> BoundedBytes::error_pct() const noexcept {
  if (bytes == 0) return std::nullopt;
  return 100.0 * static_cast<double>(error_bytes) / static_cast<double>(bytes);
}

std::optional<double> SampledPath::worst_error_pct() const noexcept {
  std::optional<double> worst;
  for (const BoundedBytes& column : inclusive) {
    if (column.bytes == 0 || 100 * column.bytes < inclusive[kSharedL2].bytes) continue;
    worst = std::max(worst.value_or(0), *column.error_pct());
  }
  return worst;
}

const SampledPath* SampledTotals::find(std::uint32_t path) const noexcept {
  const auto row = std::lower_bound(paths.begin(), paths.end(), path,
                                    [](const SampledPath& a, std::uint32_t id) { return a.path < id; });
  return row != paths.end() && row->path == path ? &*row : nullptr;
}

struct SampledTrace::Impl {
  HeldTrace held;
  const Selection* selection;
};

SampledTrace::SampledTrace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SampledTrace::SampledTrace(SampledTrace&&) noexcept = default;
SampledTrace& SampledTrace::operator=(SampledTrace&&) noexcept = default;
SampledTrace::~SampledTrace() = default;

std::optional<SampledTrace> SampledTrace::load(Trace& trace, const Selection* selection) {
  return load(
      [&trace](const RecordVisitor& visit) {
        trace.each_chunk([&visit](const Chunk& chunk) {
          for (const Chunk::OtherLine& other : chunk.others) visit(other.line);
          chunk.work_and_samples(kColumns, [&visit](const auto& record) { visit(Line(record)); });
        });
      },
      selection);
}

std::optional<SampledTrace> SampledTrace::load(RecordReader reader, const Selection* selection) {
  auto impl = std::make_unique<Impl>(HeldTrace(std::move(reader), selection), selection);
  if (!impl->held.any_samples()) return std::nullopt;
  return SampledTrace(std::move(impl));
}

SampledTotals SampledTrace::totals() const {
  const Selection* const selection = impl_->selection;
  return selection == nullptr ? totals(SampleWindow{})
                              : totals(selection->window(), selection->sample_window());
}

SampledTotals SampledTrace::totals(const SampleWindow& window, const SampleWindow& rest) const {
  const HeldTrace& held = impl_->held;
  SampleSplit split(held.rates(), held.groups(), window, rest);
  held.for_each_block([&](const SampleBlock& block) { split.add(block); });

  SampledTotals out;
  out.samples = split.totals();
  held.add_lines(rest, out.samples);
  out.truth = held.truth();
  const std::vector<OwnerWork> work = held.owner_work(window);
  PathTable table(held, split, work);
  out.paths = table.rows();
  out.inseparable = table.take_groups();
  out.kernels = kernel_rows(held, split, work, impl_->selection);
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const ColumnRates& column = held.rates().columns[c];
    out.sharing[c] = {column.unmixed ? SharingMethod::unmixed : SharingMethod::time_shared, column.lag_ns,
                      column.held_back_ratio};
  }
  return out;
}

}  // namespace rangefinder
