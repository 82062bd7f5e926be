// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/known_traffic.h"

#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace known_traffic {

constexpr std::uint64_t kL2Size = std::uint64_t{50} << 20;

MemcpyRecord device_copy(std::uint64_t bytes) {
  MemcpyRecord copy;
  copy.kind = CopyKind::DtoD;
  copy.source = copy.destination = MemoryKind::device;
  copy.bytes = bytes;
  return copy;
}

std::vector<OrderedSample> even_samples(std::size_t count, std::uint32_t units) {
  std::vector<OrderedSample> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i].start_ns = static_cast<TimeNs>(i) * 1'000;
    out[i].length_ns = 1'000;
    out[i].units.fill(units);
  }
  return out;
}

OrderedWork known_work(TimeNs start_ns, TimeNs end_ns, std::uint32_t units) {
  OrderedWork work{start_ns, end_ns, 1, 1};
  work.read_units = work.written_units = units;
  return work;
}

/// Units read by the work at `place` in the batch.
std::uint64_t read_by(const std::vector<KnownShare>& shares, std::uint32_t place) {
  std::uint64_t sum = 0;
  for (const KnownShare& share : shares) sum += share.work == place ? share.units[kSharedDramRead] : 0;
  return sum;
}

}  // namespace known_traffic

using namespace known_traffic;

TEST_CASE("the traffic of large device copies and memsets is known, that of smaller ones has a bound") {
  OrderedWork large, small, host, unknown_l2, memset_work;
  set_known_traffic(large, device_copy(2 * kL2Size), kL2Size);
  CHECK(large.is_known());
  CHECK(large.read_units == 2 * kL2Size / kSampleUnitBytes);
  CHECK(large.written_units == large.read_units);
  set_known_traffic(small, device_copy(kL2Size), kL2Size);
  CHECK_FALSE(small.is_known());
  CHECK(small.at_most);
  MemcpyRecord upload = device_copy(2 * kL2Size);
  upload.kind = CopyKind::HtoD;
  set_known_traffic(host, upload, kL2Size);
  CHECK_FALSE(host.is_known());
  CHECK_FALSE(host.at_most);
  set_known_traffic(unknown_l2, device_copy(2 * kL2Size), 0);
  CHECK_FALSE(unknown_l2.is_known());
  MemsetRecord memset;
  memset.memory = MemoryKind::device;
  memset.bytes = 2 * kL2Size;
  set_known_traffic(memset_work, memset, kL2Size);
  CHECK(memset_work.read_units == 0);
  CHECK(memset_work.written_units == 2 * kL2Size / kSampleUnitBytes);
}

TEST_CASE("beside a kernel a copy has its known units, whatever its speed in each sample") {
  const std::vector<OrderedSample> samples = even_samples(10, 100);
  const std::vector<OrderedWork> work{known_work(0, 10'000, 600), {0, 10'000, 2, 2}};
  KnownTraffic traffic;
  const std::vector<KnownShare>& shares = traffic.share({0, samples, work});
  CHECK(read_by(shares, 0) == 600);
  for (const KnownShare& share : shares) CHECK(share.units[kSharedDramRead] == 60);
}

TEST_CASE("a sample without other work is the copy's, and the rest is spread over the others") {
  std::vector<OrderedSample> samples = even_samples(10, 100);
  const std::vector<OrderedWork> work{known_work(0, 10'000, 600), {5'000, 10'000, 2, 2}};
  KnownTraffic traffic;
  const std::vector<KnownShare>& shares = traffic.share({0, samples, work});
  CHECK(read_by(shares, 0) == 600);
  for (const KnownShare& share : shares) CHECK(share.units[kSharedDramRead] == (share.sample < 5 ? 100 : 20));
}

TEST_CASE("a copy never has more than its samples hold") {
  std::vector<OrderedSample> samples = even_samples(10, 100);
  for (std::size_t i = 0; i < 5; ++i) samples[i].units.fill(10);  // the copy stood still
  const std::vector<OrderedWork> work{known_work(0, 10'000, 500), {0, 10'000, 2, 2}};
  KnownTraffic traffic;
  const std::vector<KnownShare>& shares = traffic.share({0, samples, work});
  CHECK(read_by(shares, 0) >= 499);
  CHECK(read_by(shares, 0) <= 500);
  for (const KnownShare& share : shares) CHECK(share.units[0] <= samples[share.sample].units[0] + 1);
}

TEST_CASE("a copy at the end of a batch has its part, and two copies at one time their own") {
  const std::vector<OrderedSample> samples = even_samples(10, 100);
  const std::vector<OrderedWork> work{
      known_work(0, 20'000, 800), known_work(0, 10'000, 300), {0, 10'000, 2, 2}};
  KnownTraffic traffic;
  const std::vector<KnownShare>& shares = traffic.share({0, samples, work});
  CHECK(read_by(shares, 0) == 400);
  CHECK(read_by(shares, 1) == 300);
}
