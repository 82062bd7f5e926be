// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_truth.h"

#include "tests/catch.h"
#include "tests/unit/attribution/sample_records.h"

using namespace rangefinder;
using namespace rangefinder::sample_records;

namespace {

constexpr std::uint64_t kBytes = kTruthMinBytes;
constexpr std::uint64_t kUnits = kBytes / kSampleUnitBytes;

// The copy runs from 100 to 200 us. Each sample in it has `units` read and half as many written.
void add_samples(SampleSharing& sharing, std::uint32_t units, TimeNs from_ns = 60'000, int count = 9) {
  for (int i = 0; i < count; ++i) {
    const TimeNs at = from_ns + 20'000 * i;
    const bool in_copy = at >= 100'000 && at < 200'000;
    sharing.add(samples(at, 20'000, {in_copy ? units : 0}));
  }
}

MemcpyRecord large_copy(CopyKind kind = CopyKind::DtoD) {
  return copy(1, 100'000, 200'000, kBytes, kind);
}

}  // namespace

TEST_CASE("a large copy without other work is compared with its samples") {
  SampleSharing sharing;
  sharing.add(large_copy());
  add_samples(sharing, static_cast<std::uint32_t>(kUnits / 5));
  sharing.finish();

  CHECK(sharing.truth().copies == 1);
  CHECK(sharing.truth().known_bytes == 2 * kBytes);
  const std::uint64_t read = kUnits / 5;
  CHECK(sharing.truth().measured_bytes == 5 * (read + read / 2) * kSampleUnitBytes);
}

TEST_CASE("work within an interval of either end prevents the comparison, work further away does not") {
  const auto copies_with = [](TimeNs start_ns, TimeNs end_ns) {
    SampleSharing sharing;
    sharing.add(large_copy());
    sharing.add(kernel(2, start_ns, end_ns));
    add_samples(sharing, 1'000, 40'000, 11);
    sharing.finish();
    return sharing.truth().copies;
  };
  CHECK(copies_with(50'000, 59'000) == 1);
  CHECK(copies_with(85'000, 90'000) == 0);
  CHECK(copies_with(120'000, 125'000) == 0);
  CHECK(copies_with(205'000, 206'000) == 0);
  CHECK(copies_with(245'000, 246'000) == 1);
}

TEST_CASE("a copy that samples do not cover is not compared") {
  SampleSharing sharing;
  sharing.add(large_copy());
  add_samples(sharing, 1'000, 140'000);
  sharing.finish();
  CHECK(sharing.truth().copies == 0);
}

TEST_CASE("small copies, and those to or from the host, are not compared") {
  SampleSharing sharing;
  sharing.add(copy(1, 100'000, 200'000, kBytes - 1));
  add_samples(sharing, 1'000);
  sharing.finish();
  CHECK(sharing.truth().copies == 0);

  SampleSharing to_device;
  to_device.add(large_copy(CopyKind::HtoD));
  add_samples(to_device, 1'000);
  to_device.finish();
  CHECK(to_device.truth().copies == 0);
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
