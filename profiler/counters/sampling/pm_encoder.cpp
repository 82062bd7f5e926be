// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rangefinder {

PmEncoder::PmEncoder(std::uint32_t gpu, Columns columns, std::function<void(const SamplesRecord&)> deliver)
    : columns_(columns), deliver_(std::move(deliver)) {
  record_.gpu = gpu;
}

bool PmEncoder::is_idle(const PmSample& sample) const noexcept {
  // Below half a percent the trace would show 0.
  if (std::max(sample.values[kSampleSmActive], sample.values[kSampleEngineActive]) >= 0.5) return false;
  const double max_bytes = kIdleBytesPerNs * static_cast<double>(sample.end_ns - sample.start_ns);
  double bytes = sample.values[kSamplePcieWrite] - kOwnRecordBytes;
  for (std::size_t i = 0; i < kSampleSmActive; ++i) {
    if (i != kSamplePcieWrite) bytes = std::max(bytes, sample.values[i]);
  }
  return bytes <= max_bytes;
}

PmEncoder::Units PmEncoder::to_units(const PmSample& sample) noexcept {
  Units units{};
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    const double value = sample.values[i];
    if (!columns_[i] || !(value > 0)) continue;  // a ratio with a zero denominator is NaN
    if (!is_byte_column(i)) {
      units[i] = static_cast<std::uint32_t>(std::lround(std::min(value, 100.0)));
      continue;
    }
    left_over_[i] += value;
    const double whole = std::floor(left_over_[i] / kSampleUnitBytes);
    units[i] = static_cast<std::uint32_t>(std::min<double>(whole, std::numeric_limits<std::uint32_t>::max()));
    left_over_[i] -= static_cast<double>(units[i]) * kSampleUnitBytes;
  }
  return units;
}

void PmEncoder::add(const PmSample& sample) {
  const Kept kept{sample.start_ns, sample.end_ns, to_units(sample)};
  if (is_idle(sample)) {
    if (!bridging_) return drop(kept);
    idle_.push_back(kept);
    if (idle_.size() <= kBridge) return;
    for (const Kept& waiting : idle_) drop(waiting);
    idle_.clear();
    bridging_ = false;
    return;
  }
  for (const Kept& waiting : idle_) append(waiting);
  idle_.clear();
  append(kept);
  bridging_ = true;
}

void PmEncoder::drop(const Kept& sample) noexcept {
  if (samples_ == 0 && record_.idle_samples == 0) waiting_since_ns_ = sample.start_ns;
  ++record_.idle_samples;
  for (std::size_t i = 0; i < kSampleSmActive; ++i) record_.idle_units[i] += sample.units[i];
}

bool PmEncoder::extends_run(const Kept& sample) noexcept {
  if (record_.runs.empty()) return false;
  SampleRun& run = record_.runs.back();
  if (std::abs(sample.start_ns - run.end_ns) > kToleranceNs) return false;
  // All boundaries so far stay within the tolerance if the mean length lies in [min_ns_, max_ns_].
  const double n = run.count + 1.0;
  const auto span = static_cast<double>(sample.end_ns - run.start_ns);
  if (span / n < min_ns_ || span / n > max_ns_) return false;
  min_ns_ = std::max(min_ns_, (span - kToleranceNs) / n);
  max_ns_ = std::min(max_ns_, (span + kToleranceNs) / n);
  run.end_ns = sample.end_ns;
  ++run.count;
  return true;
}

void PmEncoder::append(const Kept& sample) {
  if (samples_ == 0 && record_.idle_samples == 0) waiting_since_ns_ = sample.start_ns;
  if (!extends_run(sample)) {
    record_.runs.push_back({sample.start_ns, sample.end_ns, 1});
    min_ns_ = static_cast<double>(sample.end_ns - sample.start_ns - kToleranceNs);
    max_ns_ = static_cast<double>(sample.end_ns - sample.start_ns + kToleranceNs);
  }
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (!columns_[i]) continue;
    record_.columns[i].push_back(is_link_column(i) ? 0 : sample.units[i]);
    if (is_link_column(i)) links_[i] += sample.units[i];
  }
  if (++link_samples_ >= kLinkSamples) put_links();
  if (++samples_ >= kLineSamples) send();
}

void PmEncoder::put_links() noexcept {
  link_samples_ = 0;
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (links_[i] != 0) record_.columns[i].back() = std::exchange(links_[i], 0);
  }
}

void PmEncoder::advance(std::int64_t now_ns) {
  // Sums of idle samples alone can wait ten times as long.
  const std::int64_t patience = samples_ != 0 ? kLineNs : 10 * kLineNs;
  if ((samples_ != 0 || record_.idle_samples != 0) && now_ns - waiting_since_ns_ >= patience) send();
}

void PmEncoder::flush() {
  for (const Kept& waiting : idle_) drop(waiting);
  idle_.clear();
  bridging_ = false;
  if (samples_ != 0 || record_.idle_samples != 0) send();
}

void PmEncoder::send() {
  put_links();
  samples_ = 0;
  std::swap(record_, sent_);
  // The next record reuses this memory. It is emptied before delivery, which may throw.
  record_.gpu = sent_.gpu;
  record_.runs.clear();
  for (auto& column : record_.columns) column.clear();
  record_.idle_samples = 0;
  record_.idle_units = {};
  for (auto& column : sent_.columns) {
    if (std::all_of(column.begin(), column.end(), [](std::uint32_t v) { return v == 0; })) column.clear();
  }
  deliver_(sent_);
}

}  // namespace rangefinder
