// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_truth.h"

#include "tests/catch.h"
#include "tests/unit/attribution/sample_records.h"

using namespace rangefinder;
using namespace rangefinder::sample_records;

namespace {

constexpr std::uint64_t kBytes = kTruthMinBytes;
constexpr std::uint64_t kUnits = kBytes / kSampleUnitBytes;

// The comparison of these records, then `count` samples. The copy runs from 100 to 200 us. Each sample in it
// has `units` read and half as many written.
template <typename... Records>
CopyTruth truth_of(std::uint32_t units, TimeNs from_ns, int count, const Records&... records) {
  SampleSharing sharing;
  (sharing.add(records), ...);
  for (int i = 0; i < count; ++i) {
    const TimeNs at = from_ns + 20'000 * i;
    const bool in_copy = at >= 100'000 && at < 200'000;
    sharing.add(samples(at, 20'000, {in_copy ? units : 0}));
  }
  sharing.finish();
  return sharing.truth();
}

MemcpyRecord large_copy(CopyKind kind = CopyKind::DtoD) {
  return copy(1, 100'000, 200'000, kBytes, kind);
}

}  // namespace

TEST_CASE("a large copy without other work is compared with its samples") {
  constexpr std::uint64_t kRead = kUnits / 5;
  const CopyTruth truth = truth_of(kRead, 60'000, 9, large_copy());

  CHECK(truth.copies == 1);
  CHECK(truth.known_bytes == 2 * kBytes);
  CHECK(truth.measured_bytes == 5 * (kRead + kRead / 2) * kSampleUnitBytes);
}

TEST_CASE("work within an interval of either end prevents the comparison, work further away does not") {
  const auto copies_with = [](TimeNs start_ns, TimeNs end_ns) {
    return truth_of(1'000, 40'000, 11, large_copy(), kernel(2, start_ns, end_ns)).copies;
  };
  CHECK(copies_with(50'000, 59'000) == 1);
  CHECK(copies_with(85'000, 90'000) == 0);
  CHECK(copies_with(120'000, 125'000) == 0);
  CHECK(copies_with(205'000, 206'000) == 0);
  CHECK(copies_with(245'000, 246'000) == 1);
}

TEST_CASE("a copy that samples do not cover, a small one and one from the host are not compared") {
  CHECK(truth_of(1'000, 140'000, 9, large_copy()).copies == 0);
  CHECK(truth_of(1'000, 60'000, 9, copy(1, 100'000, 200'000, kBytes - 1)).copies == 0);
  CHECK(truth_of(1'000, 60'000, 9, large_copy(CopyKind::HtoD)).copies == 0);
}

TEST_CASE("copies are compared while sharing continues, each once") {
  SampleSharing sharing;
  for (int i = 0; i < 50; ++i) {
    const TimeNs base = 1'000'000 * i;
    MemcpyRecord record = large_copy();
    record.work.start_ns += base;
    record.work.end_ns += base;
    sharing.add(record);
    sharing.add(samples(base + 80'000, 20'000, {0, 100, 100, 100, 100, 100, 0}));
    sharing.advance(base);
  }
  sharing.finish();
  CHECK(sharing.truth().copies == 50);
  CHECK(sharing.truth().measured_bytes == 50 * 5 * 150 * kSampleUnitBytes);
}
