// SPDX-License-Identifier: Apache-2.0
//
// What a row's bytes, time and metrics mean: bandwidths, shares of peaks, the limiter.
//
//   PathTotals, or samples ─▶ RowBytes ─┐
//   metrics of the path ────────────────┼─▶ derive() ─▶ Derived, each value only where it can be known
//   GpuRecord: peaks, L2 size ──────────┘
//
// Pure. Definitions, in words for users: schema/README.md.
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

/// Bytes of a row and what is known of their error.
struct RowBytes {
  enum class Source : std::uint8_t { none, exact, sampled };
  Source source = Source::none;
  std::uint64_t read = 0, write = 0, l2 = 0;  ///< DRAM read, DRAM written, L2
  /// Bytes by which they may be off; absent: not known.
  std::optional<double> read_error, write_error, l2_error;
  std::uint64_t measured_launches = 0;  ///< exact: whose values these are, or are estimated from
  std::uint64_t missing_launches = 0;   ///< exact: of the row, without bytes
  bool estimated = false;               ///< for all launches, or all of their time, from what was measured
  double rate_bytes = 0, rate_l2 = 0;   ///< DRAM and L2 bytes that moved in …
  double rate_ns = 0;                   ///< … this GPU time; 0: not known
  double counter_ns = 0;                ///< exact: the same time by counters, as metrics have it
  std::uint64_t samples = 0;            ///< sampled: that work of the path itself overlaps
  double sampled_share = 1;             ///< sampled: of the time of the row's work, part inside of samples

  [[nodiscard]] std::uint64_t dram() const noexcept { return read + write; }
  /// Part of the row's work was in no sample.
  [[nodiscard]] bool has_gaps() const noexcept { return sampled_share < 0.9995; }
  /// The bytes are a lower bound: launches are missing and not estimated.
  [[nodiscard]] bool partial() const noexcept { return missing_launches != 0 && !estimated; }
  /// Likewise: time is missing.
  [[nodiscard]] bool partly_sampled() const noexcept { return has_gaps() && !estimated; }
  /// Of DRAM read plus written; absent where that is 0 or the errors are not known.
  [[nodiscard]] std::optional<double> error_pct() const noexcept;
};

/// Of the GPUs of a trace, where all agree; else 0 and empty: a share would mean nothing.
struct GpuPeaks {
  std::uint64_t dram_bytes_per_s = 0;
  std::uint64_t l2_bytes = 0;                         ///< capacity; the largest
  std::vector<std::pair<std::string, double>> flops;  ///< by type, FLOP/s
};
[[nodiscard]] GpuPeaks common_peaks(const std::vector<GpuRecord>& gpus);

/// Bytes of exact mode. Their error: see schema/README.md, "bytes_error_pct".
[[nodiscard]] RowBytes exact_bytes(const PathTotals& row, const GpuPeaks& peaks);

/// Of samples: what moved in the row, and the time in which its work ran. `work_ns`: durations of its
/// kernels and copies summed; `overlap_ns`: of these, inside of samples; `estimated_ns`: of those that are
/// not, time whose bytes are estimated and among `bytes`.
[[nodiscard]] RowBytes sampled_bytes(const PathTotals& row, const std::array<std::uint64_t, 3>& bytes,
                                     std::uint64_t work_ns, std::uint64_t overlap_ns,
                                     std::uint64_t estimated_ns = 0);

/// Metrics of a path by name.
class MetricsByName {
 public:
  MetricsByName() = default;
  MetricsByName(const std::vector<MetricValue>& values, const MetricGroups& groups);
  /// nullptr: not measured. Of a metric that is in several sets, the one that was measured most often.
  [[nodiscard]] const MetricValue* find(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, MetricValue>>& all() const noexcept {
    return values_;
  }

 private:
  std::vector<std::pair<std::string, MetricValue>> values_;  // by name
};

/// Operations of floating point, and of the tensor cores, a multiply-add counted as two.
struct Operations {
  double total = 0;
  double gpu_ns = 0;                 ///< in this GPU time
  std::optional<double> peak_share;  ///< of the peaks of their types; absent: one of them is not known
};
/// Absent unless a metric of the roofline set is there. Operations of the FMA pipes are an upper
/// bound: hardware counts threads' instructions by pipe, and additions and integer multiplications
/// are taken for multiply-adds.
[[nodiscard]] std::optional<Operations> operations_of(const MetricsByName& metrics, const GpuPeaks& peaks);

enum class Limiter : std::uint8_t { dram, l2, compute, latency };
[[nodiscard]] std::string_view limiter_name(Limiter limiter) noexcept;

/// From this share of a roof on, the roof is what limits; below it on all roofs, latency does.
inline constexpr double kRoofShare = 0.60;

struct Derived {
  std::optional<double> dram_bytes_per_s, dram_peak_share;
  std::optional<double> l2_bytes_per_s, l2_peak_share;
  std::optional<double> flop_per_dram_byte, compute_peak_share;
  std::optional<double> dram_amplification, l2_amplification;  ///< measured over declared bytes
  std::optional<Limiter> limiter;
};
[[nodiscard]] Derived derive(const PathTotals& row, const RowBytes& bytes, const GpuPeaks& peaks,
                             const MetricsByName& metrics);

}  // namespace rangefinder
