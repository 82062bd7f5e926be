// SPDX-License-Identifier: Apache-2.0
//
// The samples of a `samples` line. A busy GPU gives fifty thousand samples a second, so one
// line holds several hundred of them, column by column. A column of zeros is omitted. Samples of stacks come
// a hundred times a second and thread: one by one, those of the same stack together.
#include <algorithm>
#include <array>
#include <span>

#include "schema/line_writer.h"

namespace rangefinder {
namespace {

template <std::integral T>
char* put(char* to, T value) {
  return std::to_chars(to, to + 20, value).ptr;
}

void append_runs(std::string& out, const std::vector<SampleRun>& runs) {
  out += '[';
  for (const SampleRun& run : runs) {
    char buffer[80];
    char* p = buffer;
    if (&run != runs.data()) *p++ = ',';
    *p++ = '[';
    p = put(p, run.start_ns);
    *p++ = ',';
    p = put(p, run.end_ns);
    *p++ = ',';
    p = put(p, run.count);
    *p++ = ']';
    out.append(buffer, static_cast<std::size_t>(p - buffer));
  }
  out += ']';
}

/// {"index":value,…} of the values that are not 0.
void append_sparse(std::string& out, std::span<const std::uint32_t> values) {
  out += '{';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    char buffer[48];
    char* p = buffer;
    *p++ = '"';
    p = put(p, i);
    *p++ = '"';
    *p++ = ':';
    p = put(p, values[i]);
    *p++ = ',';
    out.append(buffer, static_cast<std::size_t>(p - buffer));
  }
  out.back() = '}';
}

void append_column(std::string& out, std::span<const std::uint32_t> values) {
  // If nearly all are 0, a list of the others is shorter.
  constexpr std::ptrdiff_t kShare = 8;
  const auto zeros = std::count(values.begin(), values.end(), 0u);
  const auto size = static_cast<std::ptrdiff_t>(values.size());
  if ((size - zeros) * kShare < size) return append_sparse(out, values);
  out += '[';
  char buffer[24];
  for (const std::uint32_t value : values) {
    char* const end = put(buffer, value);
    *end = ',';
    out.append(buffer, static_cast<std::size_t>(end + 1 - buffer));
  }
  out.back() = ']';
}

void append_idle(std::string& out, const std::array<std::uint64_t, kSampleColumns>& units) {
  JsonObject idle(out);
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (units[i] != 0) append_json_number(idle.open_named(kSampleColumnNames[i]), units[i]);
  }
  idle.close();
}

/// Whether samples[i] is as many intervals after samples[first] as there are samples between them, to half an
/// interval, and of the same stack.
bool follows(const std::vector<StackSample>& samples, std::size_t first, std::size_t i,
             std::uint64_t interval_us) {
  if (samples[i].stack != samples[first].stack) return false;
  const std::uint64_t nominal_us = samples[first].after_us + (i - first) * interval_us;
  const std::uint64_t at_us = samples[i].after_us;
  return (at_us > nominal_us ? at_us - nominal_us : nominal_us - at_us) * 2 <= interval_us;
}

}  // namespace

void stack_sample_fields(LineWriter& line, const StackSampleRecord& record) {
  const std::vector<StackSample>& samples = record.samples;
  const std::uint64_t interval_us = record.interval_ns / 1000;
  std::string& out = line.open("samples");
  out += '[';
  // Most threads wait most of the time: samples of one stack in a row are one element.
  for (std::size_t i = 0, next = 0; i < samples.size(); i = next) {
    while (next < samples.size() && follows(samples, i, next, interval_us)) ++next;
    char buffer[64];
    char* p = buffer;
    if (i != 0) *p++ = ',';
    *p++ = '[';
    p = put(p, samples[i].after_us);
    *p++ = ',';
    p = put(p, samples[i].stack);
    if (next - i > 1) {
      *p++ = ',';
      p = put(p, next - i);
    }
    *p++ = ']';
    out.append(buffer, static_cast<std::size_t>(p - buffer));
  }
  out += ']';
}

void sample_fields(LineWriter& line, const SamplesRecord& record) {
  append_runs(line.open("runs"), record.runs);
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    const std::vector<std::uint32_t>& column = record.columns[i];
    if (std::any_of(column.begin(), column.end(), [](std::uint32_t value) { return value != 0; })) {
      append_column(line.open_named(kSampleColumnNames[i]), column);
    }
  }
  if (record.idle_samples != 0) {
    line.number("idle_samples", record.idle_samples);
    append_idle(line.open("idle"), record.idle_units);
  }
}

}  // namespace rangefinder
