// SPDX-License-Identifier: Apache-2.0
//
// Hardware samples of a GPU: traffic of its memory and links, every few microseconds.
//
//   PM sampling ─▶ SamplesRecord ─▶ `samples` line ─▶ attribution: bytes per path, any window
//
// A sample covers the whole GPU. Attribution assigns its bytes to paths, by overlap with
// the records of GPU work (profiler/attribution/). Samples of an idle GPU are omitted and
// their bytes summed, so that a trace still contains every byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

/// Columns of a `samples` line: first bytes, then shares of the sample's cycles in percent.
enum SampleColumn : std::size_t {
  kSampleDramRead,           ///< dram__bytes_read.sum
  kSampleDramWrite,          ///< dram__bytes_write.sum
  kSampleL2,                 ///< lts__t_bytes.sum
  kSamplePcieRead,           ///< pcie__read_bytes.sum
  kSamplePcieWrite,          ///< pcie__write_bytes.sum
  kSampleNvlinkReceived,     ///< nvlrx__bytes.sum
  kSampleNvlinkTransmitted,  ///< nvltx__bytes.sum
  kSampleSmActive,           ///< sm__cycles_active.avg over the sample's cycles
  kSampleEngineActive,       ///< gr__cycles_active.avg over them: some kernel ran
  kSampleColumns
};

inline constexpr std::array<std::string_view, kSampleColumns> kSampleColumnNames{
    "dram_read",       "dram_write",         "l2",        "pcie_read",    "pcie_write",
    "nvlink_received", "nvlink_transmitted", "sm_active", "engine_active"};

[[nodiscard]] constexpr bool is_byte_column(std::size_t column) noexcept {
  return column < kSampleSmActive;
}
/// The link columns are sums: the bytes of up to 50 samples are stored at the last of these samples.
[[nodiscard]] constexpr bool is_link_column(std::size_t column) noexcept {
  return column >= kSamplePcieRead && column <= kSampleNvlinkTransmitted;
}

/// Unit of the byte columns, in bytes: a sector.
inline constexpr std::uint64_t kSampleUnitBytes = 32;

/// Readers refuse more in one line. The writer ends a line after several hundred.
inline constexpr std::uint64_t kMaxLineSamples = 1'000'000;

/// Consecutive samples without a gap. The i-th, from 0, lasts from
/// start + i * (end - start) / count to start + (i + 1) * (end - start) / count.
struct SampleRun {
  std::int64_t start_ns = 0;  ///< relative to Header::base_unix_ns
  std::int64_t end_ns = 0;
  std::uint32_t count = 0;
};

/// Several hundred samples of one GPU. Source: CUPTI PM sampling.
struct SamplesRecord {
  std::uint32_t gpu = 0;
  std::vector<SampleRun> runs;
  /// By SampleColumn, one value a sample over all runs: units of 32 bytes, or percent.
  /// Empty: not collected, or 0 in every sample (SamplingRecord says which columns are collected).
  std::array<std::vector<std::uint32_t>, kSampleColumns> columns;
  /// Idle samples omitted since the previous line: their number, and the sums of their units.
  std::uint64_t idle_samples = 0;
  std::array<std::uint64_t, kSampleColumns> idle_units{};
};

/// Sampling began, changed its interval, or ended.
struct SamplingRecord {
  std::int64_t at_ns = 0;
  std::uint32_t gpu = 0;
  std::uint32_t interval_ns = 0;     ///< 0: it ended
  std::vector<std::string> columns;  ///< names out of kSampleColumnNames
  std::string reason;                ///< "start", "overflow", "behind", "cpu", "stop", or why it ended
};

}  // namespace rangefinder
