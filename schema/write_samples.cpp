// SPDX-License-Identifier: Apache-2.0
//
// The samples of a `samples` line. A busy GPU gives fifty thousand samples a second, so one
// line holds several hundred of them, column by column. A column of zeros is omitted. Samples of stacks: in
// pairs, a few a millisecond.
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

}  // namespace

void LineWriter::required(JsonKey key, const std::vector<StackSample>& samples) {
  std::string& out = open(key);
  out += '[';
  for (const StackSample& sample : samples) {
    char buffer[48];
    char* p = buffer;
    if (&sample != samples.data()) *p++ = ',';
    *p++ = '[';
    p = put(p, sample.after_us);
    *p++ = ',';
    p = put(p, sample.stack);
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
