// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/made_sampler.h"

#include <algorithm>
#include <utility>

#include "tests/bench/made_names.h"

namespace rangefinder::bench {
namespace {

constexpr TimeNs kIntervalNs = 20'000;
constexpr TimeNs kFirstSampleNs = 900'000;  // sampling starts before the first work
// Highest bytes in a sample without work, as on an idle H200; they vary from sample to sample.
constexpr std::array<std::uint64_t, kSharedColumns> kBackgroundBytes{96, 64, 640};
constexpr double kOwnRecordBytes = 5'120;  // the sample itself on its way to host memory
constexpr std::array kCollected{kSampleDramRead, kSampleDramWrite, kSampleL2,
                                kSamplePcieRead, kSamplePcieWrite, kSampleEngineActive};

PmEncoder::Columns collected() {
  PmEncoder::Columns columns;
  for (const SampleColumn column : kCollected) columns.set(column);
  return columns;
}

}  // namespace

MadeSampler::MadeSampler(std::function<void(const SamplesRecord&)> deliver)
    : encoder_(0, collected(), std::move(deliver)) {
  sample_.start_ns = kFirstSampleNs;
  sample_.end_ns = kFirstSampleNs + kIntervalNs;
}

SamplingRecord MadeSampler::started() {
  SamplingRecord sampling;
  sampling.at_ns = kFirstSampleNs;
  sampling.interval_ns = kIntervalNs;
  for (const SampleColumn column : kCollected) sampling.columns.emplace_back(kSampleColumnNames[column]);
  sampling.reason = "start";
  return sampling;
}

SamplingRecord MadeSampler::stopped(TimeNs at_ns) {
  SamplingRecord sampling;
  sampling.at_ns = at_ns;
  sampling.reason = "stop";
  return sampling;
}

void MadeSampler::add_kernel(const GpuWork& work, const MadeBytes& bytes) {
  Values values{};
  for (std::size_t c = 0; c < kSharedColumns; ++c)
    values[kSharedSampleColumns[c]] = static_cast<double>(bytes[c]);
  values[kSampleEngineActive] = static_cast<double>(work.end_ns - work.start_ns);
  add(work, values);
}

void MadeSampler::add_copy(const MemcpyRecord& copy, const MadeBytes& bytes) {
  Values values{};
  for (std::size_t c = 0; c < kSharedColumns; ++c)
    values[kSharedSampleColumns[c]] = static_cast<double>(bytes[c]);
  values[copy.kind == CopyKind::HtoD ? kSamplePcieRead : kSamplePcieWrite] = static_cast<double>(copy.bytes);
  add(copy.work, values);
}

void MadeSampler::add(const GpuWork& work, const Values& values) {
  while (sample_.end_ns <= work.start_ns) end_sample();
  const auto took_ns = static_cast<double>(work.end_ns - work.start_ns);
  for (TimeNs at = work.start_ns; at < work.end_ns;) {
    const TimeNs until = std::min(work.end_ns, sample_.end_ns);
    const double share = static_cast<double>(until - at) / took_ns;
    for (std::size_t i = 0; i < kSampleColumns; ++i) sample_.values[i] += share * values[i];
    at = until;
    if (at == sample_.end_ns) end_sample();
  }
}

void MadeSampler::end_sample() {
  ++samples_;
  for (std::size_t c = 0; c < kSharedColumns; ++c) {
    const std::uint64_t bytes = spread(samples_ * kSharedColumns + c, kBackgroundBytes[c]);
    sample_.values[kSharedSampleColumns[c]] += static_cast<double>(bytes);
  }
  sample_.values[kSamplePcieWrite] += kOwnRecordBytes;
  sample_.values[kSampleEngineActive] *= 100.0 / kIntervalNs;
  encoder_.add(sample_);
  encoder_.advance(sample_.end_ns);
  sample_ = {sample_.end_ns, sample_.end_ns + kIntervalNs, {}};
}

void MadeSampler::finish(TimeNs until_ns) {
  while (sample_.end_ns <= until_ns) end_sample();
  encoder_.flush();
}

}  // namespace rangefinder::bench
