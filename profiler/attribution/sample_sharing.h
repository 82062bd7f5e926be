// SPDX-License-Identifier: Apache-2.0
//
// Bytes per path and per kernel name while the program runs.
//
//   KernelRecord, MemcpyRecord, MemsetRecord ─▶ add ─┐
//   SamplesRecord ─────────────────────────────▶ add ─┴▶ SampleOrder ─▶ advance(until): each sample's
//                                                        bytes over the work it overlaps ─▶ totals
//
// Large device copies take the bytes that they are known to move (known_traffic.h). The rest of a sample is
// shared in proportion to overlap times byte rate. Rates are learned while sharing: each sample moves the
// rates of its work a little towards what explains it (normalised least mean squares). Until a kernel was in
// kLearnedSamples samples they are shared by overlap alone. A kernel that still waits for earlier work of its
// stream does not count as running (stream_order.h). The tools fit rates to the whole trace
// (tools/analysis/sampling/unmix.h) and are more certain. The bytes of a sample without any work are
// unattributed. Every byte is conserved.
//
// Pure: no thread, no file. Bounded memory (sample_order.h). Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/attribution/known_traffic.h"
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
  /// Inclusive: bytes that may belong to other paths, or theirs to this one, because rates are not exact. By
  /// SharedColumn.
  std::array<double, kSharedColumns> uncertain{};
  std::uint64_t pieces = 0;      ///< pieces of work
  std::uint64_t samples = 0;     ///< samples that its work overlaps
  std::uint64_t overlap_ns = 0;  ///< time of its work inside samples
  std::uint64_t work_ns = 0;     ///< summed time of its work; the part without overlap was not sampled
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
  static constexpr std::uint32_t kLearnedSamples = 64;
  /// (path, kernel) pairs with a rate of their own.
  static constexpr std::size_t kMaxOwners = std::size_t{1} << 17;

  explicit SampleSharing(L2Sizes l2_sizes = {});

  /// Call before the path's first work, or its bytes do not count as its parents' for the error.
  void add_path(std::uint32_t path, std::uint32_t parent);
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
  /// A (path, kernel) and its rate.
  struct Owner {
    std::uint32_t path = 0, name = 0;
    std::uint32_t samples = 0;
    std::uint32_t apart = 0;  // samples that it fills by half or more, with nine tenths of their bytes
    std::array<double, kSharedColumns> rate{};  // units per ns
  };
  using Units = std::array<std::uint32_t, kSharedColumns>;
  struct Piece {
    const OrderedWork* work;
    std::int32_t ns;
    std::array<double, kSharedColumns> weight;  // in columns where its bytes are known: 0
  };
  OrderedWork ordered(const GpuWork& work, std::uint32_t name);
  void add_work(const GpuWork& work, const OrderedWork& ordered);
  std::uint32_t owner_at(std::uint32_t path, std::uint32_t name);
  void learn(const OrderedSample& sample, const Units& units) noexcept;
  /// By the rates so far, in the column that all work has bytes in.
  [[nodiscard]] double part_of(const Piece& piece) const noexcept;
  /// How wrong the rates of pieces_ may be.
  [[nodiscard]] double rate_error(const OrderedSample& sample) const noexcept;
  void share(const SampleBatch& batch);
  void share_sample(const OrderedSample& sample, const std::vector<SampleOverlap>& overlaps,
                    const SampleBatch& batch, std::span<const KnownShare> known);
  /// Gives known work its units, unless nothing else ran. Returns what is left.
  Units take_known(const OrderedSample& sample, const SampleBatch& batch, std::span<const KnownShare> known);
  /// Sets the weights of pieces_, and their sums.
  void weigh();
  void give(const OrderedWork& work, std::size_t column, std::uint64_t units) noexcept;
  /// How much a wrong rate would move to or from each path of the sample, and the paths above it.
  void note_uncertainty(const Units& units, double rate_error);
  void settle_if_crowded();

  L2Sizes l2_sizes_;
  SampleOrder order_;
  StreamOrder streams_;
  KnownTraffic known_;
  std::vector<Owner> owners_;
  std::unordered_map<std::uint64_t, std::uint32_t> owner_positions_;
  std::vector<Piece> pieces_;
  std::array<double, kSharedColumns> all_{};               // sum of the pieces' weights
  std::vector<std::uint32_t> parents_;                     // by path
  std::vector<std::array<double, kSharedColumns>> parts_;  // by path: of the sample in progress
  std::vector<std::uint32_t> touched_;                     // paths with parts
  SampleSweep sweep_;
  std::vector<Row> paths_, kernels_;  // by id
  TruthCopies truth_;
  SampleTotals totals_;
  bool any_ = false;
};

}  // namespace rangefinder
