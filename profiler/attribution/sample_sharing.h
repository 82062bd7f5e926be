// SPDX-License-Identifier: Apache-2.0
//
// Bytes per path and per kernel name while the program runs: samples shared by time.
//
//   KernelRecord, MemcpyRecord, MemsetRecord ─▶ add ─┐
//   SamplesRecord ─────────────────────────────▶ add ─┴▶ SampleOrder ─▶ advance(until): each sample's
//                                                        bytes over the work it overlaps ─▶ totals
//
// In proportion to overlap: a sample that a kernel fills for 12 us and another for 3 us goes four
// to one, kernels that run at once share by time too. One that only waits for what its stream ran before
// does not run yet (stream_order.h). A light kernel beside a heavy one gets too
// much that way: the tools unmix them (tools/analysis/sampling/unmix.h), live totals do not. A sample in
// which no work runs is `unattributed`. Bytes are conserved to the last one.
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

/// Bytes that samples gave to one path (its own work alone), or to one kernel name.
struct SampledBytes {
  std::uint32_t id = 0;  ///< path, or kernel name; 0: outside of any range, or no kernel
  std::array<std::uint64_t, kSharedColumns> bytes{};  ///< by SharedColumn
  std::uint64_t samples = 0;                          ///< that its work overlaps
  std::uint64_t overlap_ns = 0;                       ///< of its work with samples
  std::uint64_t work_ns = 0;  ///< time its work ran, summed; what of it is no overlap was not sampled
};

/// What became of all samples.
struct SampleTotals {
  std::uint64_t samples = 0;       ///< shared or unattributed so far, idle ones not included
  std::uint64_t idle_samples = 0;  ///< left out of the trace because nothing ran
  std::uint64_t late_work = 0;     ///< pieces of work that came after the samples of their time were shared
  std::array<std::uint64_t, kSharedColumns> bytes{};         ///< in samples and idle samples, by SharedColumn
  std::array<std::uint64_t, kSharedColumns> unattributed{};  ///< of these, while no work ran
  std::array<std::uint64_t, kSampleColumns> link_bytes{};    ///< of the PCIe and NVLink columns; others 0
};

class SampleSharing {
 public:
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const SamplesRecord& samples);

  /// Settles all samples that end before `until_ns`: work that comes later for them is late. About
  /// two seconds behind the present is safe: that is how late records and samples come.
  void advance(TimeNs until_ns);
  /// Settles everything.
  void finish();

  /// Paths that had GPU work, by id.
  [[nodiscard]] std::vector<SampledBytes> paths() const;
  /// Kernel names likewise; `id` 0 is copies and memsets.
  [[nodiscard]] std::vector<SampledBytes> kernels() const;
  [[nodiscard]] const SampleTotals& totals() const noexcept { return totals_; }
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_.truth(); }
  /// Whether any sample came: without one, no path has sampled bytes.
  [[nodiscard]] bool any() const noexcept { return any_; }

 private:
  struct Row {
    SampledBytes sum;
    std::uint64_t last_sample = 0;  // number of the sample that touched it last
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
