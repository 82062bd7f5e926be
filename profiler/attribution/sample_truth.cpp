// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_truth.h"

#include <algorithm>

namespace rangefinder {
namespace {

// Share of a copy that samples must cover; times of copies and samples do not match exactly.
constexpr double kMinCovered = 0.999;
// More than can wait two seconds for their samples: a copy of 256 MiB takes at least 0.1 ms.
constexpr std::size_t kMaxOpen = 65'536;

}  // namespace

void TruthCopies::add(const MemcpyRecord& copy) {
  const bool known = copy.kind == CopyKind::DtoD && copy.bytes >= kTruthMinBytes &&
                     copy.work.start_ns != kNoTime && copy.work.end_ns > copy.work.start_ns;
  if (!known || open_.size() >= kMaxOpen) return;
  Copy added;
  added.gpu = copy.work.gpu;
  added.start_ns = copy.work.start_ns;
  added.end_ns = copy.work.end_ns;
  added.bytes = copy.bytes;
  const auto later = std::upper_bound(open_.begin(), open_.end(), added,
                                      [](const Copy& a, const Copy& b) { return a.start_ns < b.start_ns; });
  open_.insert(later, added);
}

void TruthCopies::add_to(Copy& copy, const SampleBatch& batch, const OrderedSample& sample,
                         const std::vector<SampleOverlap>& overlaps) {
  for (const SampleOverlap& overlap : overlaps) {
    const OrderedWork& work = batch.work[overlap.work];
    if (work.start_ns != copy.start_ns || work.end_ns != copy.end_ns) copy.alone = false;
  }
  const TimeNs ns = std::min(sample.end_ns(), copy.end_ns) - std::max(sample.start_ns, copy.start_ns);
  if (ns <= 0) return;
  copy.covered_ns += ns;
  copy.units += std::uint64_t{sample.units[kSharedDramRead]} + sample.units[kSharedDramWrite];
}

void TruthCopies::add_sample(const SampleBatch& batch, const OrderedSample& sample,
                             const std::vector<SampleOverlap>& overlaps) {
  const TimeNs interval = sample.length_ns;
  for (auto it = open_.begin(); it != open_.end() && it->start_ns < sample.end_ns() + interval;) {
    if (it->gpu != batch.gpu) {
      ++it;
    } else if (it->end_ns + interval < sample.start_ns) {
      judge(*it);
      it = open_.erase(it);
    } else {
      add_to(*it++, batch, sample, overlaps);
    }
  }
}

void TruthCopies::settle(TimeNs until_ns) {
  for (auto it = open_.begin(); it != open_.end();) {
    if (it->end_ns >= time_before(until_ns, kLongestSampleNs)) {
      ++it;
      continue;
    }
    judge(*it);
    it = open_.erase(it);
  }
}

void TruthCopies::judge(const Copy& copy) {
  const auto duration = static_cast<double>(copy.end_ns - copy.start_ns);
  if (!copy.alone || static_cast<double>(copy.covered_ns) < kMinCovered * duration) return;
  ++truth_.copies;
  truth_.known_bytes += 2 * copy.bytes;
  truth_.measured_bytes += copy.units * kSampleUnitBytes;
}

}  // namespace rangefinder
