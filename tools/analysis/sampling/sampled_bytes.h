// SPDX-License-Identifier: Apache-2.0
//
// Bytes per path out of the hardware samples of a trace, with a bound of their error.
//
//   trace ─▶ SampledTrace::load ─▶ rates of (path, kernel) groups     (unmix.h)
//                  └─ totals(window) ─▶ each sample's bytes over the work it overlaps, in
//                                       proportion to overlap times rate ─▶ SampledTotals
//
// Bytes are conserved to the last one: all paths' exclusive bytes without their `estimated_bytes`,
// `unattributed` and nothing else are the samples' bytes. Where samples were lost, work in the gaps is taken
// to have moved bytes at the rate of its path in samples. A column whose held-back samples the rates predict
// no better than sharing by time does keeps sharing by time, and says so. Copies of known size stand beside
// it.
//
// Reads the trace once, twice where it is too large to hold. Throws Missing as trace_reader does.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/read/sample_window.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

enum class SharingMethod : std::uint8_t { time_shared, unmixed };

/// "time_shared", "unmixed": as JSON names them.
[[nodiscard]] std::string_view sharing_method_name(SharingMethod method) noexcept;

/// One column of one path, and how far it may be off.
struct BoundedBytes {
  std::uint64_t bytes = 0;
  std::uint64_t estimated_bytes = 0;  ///< of `bytes`: of work while samples were lost
  std::uint64_t error_bytes = 0;  ///< the true value is within bytes ± error_bytes, for 95 % of all paths

  /// 100 * error_bytes / bytes; absent where bytes are 0.
  [[nodiscard]] std::optional<double> error_pct() const noexcept;
};

/// By SharedColumn: DRAM read, DRAM written, L2.
using BoundedColumns = std::array<BoundedBytes, kSharedColumns>;

/// A path that had GPU work, itself or below it.
struct SampledPath {
  std::uint32_t path = 0;  ///< 0: launched outside of any range
  BoundedColumns inclusive;
  BoundedColumns exclusive;
  std::uint64_t samples = 0;       ///< that work of the path itself overlaps
  std::uint64_t work_ns = 0;       ///< durations of the path's own work, summed
  std::uint64_t overlap_ns = 0;    ///< of work_ns, inside of samples: the rest was not sampled
  std::uint64_t estimated_ns = 0;  ///< of that rest: bytes of this much are estimated
  /// The same, inclusive.
  std::uint64_t inclusive_work_ns = 0, inclusive_overlap_ns = 0, inclusive_estimated_ns = 0;

  /// Largest error_pct of the inclusive columns that carry bytes; absent where none does. For one
  /// figure a row. A column below a hundredth of the row's L2 bytes has no say in it: its own
  /// error_pct has.
  [[nodiscard]] std::optional<double> worst_error_pct() const noexcept;
};

/// Bytes by kernel name: 0 for copies and memsets.
struct SampledKernel {
  std::uint32_t name = 0;
  std::array<std::uint64_t, kSharedColumns> bytes{}, estimated_bytes{};  ///< the latter part of the former
  std::uint64_t work_ns = 0, overlap_ns = 0, estimated_ns = 0;
};

/// How a column was shared.
struct ColumnSharing {
  SharingMethod method = SharingMethod::time_shared;
  std::int32_t lag_ns = 0;  ///< added to the samples' times: its bytes show that much early or late
  /// Squared error on held-back samples, unmixed over time-shared; below 1: unmixing predicts better.
  /// Absent: too few samples to tell.
  std::optional<double> held_back_ratio;
};

struct SampledTotals {
  std::vector<SampledPath> paths;      ///< by path id, ascending
  std::vector<SampledKernel> kernels;  ///< by name id, ascending
  std::array<ColumnSharing, kSharedColumns> sharing;
  SampleTotals samples;  ///< what was shared, what nobody asked for, links, counts
  CopyTruth truth;

  /// The row of a path; nullptr: it had no GPU work in the window.
  [[nodiscard]] const SampledPath* find(std::uint32_t path) const noexcept;
};

using RecordVisitor = std::function<void(const Line&)>;
/// Shows a visitor all records of a trace, the same ones each time it is called.
using RecordReader = std::function<void(const RecordVisitor&)>;

/// A trace made ready to have its samples shared. Not thread-safe.
class SampledTrace {
 public:
  /// Nothing where the trace holds no samples. The trace must stay as it is.
  [[nodiscard]] static std::optional<SampledTrace> load(const TraceFolder& trace);
  [[nodiscard]] static std::optional<SampledTrace> load(RecordReader reader);
  SampledTrace(SampledTrace&&) noexcept;
  SampledTrace& operator=(SampledTrace&&) noexcept;
  ~SampledTrace();

  [[nodiscard]] SampledTotals totals(const SampleWindow& window = {}) const;

 private:
  struct Impl;
  explicit SampledTrace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rangefinder
