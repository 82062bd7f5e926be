// SPDX-License-Identifier: Apache-2.0
//
// Encodes the evaluated hardware samples of one GPU as records for the trace.
//
//   add(start, end, values) ─▶ idle? summed ─▶ runs and columns ─▶ SamplesRecord every 500 samples
//
// Four things keep the trace small. Bytes become units of 32; the remainder is carried to
// the next sample, so that sums stay exact. Adjacent samples of equal length become one
// run. An idle sample is omitted and only summed, unless work resumes within kBridge
// samples: a split run costs more than a few zeros. Link bytes, which are not attributed
// to paths, are written once per kLinkSamples samples.
//
// Pure: no CUPTI, no clock, no thread.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>

#include "schema/sample_record.h"

namespace rangefinder {

/// One sample from the hardware: bytes or percent by column. Times absolute.
struct PmSample {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<double, kSampleColumns> values{};
};

class PmEncoder {
 public:
  static constexpr std::size_t kLineSamples = 500;
  static constexpr std::int64_t kLineNs = 100'000'000;
  /// Maximum distance of a boundary inside a run from the sample's true start.
  static constexpr std::int64_t kToleranceNs = 100;
  /// Maximum number of idle samples that are kept between two others, so that the run continues.
  static constexpr std::size_t kBridge = 2;
  static constexpr std::size_t kLinkSamples = 50;
  /// Up to this rate, a GPU without active multiprocessors counts as idle (see is_idle()).
  static constexpr double kIdleBytesPerNs = 0.25;

  /// Allowance for the sample's own record on its way to host memory, which pcie_write counts: 5.5 KB on an
  /// H200, twice that with counters of every multiprocessor.
  static constexpr double kOwnRecordBytes = 16'384;

  using Columns = std::bitset<kSampleColumns>;

  /// `columns`: the collected ones. `deliver`: receives each full record, valid during the call.
  PmEncoder(std::uint32_t gpu, Columns columns, std::function<void(const SamplesRecord&)> deliver);

  /// In time order.
  void add(const PmSample& sample);
  /// Time has reached `now_ns`: delivers a partial record that has waited for kLineNs.
  void advance(std::int64_t now_ns);
  /// Delivers everything, including idle sums.
  void flush();

  /// Whether the GPU was idle in the sample: no multiprocessor was active, and only the traffic of an idle
  /// GPU was seen (display scan-out, page table refreshes, the counters' own stream).
  [[nodiscard]] bool is_idle(const PmSample& sample) const noexcept;

 private:
  using Units = std::array<std::uint32_t, kSampleColumns>;
  struct Kept {
    std::int64_t start_ns, end_ns;
    Units units;
  };

  void put_links() noexcept;
  [[nodiscard]] Units to_units(const PmSample& sample) noexcept;
  void append(const Kept& sample);
  [[nodiscard]] bool extends_run(const Kept& sample) noexcept;
  void drop(const Kept& sample) noexcept;
  void send();

  const Columns columns_;
  const std::function<void(const SamplesRecord&)> deliver_;
  SamplesRecord record_, sent_;
  std::size_t samples_ = 0;                            // in record_
  std::int64_t waiting_since_ns_ = 0;                  // start of the first sample in record_
  std::array<std::uint32_t, kSampleColumns> links_{};  // sums of the last link_samples_, not in record_ yet
  std::size_t link_samples_ = 0;
  std::deque<Kept> idle_;                           // idle samples that may still be bridged
  bool bridging_ = false;                           // idle_ follows a sample that was kept
  std::array<double, kSampleColumns> left_over_{};  // bytes below one unit
  double min_ns_ = 0, max_ns_ = 0;  // sample lengths that keep all boundaries of the run within tolerance
};

}  // namespace rangefinder
