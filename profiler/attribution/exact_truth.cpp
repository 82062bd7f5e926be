// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/exact_truth.h"

#include <algorithm>

namespace rangefinder {

void ExactTruth::add(const ExactRecord& exact) {
  if (exact.kind != WorkKind::memcpy || exact.counter_range != 0 || exact.bytes < kTruthMinBytes) return;
  if (!exact.measured || !exact.has_bytes) return;
  join({exact.launch.correlation, true, exact.dram_read_bytes + exact.dram_write_bytes});
}

void ExactTruth::add(const MemcpyRecord& copy) {
  if (copy.kind != CopyKind::DtoD || copy.count != 1 || copy.bytes < kTruthMinBytes) return;
  if (copy.source != MemoryKind::device || copy.destination != MemoryKind::device) return;
  join({copy.work.correlation, false, 2 * copy.bytes});
}

void ExactTruth::join(const Unpaired& added) {
  const auto other = std::find_if(waiting_.begin(), waiting_.end(), [&added](const Unpaired& waiting) {
    return waiting.correlation == added.correlation && waiting.measured != added.measured;
  });
  if (other == waiting_.end()) {
    if (waiting_.size() == kMaxWaiting) waiting_.pop_front();
    waiting_.push_back(added);
    return;
  }
  ++truth_.copies;
  truth_.known_bytes += added.measured ? other->bytes : added.bytes;
  truth_.measured_bytes += added.measured ? added.bytes : other->bytes;
  waiting_.erase(other);
}

}  // namespace rangefinder
