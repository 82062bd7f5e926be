// SPDX-License-Identifier: Apache-2.0
//
// Short records for the tests that share samples over work.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "profiler/attribution/sample_sharing.h"
#include "tests/catch.h"

namespace rangefinder::sample_records {

/// On a stream of its path: kernels of different paths may run side by side.
inline KernelRecord kernel(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint32_t name = 1,
                           std::uint32_t gpu = 0) {
  KernelRecord record;
  record.work.path = path;
  record.work.start_ns = start_ns;
  record.work.end_ns = end_ns;
  record.work.gpu = gpu;
  record.work.stream = path;
  record.name = name;
  return record;
}

inline MemcpyRecord copy(std::uint32_t path, TimeNs start_ns, TimeNs end_ns, std::uint64_t bytes,
                         CopyKind kind = CopyKind::DtoD) {
  MemcpyRecord record;
  record.work.path = path;
  record.work.start_ns = start_ns;
  record.work.end_ns = end_ns;
  record.bytes = bytes;
  record.kind = kind;
  return record;
}

/// Samples of `interval_ns` from `start_ns` on, one for each number: units read. Half as many are
/// written, and three times as many pass the L2.
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

inline SampledBytes row_of(const std::vector<SampledBytes>& rows, std::uint32_t id) {
  for (const SampledBytes& row : rows) {
    if (row.id == id) return row;
  }
  FAIL("no row " << id);
  return {};
}

/// Units that the path read.
inline std::uint64_t read_units(const SampleSharing& sharing, std::uint32_t path) {
  return row_of(sharing.paths(), path).bytes[kSharedDramRead] / kSampleUnitBytes;
}

}  // namespace rangefinder::sample_records
