// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_parts.h"

#include <algorithm>
#include <array>

#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

/// A counter of the timeline, with one column per series.
struct Series {
  std::size_t column;
  const char* name;
};
struct Counter {
  const char* name;  // a JSON string
  std::array<Series, 2> series;
  std::size_t count;
};

constexpr std::array kCounters{
    Counter{"\"DRAM\"", {{{kSampleDramRead, "read (bytes/s)"}, {kSampleDramWrite, "write (bytes/s)"}}}, 2},
    Counter{"\"L2\"", {{{kSampleL2, "(bytes/s)"}, {}}}, 1},
    Counter{
        "\"GPU active\"",
        {{{kSampleEngineActive, "engine (percent of cycles)"}, {kSampleSmActive, "SM (percent of cycles)"}}},
        2},
};

}  // namespace

void ChromeSamples::add(const SamplingRecord& sampling) {
  Gpu& gpu = gpus_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    gpu.collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                      kSampleColumnNames[column]) != sampling.columns.end() ||
                            (sampling.interval_ns == 0 && gpu.collected[column]);
  }
}

void ChromeSamples::counters(std::uint32_t gpu, const Gpu& state, const SamplesRecord* samples,
                             std::size_t place, TimeNs at_ns, double sample_ns) {
  constexpr double kNsPerSecond = 1e9;
  const ChromeRow row{context_.gpu_pid(gpu), context_.gpu_pid(gpu)};
  for (const Counter& counter : kCounters) {
    bool begun = false;
    for (std::size_t i = 0; i < counter.count; ++i) {
      const std::size_t column = counter.series[i].column;
      if (!state.collected[column]) continue;
      double value = 0;
      if (samples != nullptr && place < samples->columns[column].size())
        value = samples->columns[column][place];
      if (is_byte_column(column)) value *= double{kSampleUnitBytes} * kNsPerSecond / sample_ns;
      if (!begun) context_.events.moment('C', row, "hardware_counters", counter.name, at_ns);
      std::string& out = begun ? context_.events.text() += ',' : context_.events.args() += '{';
      begun = true;
      out += '"';
      out += counter.series[i].name;
      out += "\":";
      append_json_real(out, value);
    }
    if (!begun) continue;
    context_.events.text() += '}';
    context_.events.close();
  }
}

void ChromeSamples::add(const SamplesRecord& samples) {
  Gpu& gpu = gpus_[samples.gpu];
  // A trace without its beginning has no sampling line: columns with values count as collected.
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    gpu.collected[column] = gpu.collected[column] || !samples.columns[column].empty();
  }
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    const auto length_ns = static_cast<double>(span_ns(run.start_ns, run.end_ns));
    if (run.count == 0 || length_ns <= 0) {
      place += run.count;
      continue;
    }
    if (gpu.run_end_ns != kNoTime && gpu.run_end_ns < run.start_ns) {
      counters(samples.gpu, gpu, nullptr, 0, gpu.run_end_ns, 1);
    }
    const double sample_ns = length_ns / run.count;
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      counters(samples.gpu, gpu, &samples, place, sample_start_ns(run, i), sample_ns);
    }
    gpu.run_end_ns = run.end_ns;
  }
}

void ChromeSamples::finish() {
  for (const auto& [gpu, state] : gpus_) {
    if (state.run_end_ns != kNoTime) counters(gpu, state, nullptr, 0, state.run_end_ns, 1);
  }
}

}  // namespace rangefinder
