// SPDX-License-Identifier: Apache-2.0
//
// The samples of `samples` and `stack_sample` lines. Mirrors write_samples.cpp.
#include <array>
#include <charconv>

#include "schema/line_keys.h"

namespace rangefinder {
namespace {

std::vector<SampleRun> read_runs(const LineKeys& keys) {
  static constexpr std::string_view kWhat = "an array of [start, end, samples]";
  simdjson::dom::array array;
  if (keys.must_find("runs").get(array)) keys.refuse("runs", kWhat);
  std::vector<SampleRun> runs;
  runs.reserve(array.size());
  for (const simdjson::dom::element item : array) {
    simdjson::dom::array triple;
    if (item.get(triple) || triple.size() != 3) keys.refuse("runs", kWhat);
    SampleRun run;
    keys.read_time("runs", triple.at(0).value_unsafe(), run.start_ns);
    keys.read_time("runs", triple.at(1).value_unsafe(), run.end_ns);
    keys.read("runs", triple.at(2).value_unsafe(), run.count);
    if (run.count == 0 || run.end_ns < run.start_ns) keys.refuse("runs", "runs of samples, each with a span");
    runs.push_back(run);
  }
  return runs;
}

/// {"index":value,…}; the others are 0.
void read_sparse(const LineKeys& keys, std::string_view name, std::uint64_t samples,
                 const simdjson::dom::object& object, std::vector<std::uint32_t>& column) {
  column.assign(samples, 0);
  for (const auto [key, element] : object) {
    std::size_t index = 0;
    const char* const end = key.data() + key.size();
    if (std::from_chars(key.data(), end, index).ptr != end || index >= samples) {
      keys.refuse(name, "numbers by the index of their sample in \"runs\"");
    }
    keys.read(name, element, column[index]);
  }
}

void read_column(const LineKeys& keys, std::string_view name, std::uint64_t samples,
                 std::vector<std::uint32_t>& column) {
  const auto found = keys.find(name);
  if (found.error()) return;
  simdjson::dom::object object;
  if (!found.value_unsafe().get(object)) return read_sparse(keys, name, samples, object, column);
  simdjson::dom::array array;
  if (found.value_unsafe().get(array)) keys.refuse(name, "an array of numbers");
  column.reserve(array.size());
  for (const simdjson::dom::element item : array) {
    std::uint32_t value = 0;
    keys.read(name, item, value);
    column.push_back(value);
  }
  if (column.size() != samples) keys.refuse(name, "one number for each sample of \"runs\"");
}

}  // namespace

void sample_fields(const LineKeys& keys, SamplesRecord& record) {
  record.runs = read_runs(keys);
  std::uint64_t samples = 0;
  for (const SampleRun& run : record.runs) samples += run.count;
  if (samples > kMaxLineSamples) keys.refuse("runs", "runs of at most a million samples");
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    read_column(keys, kSampleColumnNames[i], samples, record.columns[i]);
  }
  keys.optional("idle_samples", record.idle_samples);
  if (record.idle_samples == 0) return;
  const LineKeys idle = keys.object_at("idle");
  for (std::size_t i = 0; i < kSampleColumns; ++i) idle.optional(kSampleColumnNames[i], record.idle_units[i]);
}

void stack_sample_fields(const LineKeys& keys, StackSampleRecord& record) {
  static constexpr std::string_view kWhat =
      "an array of [microseconds, stack, samples], of 100,000 samples at most";
  simdjson::dom::array array, item;
  if (keys.must_find("samples").get(array)) keys.refuse("samples", kWhat);
  const std::uint64_t interval_us = record.interval_ns / 1000;
  for (const simdjson::dom::element element : array) {
    if (element.get(item) || item.size() < 2 || item.size() > 3) keys.refuse("samples", kWhat);
    StackSample sample;
    std::uint32_t count = 1;
    keys.read("samples", item.at(0).value_unsafe(), sample.after_us);
    keys.read("samples", item.at(1).value_unsafe(), sample.stack);
    if (item.size() == 3) keys.read("samples", item.at(2).value_unsafe(), count);
    const std::uint64_t last_us = sample.after_us + interval_us * (std::uint64_t{count} - 1);
    if (count == 0 || record.samples.size() + count > kMaxLineStacks || last_us > UINT32_MAX)
      keys.refuse("samples", kWhat);
    for (; count != 0; --count) {
      record.samples.push_back(sample);
      sample.after_us += static_cast<std::uint32_t>(interval_us);
    }
  }
}

}  // namespace rangefinder
