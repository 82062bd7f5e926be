// SPDX-License-Identifier: Apache-2.0
//
// Evaluated hardware samples of one GPU into records for the trace.
//
//   add(start, end, values) ─▶ idle? summed ─▶ runs and columns ─▶ SamplesRecord every 500 samples
//
// Three things keep the trace small. Bytes become units of 32, with what is left over
// carried to the next sample, so that sums stay exact. Neighbours of equal length become
// one run. A sample in which nothing ran is left out and only summed, unless work goes on
// within kBridge samples: a run that is cut costs more than a few zeros. And the links'
// bytes, of which no path is told, are written once for kLinkSamples samples.
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

/// One sample as the hardware gave it: bytes or percent by column. Times absolute.
struct PmSample {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<double, kSampleColumns> values{};
};

class PmEncoder {
 public:
  static constexpr std::size_t kLineSamples = 500;
  static constexpr std::int64_t kLineNs = 100'000'000;
  /// How far a boundary inside of a run may be from where its sample really began.
  static constexpr std::int64_t kToleranceNs = 100;
  /// Idle samples between two others that are kept, so that the run goes on.
  static constexpr std::size_t kBridge = 2;
  static constexpr std::size_t kLinkSamples = 50;
  /// Up to this rate, a GPU whose multiprocessors are asleep counts as idle (see is_idle()).
  static constexpr double kIdleBytesPerNs = 0.25;

  /// The samples' own way into the host's memory, which pcie_write counts: 5.5 KB each on an H200,
  /// twice that with counters of every multiprocessor.
  static constexpr double kOwnRecordBytes = 16'384;

  using Columns = std::bitset<kSampleColumns>;

  /// `columns`: those that are collected. `deliver`: gets each record that is full, valid during the call.
  PmEncoder(std::uint32_t gpu, Columns columns, std::function<void(const SamplesRecord&)> deliver);

  /// In the order of time.
  void add(const PmSample& sample);
  /// The time has come to `now_ns`: a record that waits for kLineNs goes out although it is not full.
  void advance(std::int64_t now_ns);
  /// Everything goes out, what was only summed as well.
  void flush();

  /// Whether nothing of note ran in the sample: no multiprocessor was active, and what moved is what
  /// a GPU at rest moves (scanning out, refreshing page tables, the counters' own stream).
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
  std::int64_t waiting_since_ns_ = 0;                  // start of the first thing in record_
  std::array<std::uint32_t, kSampleColumns> links_{};  // of the last link_samples_, not in record_ yet
  std::size_t link_samples_ = 0;
  std::deque<Kept> idle_;                           // those that may yet be bridged
  bool bridging_ = false;                           // idle_ follows a sample that was kept
  std::array<double, kSampleColumns> left_over_{};  // bytes below a unit
  double min_ns_ = 0, max_ns_ = 0;  // lengths of a sample for which all boundaries of the run hold
};

}  // namespace rangefinder
