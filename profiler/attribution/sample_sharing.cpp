// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_sharing.h"

#include <optional>
#include <utility>

namespace rangefinder {
namespace {

// Ids are dense and below this in every trace that we write: 65,536 paths, 262,144 names.
constexpr std::uint32_t kMaxIds = std::uint32_t{1} << 19;

template <typename Row>
std::uint32_t known_id(std::vector<Row>& rows, std::uint32_t id) {
  if (id >= kMaxIds) id = 0;
  if (id >= rows.size()) rows.resize(std::size_t{id} + 1);
  return id;
}

std::uint64_t time_between(TimeNs start_ns, TimeNs end_ns) noexcept {
  return end_ns > start_ns ? static_cast<std::uint64_t>(end_ns) - static_cast<std::uint64_t>(start_ns) : 0;
}

template <typename Row>
std::vector<SampledBytes> used_rows(const std::vector<Row>& rows) {
  std::vector<SampledBytes> used;
  for (std::size_t id = 0; id < rows.size(); ++id) {
    if (rows[id].sum.work_ns == 0) continue;
    used.push_back(rows[id].sum);
    used.back().id = static_cast<std::uint32_t>(id);
  }
  return used;
}

}  // namespace

void SampleSharing::add(const KernelRecord& kernel) {
  add_work(kernel.work, kernel.name);
}

void SampleSharing::add(const MemcpyRecord& copy) {
  add_work(copy.work, 0);
  truth_.add(copy);
  // A peer copy moves bytes on both GPUs; its record is of one.
  if (copy.kind != CopyKind::PtoP || copy.work.start_ns == kNoTime) return;
  const std::uint32_t other = copy.work.gpu == copy.source_gpu ? copy.destination_gpu : copy.source_gpu;
  if (other != copy.work.gpu) {
    order_.add(other, {copy.work.start_ns, copy.work.end_ns, known_id(paths_, copy.work.path), 0});
  }
}

void SampleSharing::add(const MemsetRecord& memset) {
  add_work(memset.work, 0);
}

void SampleSharing::add(const GraphRecord& graph) {
  add_work(graph.work, 0);
}

void SampleSharing::add_work(const GpuWork& work, std::uint32_t name) {
  if (work.start_ns == kNoTime || work.end_ns == kNoTime) return;
  const std::uint32_t path = known_id(paths_, work.path);
  name = known_id(kernels_, name);
  const TimeNs begin_ns = streams_.begin_of(work);
  paths_[path].sum.work_ns += time_between(begin_ns, work.end_ns);
  kernels_[name].sum.work_ns += time_between(begin_ns, work.end_ns);
  if (!order_.add(work.gpu, {begin_ns, work.end_ns, path, name})) ++totals_.late_work;
  settle_if_crowded();
}

void SampleSharing::add(const SamplesRecord& samples) {
  any_ = true;
  totals_.idle_samples += samples.idle_samples;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const std::uint64_t idle = samples.idle_units[kSharedSampleColumns[c]] * kSampleUnitBytes;
    totals_.bytes[c] += idle;
    totals_.unattributed[c] += idle;
  }
  for (std::size_t c = kSamplePcieRead; c <= kSampleNvlinkTransmitted; ++c) {
    std::uint64_t units = samples.idle_units[c];
    for (const std::uint32_t value : samples.columns[c]) units += value;
    totals_.link_bytes[c] += units * kSampleUnitBytes;
  }
  order_.add(samples);
  settle_if_crowded();
}

void SampleSharing::settle_if_crowded() {
  if (const std::optional<TimeNs> until = order_.crowded_until()) advance(*until);
}

void SampleSharing::advance(TimeNs until_ns) {
  order_.advance(until_ns, [this](const SampleBatch& batch) { share(batch); });
  truth_.settle(until_ns);
}

void SampleSharing::finish() {
  advance(INT64_MAX);
}

void SampleSharing::share(const SampleBatch& batch) {
  sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
    truth_.add_sample(batch, sample, overlaps);
    share_sample(sample, overlaps, batch);
  });
}

void SampleSharing::share_sample(const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps,
                                 const SampleBatch& batch) {
  const std::uint64_t number = ++totals_.samples;
  std::int64_t all_ns = 0;
  for (const SampleOverlap& overlap : overlaps) all_ns += overlap.ns;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const std::uint64_t bytes = sample.units[c] * kSampleUnitBytes;
    totals_.bytes[c] += bytes;
    if (overlaps.empty()) totals_.unattributed[c] += bytes;
  }

  std::array<UnitShares, kSharedColumns> shares{UnitShares(sample.units[0]), UnitShares(sample.units[1]),
                                                UnitShares(sample.units[2])};
  std::int64_t reached_ns = 0;
  for (const SampleOverlap& overlap : overlaps) {
    reached_ns += overlap.ns;
    const double part =
        reached_ns == all_ns ? 1.0 : static_cast<double>(reached_ns) / static_cast<double>(all_ns);
    Row& path = paths_[batch.work[overlap.work].path];
    Row& kernel = kernels_[batch.work[overlap.work].kind];
    for (std::size_t c = 0; c < kSharedColumns; ++c) {
      const std::uint64_t bytes = shares[c].until(part) * kSampleUnitBytes;
      path.sum.bytes[c] += bytes;
      kernel.sum.bytes[c] += bytes;
    }
    for (Row* row : {&path, &kernel}) {
      row->sum.overlap_ns += static_cast<std::uint64_t>(overlap.ns);
      if (std::exchange(row->last_sample, number) != number) ++row->sum.samples;
    }
  }
}

std::vector<SampledBytes> SampleSharing::paths() const {
  return used_rows(paths_);
}

std::vector<SampledBytes> SampleSharing::kernels() const {
  return used_rows(kernels_);
}

}  // namespace rangefinder
