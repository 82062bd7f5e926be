// SPDX-License-Identifier: Apache-2.0
//
// Makers of short records for the tests of sample sharing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tests/catch.h"

namespace rangefinder::sample_records {

/// On one stream per path: kernels of different paths may overlap.
inline KernelRecord kernel(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint32_t name = 1,
                           std::uint32_t gpu = 0) {
  return {{.start_ns = start_ns, .end_ns = end_ns, .gpu = gpu, .stream = path, .path = path}, name, 0};
}

inline MemcpyRecord copy(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint64_t bytes,
                         CopyKind kind = CopyKind::DtoD) {
  return {.work = {.start_ns = start_ns, .end_ns = end_ns, .path = path}, .kind = kind, .bytes = bytes};
}

/// One sample of `interval_ns` per number, from `start_ns` on. The number is the units read; half as many are
/// written, and L2 has three times as many.
inline SamplesRecord samples(TimeNs start_ns, TimeNs interval_ns, std::initializer_list<std::uint32_t> units,
                             std::uint32_t gpu = 0) {
  SamplesRecord record;
  record.gpu = gpu;
  const auto count = static_cast<std::uint32_t>(units.size());
  record.runs = {{start_ns, start_ns + interval_ns * count, count}};
  for (const std::uint32_t n : units) {
    record.columns[kSampleDramRead].push_back(n);
    record.columns[kSampleDramWrite].push_back(n / 2);
    record.columns[kSampleL2].push_back(3 * n);
  }
  return record;
}

/// These records in this order, settled.
template <typename... Records>
SampleSharing shared(const Records&... records) {
  SampleSharing sharing;
  (sharing.add(records), ...);
  sharing.finish();
  return sharing;
}

inline SampledBytes row_of(const std::vector<SampledBytes>& rows, std::uint32_t id) {
  for (const SampledBytes& row : rows) {
    if (row.id == id) return row;
  }
  FAIL("no row " << id);
  return {};
}

/// Units read by the path.
inline std::uint64_t read_units(const SampleSharing& sharing, std::uint32_t path) {
  return row_of(sharing.paths(), path).bytes[kSharedDramRead] / kSampleUnitBytes;
}

}  // namespace rangefinder::sample_records
