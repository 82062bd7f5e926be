// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_order.h"

#include <algorithm>
#include <utility>

#include "profiler/guest/reserve_large.h"

namespace rangefinder {
namespace {

/// Number of GPUs that get large buffers at once. A damaged trace may name any number of GPUs.
constexpr std::size_t kMaxLargeRings = 16;

/// Sorts the items after the first `sorted`, which are nearly in order, and merges them in. Returns the
/// number of leading items that did not move.
template <typename Item, typename Less>
std::size_t sort_tail(std::vector<Item>& items, std::size_t& sorted, Less less) {
  const auto tail = items.begin() + static_cast<std::ptrdiff_t>(sorted);
  sorted = items.size();
  if (tail == items.end()) return sorted;
  if (!std::is_sorted(tail, items.end(), less)) std::sort(tail, items.end(), less);
  const auto from = std::upper_bound(items.begin(), tail, *tail, less);
  if (from != tail) std::inplace_merge(from, tail, items.end(), less);
  return static_cast<std::size_t>(from - items.begin());
}

bool starts_earlier(const OrderedWork& a, const OrderedWork& b) noexcept {
  return a.start_ns < b.start_ns;
}

bool ends_earlier(const OrderedSample& a, const OrderedSample& b) noexcept {
  return a.end_ns() < b.end_ns();
}

std::uint32_t value_at(const std::vector<std::uint32_t>& column, std::size_t i) noexcept {
  return i < column.size() ? column[i] : 0;
}

/// The samples of one run. `first`: position of its first value in the columns.
void append_run(std::vector<OrderedSample>& out, const SamplesRecord& record, const SampleRun& run,
                std::size_t first) {
  // A damaged trace may have any values. Reversed times become samples of length 0.
  const std::uint64_t span = run.end_ns > run.start_ns ? static_cast<std::uint64_t>(run.end_ns) -
                                                             static_cast<std::uint64_t>(run.start_ns)
                                                       : 0;
  const std::uint64_t whole = span / run.count, rest = span % run.count;
  const auto offset = [&](std::uint64_t i) { return whole * i + rest * i / run.count; };
  for (std::uint32_t i = 0; i < run.count; ++i) {
    OrderedSample sample;
    sample.start_ns = static_cast<TimeNs>(static_cast<std::uint64_t>(run.start_ns) + offset(i));
    sample.length_ns = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(offset(i + 1U) - offset(i), static_cast<std::uint64_t>(kLongestSampleNs)));
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      sample.units[c] = value_at(record.columns[kSharedSampleColumns[c]], first + i);
    }
    out.push_back(sample);
  }
}

/// Maximum number of samples in a record. A column has one value per sample, or none if all are 0; a damaged
/// record may claim any number of the latter.
std::size_t max_samples_of(const SamplesRecord& record) noexcept {
  constexpr std::size_t kMaxWithoutValues = std::size_t{1} << 16;
  std::size_t count = kMaxWithoutValues;
  for (const std::vector<std::uint32_t>& column : record.columns) count = std::max(count, column.size());
  return count;
}

}  // namespace

SampleOrder::Gpu& SampleOrder::gpu_at(std::uint32_t id) {
  for (Gpu& gpu : gpus_) {
    if (gpu.id == id) return gpu;
  }
  Gpu& added = gpus_.emplace_back();
  added.id = id;
  if (gpus_.size() <= kMaxLargeRings) {
    reserve_large(added.samples);
    reserve_large(added.work);
  }
  return added;
}

bool SampleOrder::add(std::uint32_t gpu_id, const OrderedWork& work) {
  if (work.end_ns <= work.start_ns) return true;
  Gpu& gpu = gpu_at(gpu_id);
  const bool in_time = work.start_ns >= gpu.settled_ns;
  // Work that ended long enough ago overlaps no later sample.
  if (work.end_ns > time_before(gpu.settled_ns, kLongestSampleNs)) gpu.work.push_back(work);
  return in_time;
}

void SampleOrder::add(const SamplesRecord& record) {
  Gpu& gpu = gpu_at(record.gpu);
  const std::size_t max_samples = max_samples_of(record);
  std::size_t first = 0;
  for (SampleRun run : record.runs) {
    run.count = static_cast<std::uint32_t>(std::min<std::size_t>(run.count, max_samples - first));
    if (run.count == 0) continue;
    append_run(gpu.samples, record, run, first);
    first += run.count;
  }
}

void SampleOrder::settle(Gpu& gpu, TimeNs until_ns, const Sink& sink) const {
  sort_tail(gpu.samples, gpu.sorted_samples, ends_earlier);
  gpu.done_work = std::min(gpu.done_work, sort_tail(gpu.work, gpu.sorted_work, starts_earlier));
  gpu.settled_ns = std::max(gpu.settled_ns, until_ns);

  const auto settled = std::partition_point(gpu.samples.begin(), gpu.samples.end(),
                                            [&](const OrderedSample& s) { return s.end_ns() <= until_ns; });
  if (settled != gpu.samples.begin()) {
    const TimeNs reach = std::prev(settled)->end_ns() + kSampleReachNs;
    const auto first = gpu.work.begin() + static_cast<std::ptrdiff_t>(gpu.done_work);
    const auto last =
        std::partition_point(first, gpu.work.end(), [&](const OrderedWork& w) { return w.start_ns < reach; });
    sink({gpu.id, {gpu.samples.begin(), settled}, {first, last}});
    gpu.samples.erase(gpu.samples.begin(), settled);
    gpu.sorted_samples = gpu.samples.size();
  }
  drop_done_work(gpu);
}

// Moves memory only when at least half is dropped, so that the cost per work item does not depend on how
// often samples are settled.
void SampleOrder::drop_done_work(Gpu& gpu) const {
  const TimeNs keep_from = time_before(gpu.settled_ns, kLongestSampleNs);
  const auto is_done = [&](const OrderedWork& w) { return w.end_ns <= keep_from; };
  while (gpu.done_work < gpu.work.size() && is_done(gpu.work[gpu.done_work])) ++gpu.done_work;
  if (gpu.work.size() > max_pending_) {
    std::erase_if(gpu.work, is_done);  // one long work item may block all after it
  } else if (2 * gpu.done_work > gpu.work.size()) {
    gpu.work.erase(gpu.work.begin(), gpu.work.begin() + static_cast<std::ptrdiff_t>(gpu.done_work));
  } else {
    return;
  }
  gpu.done_work = 0;
  gpu.sorted_work = gpu.work.size();
}

void SampleOrder::advance(TimeNs until_ns, const Sink& sink) {
  for (Gpu& gpu : gpus_) settle(gpu, until_ns, sink);
}

std::optional<TimeNs> SampleOrder::crowded_until() const {
  for (const Gpu& gpu : gpus_) {
    if (gpu.work.size() <= max_pending_ && gpu.samples.size() <= max_pending_) continue;
    std::vector<TimeNs> ends;
    if (gpu.samples.size() > max_pending_) {
      for (const OrderedSample& sample : gpu.samples) ends.push_back(sample.end_ns());
    } else {
      for (const OrderedWork& work : gpu.work) ends.push_back(work.end_ns);
    }
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
    std::nth_element(ends.begin(), middle, ends.end());
    // Work is dropped kLongestSampleNs after its end.
    return gpu.samples.size() > max_pending_ ? *middle : *middle + kLongestSampleNs;
  }
  return std::nullopt;
}

}  // namespace rangefinder
