// SPDX-License-Identifier: Apache-2.0
//
// DRAM bytes that are known before any sample: those of large device copies and memsets.
//
//   MemcpyRecord, MemsetRecord ─▶ known_traffic() ─▶ OrderedWork::read_units, written_units
//   SampleBatch ────────────────▶ KnownTraffic::share() ─▶ KnownShare: what known work moved in each sample
//
// Beside other work a copy slows down and speeds up, so its bytes in a single sample are not known, but their
// sum is. share() gives the copy all units of samples without other work, and spreads the rest of its sum
// evenly by time over the others. It never gives more than a sample has; what is missing there goes to the
// copy's other samples. What a sample has left is of the other work in it.
//
// Pure. Used while the program runs (sample_sharing.h) and by the tools (sampled_bytes_source.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"
#include "schema/record.h"

namespace rangefinder {

/// Columns whose bytes may be known: DRAM read and DRAM written.
inline constexpr std::size_t kKnownColumns = kSharedDramWrite + 1;

/// Sets the known units of `work`, the record's. A copy within one GPU's memory reads and writes its size, a
/// memset writes it, if it is at least twice `l2_bytes`. Of a smaller one a part may stay in L2: it moves at
/// most that. `l2_bytes` 0: not known, nor is the traffic.
void set_known_traffic(OrderedWork& work, const MemcpyRecord& copy, std::uint64_t l2_bytes) noexcept;
void set_known_traffic(OrderedWork& work, const MemsetRecord& memset, std::uint64_t l2_bytes) noexcept;

/// L2 sizes of the GPUs.
class L2Sizes {
 public:
  void set(std::uint32_t gpu, std::uint64_t bytes);
  /// 0: not known.
  [[nodiscard]] std::uint64_t of(std::uint32_t gpu) const noexcept;

 private:
  std::vector<std::pair<std::uint32_t, std::uint64_t>> gpus_;
};

/// What one piece of known work moved in one sample.
struct KnownShare {
  std::uint32_t sample = 0, work = 0;  ///< positions in the batch
  std::array<std::uint32_t, kKnownColumns> units{};
};

/// Keeps its buffers from batch to batch.
class KnownTraffic {
 public:
  /// Shares of all known work of the batch, by sample. Work that the batch covers in part has that part of
  /// its units. Valid until the next call.
  [[nodiscard]] const std::vector<KnownShare>& share(const SampleBatch& batch);

 private:
  struct Entry {
    std::uint32_t sample, work;
    std::uint32_t known;  // position in targets_
    double ns;
    bool alone;  // nothing else ran in the sample
    std::array<double, kKnownColumns> units;
  };
  void gather(const SampleBatch& batch);
  void fit(const SampleBatch& batch, std::size_t column);
  void spread_rest(std::size_t column);

  std::vector<Entry> entries_;                              // by sample
  std::vector<std::array<double, kKnownColumns>> targets_;  // units, by known work
  std::vector<double> covered_ns_, fixed_, shared_;
  std::vector<std::uint32_t> active_;
  SampleSweep sweep_;
  std::vector<KnownShare> shares_;
};

}  // namespace rangefinder
