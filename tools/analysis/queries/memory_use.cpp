// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/memory_use.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr std::size_t kMaxSlices = 32;

LiveBytes& account(MemoryTotals& totals, AllocKind kind) {
  return is_host_memory(kind) ? totals.host : totals.gpu;
}

}  // namespace

/// Visits the totals of the path, its ancestors, all paths, and the kind.
template <typename Visit>
void MemoryUse::each_total(std::uint32_t path, AllocKind kind, Visit&& visit) {
  while (path != 0) {
    visit(paths_[path]);
    const auto parent = parents_.find(path);
    path = parent == parents_.end() ? 0 : parent->second;
  }
  visit(paths_[0]);
  visit(kinds_[static_cast<std::size_t>(kind)]);
}

void MemoryUse::add(const AllocRecord& record) {
  if (record.host.start_ns == kNoTime || record.host.end_ns == kNoTime) return;
  const TimeNs at = record.is_free ? record.host.start_ns : record.host.end_ns;
  const std::uint64_t call_ns =
      record.host.end_ns < record.host.start_ns
          ? 0
          : static_cast<std::uint64_t>(record.host.end_ns) - static_cast<std::uint64_t>(record.host.start_ns);
  order_.add({at, record.host.start_ns, record.address, record.bytes, call_ns, record.host.path, record.kind,
              record.is_free},
             [this](const Step& step) { apply(step); });
}

void MemoryUse::finish() {
  order_.finish([this](const Step& step) { apply(step); });
}

void MemoryUse::apply(const Step& step) {
  const auto at = blocks_.find(step.address);
  if (step.is_free && at == blocks_.end()) {
    ++unknown_frees_;
    return;
  }
  // An address that is allocated again was freed, even if that call was not recorded.
  if (at != blocks_.end()) {
    const Block block = at->second;
    blocks_.erase(at);
    release(block);
    if (step.is_free) {
      calls_.push_back({step.start_ns, block.path, block.kind, true});
      each_total(block.path, block.kind, [&step](MemoryTotals& totals) { totals.call_ns += step.call_ns; });
    }
  }
  if (!step.is_free) {
    blocks_[step.address] = {step.at_ns, step.bytes, step.path, step.kind};
    calls_.push_back({step.start_ns, step.path, step.kind, false});
    const std::uint64_t peak = paths_[0].gpu.peak;
    each_total(step.path, step.kind, [this, &step](MemoryTotals& totals) {
      ++totals.allocations;
      totals.bytes += step.bytes;
      totals.call_ns += step.call_ns;
      totals.gpu.keep(gpu_peaks_);
      account(totals, step.kind).grow(step.bytes);
    });
    if (paths_[0].gpu.peak != peak) ++gpu_peaks_;
  }
  show(step.at_ns);
}

void MemoryUse::release(const Block& block) {
  each_total(block.path, block.kind, [this, &block](MemoryTotals& totals) {
    ++totals.frees;
    totals.gpu.keep(gpu_peaks_);
    account(totals, block.kind).shrink(block.bytes);
  });
}

/// Starts a slice at a change. Merges neighbouring slices if there are too many.
void MemoryUse::show(TimeNs at) {
  const MemoryTotals& all = paths_[0];
  if (slices_.empty() || at >= slices_.back().from_ns + slice_ns_) {
    slices_.push_back({at, all.gpu.now, all.host.now});
  }
  MemorySlice& slice = slices_.back();
  slice.gpu_peak = std::max(slice.gpu_peak, all.gpu.now);
  slice.host_peak = std::max(slice.host_peak, all.host.now);
  if (slices_.size() <= kMaxSlices) return;
  slice_ns_ = std::max<TimeNs>(2 * slice_ns_, (slices_.back().from_ns - slices_.front().from_ns) /
                                                  static_cast<TimeNs>(kMaxSlices / 2));
  std::vector<MemorySlice> wider;
  for (const MemorySlice& next : slices_) {
    if (wider.empty() || next.from_ns >= wider.back().from_ns + slice_ns_) {
      wider.push_back(next);
      continue;
    }
    wider.back().gpu_peak = std::max(wider.back().gpu_peak, next.gpu_peak);
    wider.back().host_peak = std::max(wider.back().host_peak, next.host_peak);
  }
  slices_ = std::move(wider);
}

std::map<std::pair<std::uint32_t, AllocKind>, LiveMemory> MemoryUse::live() const {
  std::map<std::pair<std::uint32_t, AllocKind>, LiveMemory> out;
  for (const auto& [address, block] : blocks_) {
    LiveMemory& live = out[{block.path, block.kind}];
    ++live.count;
    live.bytes += block.bytes;
    live.oldest_ns = std::min(live.oldest_ns, block.at_ns);
  }
  return out;
}

}  // namespace rangefinder
