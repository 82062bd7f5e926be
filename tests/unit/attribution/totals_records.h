// SPDX-License-Identifier: Apache-2.0
//
// Makers of short records and a small tree of paths, for the tests of TotalsBuilder.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/attribution/path_totals.h"
#include "tests/catch.h"

namespace rangefinder::totals_records {

// model(1) / encoder(2), model(1) / decoder(3); other(4). With these records, in this order.
template <typename... Records>
TotalsBuilder tree(const Records&... records) {
  TotalsBuilder totals;
  totals.add_path({1, 0, 0, "model"});
  totals.add_path({2, 1, 0, "encoder"});
  totals.add_path({3, 1, 0, "decoder"});
  totals.add_path({4, 0, 0, "other"});
  (totals.add(records), ...);
  return totals;
}

// Correlation of records whose launch has no exact line. exact() uses 0, unless launched() changes it.
inline constexpr std::uint32_t kPlainLaunch = 1'000'000;

inline KernelRecord kernel(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint32_t name = 1) {
  return {{.start_ns = start_ns, .end_ns = end_ns, .correlation = kPlainLaunch, .path = path}, name, 1};
}

inline MemcpyRecord copy(std::uint32_t path, CopyKind kind, std::uint64_t bytes, TimeNs start_ns = 0,
                         TimeNs end_ns = 10) {
  return {.work = {.start_ns = start_ns, .end_ns = end_ns, .correlation = kPlainLaunch, .path = path},
          .kind = kind,
          .bytes = bytes};
}

inline MemsetRecord set_memory(std::uint32_t path, TimeNs start_ns = kNoTime, TimeNs end_ns = kNoTime) {
  return {.work = {.start_ns = start_ns, .end_ns = end_ns, .correlation = kPlainLaunch, .path = path}};
}

// Copy with this correlation, which joins exact lines and records.
inline ExactRecord launched(ExactRecord record, std::uint32_t correlation) {
  record.launch.correlation = correlation;
  return record;
}
template <typename Record>
Record launched(Record record, std::uint32_t correlation) {
  record.work.correlation = correlation;
  return record;
}

inline ExactRecord exact(std::uint32_t path, WorkKind kind, std::uint64_t gpu_ns, std::uint64_t read_bytes) {
  ExactRecord record;
  record.launch.host.path = path;
  record.kind = kind;
  record.name = kind == WorkKind::kernel ? 1 : 0;
  record.measured = true;
  record.gpu_ns = gpu_ns;
  record.dram_read_bytes = read_bytes;
  record.dram_write_bytes = 2 * read_bytes;
  record.l2_bytes = 3 * read_bytes;
  return record;
}

// A launch in counter range `number`; counter_range() makes that range.
inline ExactRecord sharing(std::uint32_t path, WorkKind kind, std::uint64_t number, std::uint32_t name = 1) {
  ExactRecord record;
  record.launch.host.path = path;
  record.kind = kind;
  record.name = kind == WorkKind::kernel ? name : 0;
  record.counter_range = number;
  return record;
}

inline ExactRecord counter_range(std::uint32_t path, std::uint64_t number, std::uint32_t launches,
                                 std::uint32_t kernels, std::uint64_t gpu_ns, std::uint64_t read_bytes) {
  ExactRecord record = exact(path, WorkKind::kernel, gpu_ns, read_bytes);
  record.name = 0;
  record.is_counter_range = true;
  record.counter_range = number;
  record.launches = launches;
  record.kernels = kernels;
  return record;
}

// Of metric set 2, which has these values but no bytes.
inline ExactRecord with_values(std::uint32_t path, std::uint64_t gpu_ns, std::vector<double> values) {
  ExactRecord record = exact(path, WorkKind::kernel, gpu_ns, 0);
  record.has_bytes = false;
  record.metric_set = 2;
  record.values = std::move(values);
  return record;
}

inline RangeRecord range(std::uint32_t path, TimeNs start_ns, TimeNs end_ns) {
  return {0, start_ns, end_ns, 0, 0, 0, path, 0, {}};
}

inline PathTotals row_of(const TotalsBuilder& totals, std::uint32_t path) {
  for (const PathTotals& row : totals.paths()) {
    if (row.path == path) return row;
  }
  FAIL("no row of path " << path);
  return {};
}

inline std::vector<std::uint32_t> paths_of(const TotalsBuilder& totals) {
  std::vector<std::uint32_t> paths;
  for (const PathTotals& row : totals.paths()) paths.push_back(row.path);
  return paths;
}

}  // namespace rangefinder::totals_records
