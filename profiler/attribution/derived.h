// SPDX-License-Identifier: Apache-2.0
//
// Values derived from a row's bytes, time and metrics: bandwidths, shares of peaks, the limiter.
//
//   PathTotals, or samples ─▶ RowBytes ─┐
//   metrics of the path ────────────────┼─▶ derive() ─▶ Derived: each value only if it is known
//   GpuRecord: peaks, L2 size ──────────┘
//
// Pure. Definitions for users: schema/README.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/attribution/path_totals.h"

namespace rangefinder {

/// Bytes of a row and their error, as far as known.
struct RowBytes {
  enum class Source : std::uint8_t { none, exact, sampled, gpm };
  Source source = Source::none;
  std::uint64_t read = 0, write = 0, l2 = 0;  ///< DRAM read, DRAM written, L2
  std::uint64_t both = 0;                     ///< gpm: DRAM read and written, of which it has no parts
  /// Error bounds in bytes, of sampled and of estimated bytes; absent: none, or unknown.
  std::optional<double> read_error, write_error, l2_error, both_error;
  /// exact: upper bound of the bytes that earlier work left dirty in L2 and that were written back here, and
  /// of those that this work left there. Absent: the size of L2 is unknown.
  std::optional<std::uint64_t> carry_over;
  std::uint64_t measured_launches = 0;  ///< exact: launches that the values are from, or estimated from
  std::uint64_t missing_launches = 0;   ///< exact: launches of the row without bytes
  bool estimated = false;               ///< extrapolated from measured launches, or time, to all
  double rate_bytes = 0, rate_l2 = 0;   ///< DRAM and L2 bytes moved in rate_ns
  double rate_ns = 0;                   ///< GPU time; 0: unknown
  double counter_ns = 0;                ///< exact: the same time from counters; metrics use this clock
  std::uint64_t samples = 0;            ///< sampled: samples that overlap the path's own work
  double sampled_share = 1;             ///< sampled, gpm: share of the row's work time inside samples
  std::uint32_t inseparable = 0;        ///< sampled: number of its group of paths (SampledTotals); 0: none
  bool in_graph = false;  ///< exact: a part was measured with a graph launch, whose path is above
  bool split = false;     ///< sampled: another trace's samples, scaled to the exact bytes of graph launches

  [[nodiscard]] std::uint64_t dram() const noexcept { return read + write + both; }
  /// Reads, writes and L2 are known, not the DRAM's sum alone.
  [[nodiscard]] bool has_parts() const noexcept {
    return source == Source::exact || source == Source::sampled;
  }
  /// An error bound decides whether a value is shown.
  [[nodiscard]] bool is_bounded() const noexcept {
    return source == Source::sampled || source == Source::gpm;
  }
  /// Part of the row's work is outside all samples.
  [[nodiscard]] bool has_gaps() const noexcept { return sampled_share < 0.9995; }
  /// The bytes are a lower bound: launches are missing and not estimated.
  [[nodiscard]] bool partial() const noexcept { return missing_launches != 0 && !estimated; }
  /// The bytes are a lower bound: time is missing and not estimated.
  [[nodiscard]] bool partly_sampled() const noexcept { return has_gaps() && !estimated; }
  /// Of DRAM read plus written, in bytes; absent if unknown.
  [[nodiscard]] std::optional<double> dram_error() const noexcept;
  /// Sampled, gpm: error of DRAM read plus written, in percent; absent if that is 0 or the errors are
  /// unknown.
  [[nodiscard]] std::optional<double> error_pct() const noexcept;
  /// False: carry-over alone may be more than `declared` bytes, so that measured / declared says nothing.
  [[nodiscard]] bool comparable_with(std::uint64_t declared) const noexcept;
  /// The number is shown: exact, or with an error bound of at most 100 %.
  [[nodiscard]] bool shows_dram() const noexcept;
  [[nodiscard]] bool shows_l2() const noexcept;
  /// Adds a row whose work is disjoint from this one's. Error bounds add up, as in the worst case.
  RowBytes& operator+=(const RowBytes& other) noexcept;
};

/// Carry-over is more than 10 % of `dram` (read plus written): tables mark the value.
[[nodiscard]] bool marks_carry_over(std::optional<std::uint64_t> carry_over, std::uint64_t dram) noexcept;
inline constexpr const char* kCarryOverMark = "†";
/// Explains the mark below a table.
inline constexpr const char* kCarryOverRemark =
    "†: L2 writes back late: over 10 % of this traffic may be of earlier work, or follow later "
    "(carry-over).\n";

/// How a table shows a value with an error bound.
struct BoundedText {
  std::string value;  ///< "12.3 MB", or "–" if the bound is above 100 % of the value
  std::string error;  ///< "2.1 %", or the reason why there is no number; empty: the bound is unknown
};
/// Reasons: the samples that overlap the work are too few; it always runs beside the same other work.
inline constexpr const char* kTooShort = "too short";
inline constexpr const char* kInseparable = "inseparable";
inline constexpr const char* kNoNumber = "–";
inline constexpr const char* kNoNumberRemark =
    "–: the error bound is above 100 % of the value. too short: too few samples overlap that work. "
    "inseparable: it "
    "always runs beside the same other work.\n";
/// Decides for every table whether a value is shown. `bound`: of `bytes`, in bytes. 0 is shown if
/// it was measured, not if an error bound says that it is too small to tell.
[[nodiscard]] BoundedText bounded_text(std::uint64_t bytes, std::optional<double> bound,
                                       const char* reason = kTooShort);

/// Peaks of a trace's GPUs if all agree; else 0 and empty, because a share would be meaningless.
struct GpuPeaks {
  std::uint64_t dram_bytes_per_s = 0;
  std::uint64_t l2_bytes = 0;                         ///< largest L2 capacity
  std::vector<std::pair<std::string, double>> flops;  ///< by type, FLOP/s
};
[[nodiscard]] GpuPeaks common_peaks(const std::vector<GpuRecord>& gpus);

/// A kernel as a row of paths, so that one function computes bytes, rates and limiter of both.
[[nodiscard]] PathTotals kernel_as_path(const KernelTotals& kernel);

/// Bytes of exact mode. For carry-over see schema/README.md, "carry_over_bytes".
[[nodiscard]] RowBytes exact_bytes(const PathTotals& row, const GpuPeaks& peaks);

/// Bytes of sampled mode. `work_ns`: summed durations of the row's kernels and copies; `overlap_ns`: the part
/// inside samples; `estimated_ns`: of the rest, the time whose bytes are estimated and included in `bytes`.
[[nodiscard]] RowBytes sampled_bytes(const PathTotals& row, const std::array<std::uint64_t, 3>& bytes,
                                     std::uint64_t work_ns, std::uint64_t overlap_ns,
                                     std::uint64_t estimated_ns = 0);

/// Bytes of NVML's GPM. `work_ns`: summed durations of the row's kernels and copies; `counted_ns`: the part
/// that the bytes cover.
[[nodiscard]] RowBytes gpm_bytes(const PathTotals& row, double bytes, double error, double work_ns,
                                 double counted_ns);

/// Metrics of a path by name. `groups` must outlive this.
class MetricsByName {
 public:
  MetricsByName() = default;
  MetricsByName(const std::vector<MetricValue>& values, const MetricGroups& groups);
  /// nullptr: not measured. If several sets have the metric, the value measured most often.
  [[nodiscard]] const MetricValue* find(std::string_view name) const;
  /// A metric set of the trace has it, whether it was measured here or not.
  [[nodiscard]] bool planned(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, MetricValue>>& all() const noexcept {
    return values_;
  }
  /// Name of the metric set that a value of all() is of.
  [[nodiscard]] const std::string& set_name(const MetricValue& value) const {
    return groups_->sets()[value.set].name;
  }

 private:
  std::vector<std::pair<std::string, MetricValue>> values_;  // by name
  const MetricGroups* groups_ = nullptr;                     // outlives this
};

/// Floating-point and tensor core operations; a multiply-add counts as two.
struct Operations {
  double total = 0;
  double gpu_ns = 0;                 ///< GPU time of these operations
  std::optional<double> peak_share;  ///< share of their types' peaks; absent: a peak is unknown
};
/// Absent without a metric of the roofline set. Operations of the FMA pipes are an upper bound: the
/// hardware counts thread instructions by pipe, so additions and integer multiplications count as
/// multiply-adds. `missing_sets` (PathTotals): absent if one of them counts operations, because those of some
/// launches would stand for all.
[[nodiscard]] std::optional<Operations> operations_of(const MetricsByName& metrics, const GpuPeaks& peaks,
                                                      std::uint64_t missing_sets = 0);

enum class Limiter : std::uint8_t { dram, l2, compute, latency };
[[nodiscard]] std::string_view limiter_name(Limiter limiter) noexcept;

/// At this share of a roof or more, that roof is the limiter. Below it on all roofs, latency is.
inline constexpr double kRoofShare = 0.60;

struct Derived {
  std::optional<double> dram_bytes_per_s, dram_peak_share;
  std::optional<double> l2_bytes_per_s, l2_peak_share;
  std::optional<double> flop_per_s, flop_per_dram_byte, compute_peak_share;
  std::optional<double> dram_amplification, l2_amplification;  ///< measured over declared bytes
  std::optional<Limiter> limiter;
  bool above_peak = false;  ///< a rate is absent because it would exceed the GPU's peak
};
[[nodiscard]] Derived derive(const PathTotals& row, const RowBytes& bytes, const GpuPeaks& peaks,
                             const MetricsByName& metrics);
/// Without the values that a report withholds, because errors or carry-over make them meaningless.
[[nodiscard]] Derived shown_values(const PathTotals& row, const RowBytes& bytes, Derived derived) noexcept;

}  // namespace rangefinder
