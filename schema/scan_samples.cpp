// SPDX-License-Identifier: Apache-2.0
//
// The samples of a `samples` line. Mirrors write_samples.cpp.
#include <algorithm>
#include <array>

#include "schema/line_scanner.h"

namespace rangefinder {
namespace {

/// [start, end, samples]
SampleRun scan_run(LineScanner& keys) noexcept {
  SampleRun run;
  keys.expect(keys.take('['));
  keys.number(run.start_ns);
  keys.expect(keys.take(','));
  keys.number(run.end_ns);
  keys.expect(keys.take(','));
  keys.number(run.count);
  keys.expect(keys.take(']') && run.count != 0 && run.end_ns >= run.start_ns);
  return run;
}

/// Returns the number of samples.
std::uint64_t scan_runs(LineScanner& keys, std::vector<SampleRun>& runs) {
  std::uint64_t samples = 0;
  keys.expect(keys.take_key("runs"_key) && keys.take('['));
  if (keys.take(']')) return 0;
  do {
    runs.push_back(scan_run(keys));
    samples += runs.back().count;
  } while (keys.take(','));
  keys.expect(keys.take(']') && samples <= kMaxLineSamples);
  return samples;
}

/// {"index":value,…}; the others are 0.
void scan_sparse(LineScanner& keys, std::uint64_t samples, std::vector<std::uint32_t>& column) {
  column.assign(samples, 0);
  std::uint64_t first = 0;  // each index is larger than the one before
  do {
    std::uint64_t index = 0;
    keys.expect(keys.take('"'));
    keys.number(index);
    keys.expect(keys.take("\":") && index >= first && index < samples);
    if (keys.failed()) return;
    keys.number(column[index]);
    first = index + 1;
  } while (keys.take(','));
  keys.expect(keys.take('}'));
}

void scan_column(LineScanner& keys, std::uint64_t samples, std::vector<std::uint32_t>& column) {
  if (keys.failed()) return;
  if (keys.take('{')) return scan_sparse(keys, samples, column);
  keys.expect(keys.take('[') && samples != 0);
  column.reserve(samples);
  do {
    keys.number(column.emplace_back());
  } while (column.size() < samples && keys.take(','));
  keys.expect(keys.take(']') && column.size() == samples);
}

static_assert(std::all_of(kSampleColumnNames.begin(), kSampleColumnNames.end(),
                          [](std::string_view name) { return name.size() <= kScanPadding; }));

/// Takes `,"name":`, without the ',' for the first of an object.
bool take_name(LineScanner& keys, std::string_view name, bool first) noexcept {
  LineScanner ahead = keys;
  if ((!first && !ahead.take(',')) || !ahead.take('"') || !ahead.take(name) || !ahead.take("\":"))
    return false;
  keys = ahead;
  return true;
}

/// {column: sum, …} without those that are 0.
void scan_idle(LineScanner& keys, std::array<std::uint64_t, kSampleColumns>& units) noexcept {
  bool first = true;
  keys.expect(keys.take('{'));
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (!take_name(keys, kSampleColumnNames[i], first)) continue;
    keys.number(units[i]);
    first = false;
  }
  keys.expect(keys.take('}'));
}

}  // namespace

void sample_fields(LineScanner& keys, SamplesRecord& record) {
  const std::uint64_t samples = scan_runs(keys, record.runs);
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (take_name(keys, kSampleColumnNames[i], false)) scan_column(keys, samples, record.columns[i]);
  }
  keys.optional("idle_samples"_key, record.idle_samples);
  if (record.idle_samples == 0) return;
  keys.expect(keys.take_key("idle"_key));
  scan_idle(keys, record.idle_units);
}

}  // namespace rangefinder
