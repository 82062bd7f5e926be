// SPDX-License-Identifier: Apache-2.0
//
// Sorts the work and samples of a trace by time and cuts them into blocks.
//
//   Trace ─▶ PathRecord, KernelRecord, …, SamplesRecord ─▶ SampleOrder ─▶ SampleBlock ─▶ `on_block`
//
// Also sums what needs no attribution: work by owner, idle samples, links, bytes of copies. A trace of
// up to a few million samples and pieces of work is sorted as a whole, so no record is late. A longer trace
// is sorted in parts of that size.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "profiler/attribution/sample_truth.h"
#include "schema/record.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/sampling/sampled_bytes_groups.h"
#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

class Trace;

/// The sums of one samples line, over the time since the previous line.
struct LineSums {
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t gpu = 0;
  std::uint64_t idle_samples = 0;
  std::array<std::uint64_t, kSampleColumns> idle_units{};
  std::array<std::uint64_t, kSampleColumns> link_units{};  ///< links only; includes idle samples
};

/// Work of one owner.
struct OwnerWork {
  std::uint64_t ns = 0;       ///< durations, summed
  std::uint64_t count = 0;    ///< pieces of work
  std::uint64_t lost_ns = 0;  ///< part of ns while samples were lost
};

/// The time in which samples of a trace were lost: gaps between samples that idle samples do not explain.
///
///   SamplesRecord ─▶ add ─▶ gaps of lines that lack samples ─▶ lost_ns(gpu, work's start, its end)
///
/// A line covers about 0.1 s. It has the number of idle samples that it omits, not their places. Work is not
/// affected: almost nothing runs in an idle sample, so work in a gap of such a line was in a lost one.
class SampleGaps {
 public:
  /// Call it in the order of the trace. Keeps at most 1 M gaps; later ones do not count as lost.
  void add(const SamplesRecord& samples);
  [[nodiscard]] bool none() const noexcept { return gaps_.empty(); }
  /// The part of [from_ns, to_ns) inside gaps with lost samples.
  [[nodiscard]] std::uint64_t lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept;

 private:
  struct Gap {
    TimeNs start_ns, end_ns;
  };
  struct Last {
    TimeNs end_ns = 0;
    double interval_ns = 0;
    double idle_ns = 0;  // idle time of lines without runs since end_ns
    bool any = false;
  };
  std::map<std::uint32_t, Last> last_;              // by GPU
  std::map<std::uint32_t, std::vector<Gap>> gaps_;  // by GPU; in time order
  std::size_t count_ = 0;
};

struct SampledSums {
  std::vector<LineSums> lines;  ///< empty: the trace has no samples
  SampleGaps gaps;
  std::vector<OwnerWork>
      owner_work;  ///< all timed work, by position in WorkGroups::owners(); without lost_ns
  CopyTruth truth;
  std::uint64_t late_work = 0;
};

/// The columns that the trace must have.
inline constexpr Columns kSampledColumns = kAllWork | Column::samples | Column::order;

/// Reads the trace. `groups`: new, or of an earlier reading, which gave the same numbers.
[[nodiscard]] SampledSums read_sampled(Trace& trace, WorkGroups& groups,
                                       const std::function<void(SampleBlock&&)>& on_block);

/// Reads the trace again for its work by owner: the part of the durations in the window, and the count of
/// work that starts there. `groups`: of the earlier reading.
[[nodiscard]] std::vector<OwnerWork> owner_work(Trace& trace, WorkGroups groups, const SampleGaps& gaps,
                                                const SampleWindow& window);

/// Units per ns that move on each GPU while nothing runs, from samples omitted as idle and samples without
/// work. At most what almost all samples hold (the 2 % quantile), so that work whose records were lost does
/// not count as background.
[[nodiscard]] BackgroundRates background_of(const std::vector<SampleBlock>& blocks,
                                            const std::vector<LineSums>& lines);

}  // namespace rangefinder
