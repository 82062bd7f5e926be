// SPDX-License-Identifier: Apache-2.0
//
// Bytes per path and per kernel name while the program runs: samples shared by time.
//
//   KernelRecord, MemcpyRecord, MemsetRecord ─▶ add ─┐
//   SamplesRecord ─────────────────────────────▶ add ─┴▶ SampleOrder ─▶ advance(until): each sample's
//                                                        bytes over the work it overlaps ─▶ totals
//
// Bytes are shared in proportion to overlap: if one kernel fills 12 us of a sample and another 3 us, they
// get four to one. Concurrent kernels also share by time. A kernel that still waits for earlier work of its
// stream does not count as running (stream_order.h). A light kernel beside a heavy one gets too much this
// way: the tools unmix them (tools/analysis/sampling/unmix.h), live totals do not. The bytes of a sample
// without any work are unattributed. Every byte is conserved.
//
// Pure: no thread, no file. Bounded memory (sample_order.h). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "profiler/attribution/sample_sweep.h"
#include "profiler/attribution/sample_truth.h"
#include "profiler/attribution/stream_order.h"
#include "schema/record.h"

namespace rangefinder {

/// Sampled bytes of one path (its own work only) or of one kernel name.
struct SampledBytes {
  std::uint32_t id = 0;  ///< path or kernel name; 0: outside any range, or no kernel
  std::array<std::uint64_t, kSharedColumns> bytes{};  ///< by SharedColumn
  std::uint64_t samples = 0;                          ///< samples that its work overlaps
  std::uint64_t overlap_ns = 0;                       ///< time of its work inside samples
  std::uint64_t work_ns = 0;  ///< summed time of its work; the part without overlap was not sampled
};

/// Totals over all samples.
struct SampleTotals {
  std::uint64_t samples = 0;       ///< shared or unattributed so far, without idle ones
  std::uint64_t idle_samples = 0;  ///< omitted from the trace because nothing ran
  std::uint64_t late_work = 0;     ///< work items that came after their samples had been shared
  std::array<std::uint64_t, kSharedColumns> bytes{};         ///< in samples and idle samples, by SharedColumn
  std::array<std::uint64_t, kSharedColumns> unattributed{};  ///< of these, bytes while no work ran
  std::array<std::uint64_t, kSampleColumns> link_bytes{};    ///< PCIe and NVLink columns; others 0
};

class SampleSharing {
 public:
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const SamplesRecord& samples);

  /// Settles all samples that end before `until_ns`. Work added later for them is late. About two seconds
  /// before the present is safe: records and samples are at most that late.
  void advance(TimeNs until_ns);
  /// Settles everything.
  void finish();

  /// Paths with GPU work, by id.
  [[nodiscard]] std::vector<SampledBytes> paths() const;
  /// Kernel names with GPU work, by id; 0: copies and memsets.
  [[nodiscard]] std::vector<SampledBytes> kernels() const;
  [[nodiscard]] const SampleTotals& totals() const noexcept { return totals_; }
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_.truth(); }
  /// Whether any samples were added; without them no path has sampled bytes.
  [[nodiscard]] bool any() const noexcept { return any_; }

 private:
  struct Row {
    SampledBytes sum;
    std::uint64_t last_sample = 0;  // number of the last sample that overlapped it
  };
  void add_work(const GpuWork& work, std::uint32_t name);
  void share(const SampleBatch& batch);
  void share_sample(const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps,
                    const SampleBatch& batch);
  void settle_if_crowded();

  SampleOrder order_;
  StreamOrder streams_;
  SampleSweep sweep_;
  std::vector<Row> paths_, kernels_;  // by id
  TruthCopies truth_;
  SampleTotals totals_;
  bool any_ = false;
};

}  // namespace rangefinder
