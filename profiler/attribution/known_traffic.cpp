// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/known_traffic.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rangefinder {
namespace {

// A copy's missing units are spread over its other samples repeatedly; each round leaves a part of them.
constexpr int kRounds = 24;

std::uint32_t units_of(std::uint64_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes / kSampleUnitBytes, kUnknownUnits - 1));
}

bool is_large(std::uint64_t bytes, std::uint64_t l2_bytes) noexcept {
  return bytes / 2 >= l2_bytes;
}

bool is_device_memory(MemoryKind kind) noexcept {
  return kind == MemoryKind::device || kind == MemoryKind::device_static;
}

}  // namespace

void set_known_traffic(OrderedWork& work, const MemcpyRecord& copy, std::uint64_t l2_bytes) noexcept {
  const bool within =
      copy.kind == CopyKind::DtoD && is_device_memory(copy.source) && is_device_memory(copy.destination);
  if (!within || l2_bytes == 0) return;
  work.read_units = work.written_units = units_of(copy.bytes);
  // A batch of copies: each one counts.
  work.at_most = !is_large(copy.bytes / std::max<std::uint64_t>(copy.count, 1), l2_bytes);
}

void set_known_traffic(OrderedWork& work, const MemsetRecord& memset, std::uint64_t l2_bytes) noexcept {
  if (!is_device_memory(memset.memory) || l2_bytes == 0) return;
  work.read_units = 0;
  work.written_units = units_of(memset.bytes);
  work.at_most = !is_large(memset.bytes, l2_bytes);
}

void L2Sizes::set(std::uint32_t gpu, std::uint64_t bytes) {
  if (of(gpu) == 0) gpus_.emplace_back(gpu, bytes);
}

std::uint64_t L2Sizes::of(std::uint32_t gpu) const noexcept {
  for (const auto& [id, bytes] : gpus_) {
    if (id == gpu) return bytes;
  }
  return 0;
}

void KnownTraffic::gather(const SampleBatch& batch) {
  entries_.clear();
  targets_.clear();
  covered_ns_.clear();
  active_.clear();
  std::vector<std::uint32_t>& known_of = active_;  // positions in batch.work of the known work, by start
  for (std::uint32_t i = 0; i < batch.work.size(); ++i) {
    if (batch.work[i].is_known()) known_of.push_back(i);
  }
  if (known_of.empty()) return;
  targets_.resize(known_of.size());
  covered_ns_.resize(known_of.size());
  sweep_.run(batch, 0, 0, [&](const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps) {
    const auto is_known = [&](const SampleOverlap& overlap) { return batch.work[overlap.work].is_known(); };
    const bool alone = std::all_of(overlaps.begin(), overlaps.end(), is_known);
    for (const SampleOverlap& overlap : overlaps) {
      if (!is_known(overlap)) continue;
      const auto known = std::lower_bound(known_of.begin(), known_of.end(), overlap.work) - known_of.begin();
      covered_ns_[static_cast<std::size_t>(known)] += overlap.ns;
      entries_.push_back({static_cast<std::uint32_t>(&sample - batch.samples.data()),
                          overlap.work,
                          static_cast<std::uint32_t>(known),
                          static_cast<double>(overlap.ns),
                          alone,
                          {}});
    }
  });
  for (std::size_t k = 0; k < known_of.size(); ++k) {
    const OrderedWork& work = batch.work[known_of[k]];
    const double part = covered_ns_[k] / static_cast<double>(work.end_ns - work.start_ns);
    targets_[k] = {part * work.read_units, part * work.written_units};
  }
}

// Gives the units that a work still lacks to its samples beside other work, or takes back what it has too
// much.
void KnownTraffic::spread_rest(std::size_t column) {
  fixed_.assign(targets_.size(), 0);
  shared_.assign(targets_.size(), 0);
  for (const Entry& entry : entries_) (entry.alone ? fixed_ : shared_)[entry.known] += entry.units[column];
  for (Entry& entry : entries_) {
    const double rest = std::max(0.0, targets_[entry.known][column] - fixed_[entry.known]);
    if (!entry.alone && shared_[entry.known] > 0) entry.units[column] *= rest / shared_[entry.known];
  }
}

void KnownTraffic::fit(const SampleBatch& batch, std::size_t column) {
  for (Entry& entry : entries_) {
    entry.units[column] = covered_ns_[entry.known] > 0
                              ? targets_[entry.known][column] * entry.ns / covered_ns_[entry.known]
                              : 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (std::size_t i = 0; i < entries_.size();) {
      std::size_t end = i;
      double sum = 0;
      for (; end < entries_.size() && entries_[end].sample == entries_[i].sample; ++end)
        sum += entries_[end].units[column];
      const double most = batch.samples[entries_[i].sample].units[column];
      // A sample without other work has the known work's units, all of them.
      const bool changes = sum > most || (entries_[i].alone && sum < most && sum > 0);
      for (; i < end; ++i) {
        if (changes) entries_[i].units[column] *= most / sum;
      }
      changed |= changes;
    }
    if (!changed || round + 1 == kRounds) return;
    spread_rest(column);
  }
}

const std::vector<KnownShare>& KnownTraffic::share(const SampleBatch& batch) {
  gather(batch);
  for (std::size_t column = 0; column < kKnownColumns; ++column) fit(batch, column);
  shares_.clear();
  std::array<double, kKnownColumns> rest{};  // rounding errors are carried on, so that sums are kept
  for (const Entry& entry : entries_) {
    KnownShare& share = shares_.emplace_back(KnownShare{entry.sample, entry.work, {}});
    for (std::size_t column = 0; column < kKnownColumns; ++column) {
      const double wanted = entry.units[column] + rest[column];
      const double units = std::clamp(std::floor(wanted), 0.0, static_cast<double>(UINT32_MAX));
      rest[column] = wanted - units;
      share.units[column] = static_cast<std::uint32_t>(units);
    }
  }
  return shares_;
}

}  // namespace rangefinder
