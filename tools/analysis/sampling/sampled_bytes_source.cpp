// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_source.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"
#include "tools/analysis/model/trace.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMaxPending = std::size_t{1} << 22;
constexpr std::size_t kMaxGaps = std::size_t{1} << 20;
// Sampling intervals differ slightly from the requested one: a smaller part is no loss.
constexpr double kMinPart = 0.02;

/// In floating point, because damaged times must not overflow.
double length(TimeNs from_ns, TimeNs to_ns) noexcept {
  return static_cast<double>(to_ns) - static_cast<double>(from_ns);
}

/// Rates of one GPU's samples in one column: all of them, and those without work.
struct RateLists {
  std::vector<double> all, without_work;
};

double at_part(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

RateLists rates_of(const std::vector<SampleBlock>& blocks, std::uint32_t gpu, std::size_t column) {
  RateLists lists;
  SampleSweep sweep;
  for (const SampleBlock& block : blocks) {
    if (block.gpu != gpu) continue;
    sweep.run(block.batch(), 0, 0,
              [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
                if (sample.length_ns == 0) return;
                const double rate = static_cast<double>(sample.units[column]) / sample.length_ns;
                lists.all.push_back(rate);
                if (overlaps.empty()) lists.without_work.push_back(rate);
              });
  }
  return lists;
}

template <typename See>
void read_work(Trace& trace, WorkGroups& groups, See&& see) {
  groups.start_again();
  trace.each_chunk([&](const Chunk& chunk) {
    for (const Chunk::OtherLine& other : chunk.others) {
      if (const auto* const path = std::get_if<PathRecord>(&other.line)) groups.add(*path);
      if (const auto* const gpu = std::get_if<GpuRecord>(&other.line)) groups.add(*gpu);
    }
    chunk.work_and_samples(kSampledColumns, see);
  });
}

class SampledSource {
 public:
  using OnBlock = std::function<void(SampleBlock&&)>;
  /// Both must outlive the source.
  SampledSource(WorkGroups& groups, const OnBlock& on_block) : groups_(groups), on_block_(on_block) {}

  template <typename Work>
  void add(const Work& record) {
    groups_.number(record, [&](std::uint32_t gpu, const OrderedWork& work, bool is_own) {
      if constexpr (std::is_same_v<Work, MemcpyRecord>) {
        if (is_own) truth_.add(record);
      }
      add(gpu, work, is_own);
    });
  }

  void add(const SamplesRecord& samples) {
    sums_.lines.push_back(line_of(samples));
    line_ends_[samples.gpu] = sums_.lines.back().to_ns;
    sums_.gaps.add(samples);
    order_.add(samples);
    if (const auto until = order_.crowded_until()) settle(*until);
  }

  SampledSums finish() {
    settle(INT64_MAX);
    sums_.owner_work.resize(groups_.owners().size());
    sums_.truth = truth_.truth();
    return std::move(sums_);
  }

 private:
  void add(std::uint32_t gpu, const OrderedWork& work, bool is_own) {
    if (is_own && work.end_ns > work.start_ns) {
      if (work.path >= sums_.owner_work.size()) sums_.owner_work.resize(std::size_t{work.path} + 1);
      sums_.owner_work[work.path].ns += static_cast<std::uint64_t>(work.end_ns - work.start_ns);
      ++sums_.owner_work[work.path].count;
    }
    if (!order_.add(gpu, work)) ++sums_.late_work;
    if (const auto until = order_.crowded_until()) settle(*until);
  }

  [[nodiscard]] LineSums line_of(const SamplesRecord& samples) const {
    const auto end = line_ends_.find(samples.gpu);
    const bool first = end == line_ends_.end();
    LineSums line;
    line.gpu = samples.gpu;
    line.to_ns = samples.runs.empty() ? (first ? 0 : end->second) : samples.runs.back().end_ns;
    const TimeNs first_ns = samples.runs.empty() ? line.to_ns : samples.runs.front().start_ns;
    line.from_ns = first ? first_ns : std::min(end->second, line.to_ns);
    line.idle_samples = samples.idle_samples;
    line.idle_units = samples.idle_units;
    for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
      line.link_units[c] = samples.idle_units[c];
      for (const std::uint32_t value : samples.columns[c]) line.link_units[c] += value;
    }
    return line;
  }

  void settle(TimeNs until_ns) {
    order_.advance(until_ns, [this](const SampleBatch& batch) {
      sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
        truth_.add_sample(batch, sample, overlaps);
      });
      std::vector<SampleBlock> blocks;
      append_blocks(blocks, batch, known_traffic_.share(batch));
      for (SampleBlock& block : blocks) on_block_(std::move(block));
    });
    truth_.settle(until_ns);
  }

  WorkGroups& groups_;
  const OnBlock& on_block_;
  SampleOrder order_{kMaxPending};
  SampleSweep sweep_;
  KnownTraffic known_traffic_;
  TruthCopies truth_;
  std::map<std::uint32_t, TimeNs> line_ends_;  // end of the latest line, by GPU
  SampledSums sums_;
};

}  // namespace

void SampleGaps::add(const SamplesRecord& samples) {
  Last& last = last_[samples.gpu];
  double sampled_ns = 0, count = 0;
  for (const SampleRun& run : samples.runs) {
    sampled_ns += length(run.start_ns, run.end_ns);
    count += run.count;
  }
  if (count > 0) last.interval_ns = sampled_ns / count;
  last.idle_ns += static_cast<double>(samples.idle_samples) * last.interval_ns;
  if (samples.runs.empty()) return;

  std::vector<Gap> found;
  double gaps_ns = 0;
  for (const SampleRun& run : samples.runs) {
    const double gap_ns = last.any ? length(last.end_ns, run.start_ns) : 0;
    if (gap_ns > last.interval_ns / 2) {
      found.push_back({last.end_ns, run.start_ns});
      gaps_ns += gap_ns;
    }
    // Never moves back, even in a damaged trace: gaps must stay sorted and disjoint.
    last.end_ns = last.any ? std::max(last.end_ns, run.end_ns) : run.end_ns;
    last.any = true;
  }
  const double lost_ns = gaps_ns - last.idle_ns;
  last.idle_ns = 0;
  if (lost_ns < last.interval_ns || lost_ns < kMinPart * gaps_ns || count_ + found.size() > kMaxGaps) return;
  count_ += found.size();
  std::vector<Gap>& gaps = gaps_[samples.gpu];
  gaps.insert(gaps.end(), found.begin(), found.end());
}

std::uint64_t SampleGaps::lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept {
  const auto of_gpu = gaps_.find(gpu);
  if (of_gpu == gaps_.end()) return 0;
  const std::vector<Gap>& gaps = of_gpu->second;
  std::uint64_t lost = 0;
  for (auto gap = std::upper_bound(gaps.begin(), gaps.end(), from_ns,
                                   [](TimeNs at, const Gap&one) { return at < one.end_ns; });
       gap != gaps.end() && gap->start_ns < to_ns; ++gap) {
    const TimeNs start = std::max(from_ns, gap->start_ns), end = std::min(to_ns, gap->end_ns);
    if (end > start) lost += static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
  }
  return lost;
}

SampledSums read_sampled(Trace& trace, WorkGroups& groups,
                         const std::function<void(SampleBlock&&)>& on_block) {
  SampledSource source(groups, on_block);
  read_work(trace, groups, [&source](const auto& record) { source.add(record); });
  return source.finish();
}

std::vector<OwnerWork> owner_work(Trace& trace, WorkGroups groups, const SampleGaps& gaps,
                                  const SampleWindow& window) {
  std::vector<OwnerWork> inside(groups.owners().size());
  const auto add = [&](std::uint32_t gpu, const OrderedWork& work, bool is_own) {
    if (!is_own || work.end_ns <= work.start_ns) return;
    const TimeNs start = std::max(work.start_ns, window.from_ns), end = std::min(work.end_ns, window.to_ns);
    OwnerWork& owner = inside[work.path];
    owner.ns += static_cast<std::uint64_t>(std::max<TimeNs>(0, end - start));
    owner.lost_ns += gaps.lost_ns(gpu, start, end);
    if (work.start_ns >= window.from_ns && work.start_ns < window.to_ns) ++owner.count;
  };
  read_work(trace, groups, [&](const auto& record) {
    if constexpr (requires { record.work; }) groups.number(record, add);
  });
  return inside;
}

BackgroundRates background_of(const std::vector<SampleBlock>& blocks, const std::vector<LineSums>& lines) {
  BackgroundRates background;
  std::vector<std::uint32_t> gpus;
  for (const LineSums& line : lines) {
    if (std::find(gpus.begin(), gpus.end(), line.gpu) == gpus.end()) gpus.push_back(line.gpu);
  }
  for (const std::uint32_t gpu : gpus) {
    BackgroundRates::Rates rates{};
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      RateLists lists = rates_of(blocks, gpu, c);
      double idle_units = 0, idle_samples = 0;
      for (const LineSums& line : lines) {
        if (line.gpu != gpu) continue;
        idle_units += static_cast<double>(line.idle_units[kSharedSampleColumns[c]]);
        idle_samples += static_cast<double>(line.idle_samples);
      }
      const double within = at_part(lists.all, 0.02), resting = at_part(lists.without_work, 0.5);
      rates[c] = lists.without_work.empty() ? 0 : std::min(within, resting);
      if (idle_samples > static_cast<double>(lists.without_work.size()) && !blocks.empty()) {
        const double interval_ns = blocks.front().samples.front().length_ns;
        const double idle = interval_ns > 0 ? idle_units / (idle_samples * interval_ns) : 0;
        rates[c] = lists.all.empty() ? idle : std::min(within, idle);
      }
    }
    background.set(gpu, rates);
  }
  return background;
}

}  // namespace rangefinder
