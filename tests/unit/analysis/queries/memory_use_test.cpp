// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/memory_use.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

AllocRecord alloc(std::uint64_t address, std::uint64_t bytes, TimeNs end, std::uint32_t path = 0,
                  AllocKind kind = AllocKind::device) {
  return {{end - 5, end, 4711, path, 0}, "cuMemAlloc", false, kind, address, bytes};
}

AllocRecord free_of(std::uint64_t address, TimeNs start, std::uint32_t path = 0) {
  return {{start, start + 5, 4711, path, 0}, "cuMemFree", true, AllocKind::device, address};
}

template <typename... Records>
MemoryUse use_of(const Records&... records) {
  MemoryUse use;
  (use.add(records), ...);
  use.finish();
  return use;
}

}  // namespace

TEST_CASE("the peak is the maximum of live bytes, not the sum of allocations") {
  const MemoryUse use = use_of(alloc(1, 100, 10), free_of(1, 20), alloc(2, 60, 30), alloc(3, 30, 40));

  const MemoryTotals& all = use.paths().at(0);
  CHECK(all.gpu.peak == 100);
  CHECK(all.gpu.now == 90);
  CHECK(all.bytes == 190);
  CHECK(all.allocations == 3);
  CHECK(all.frees == 1);
  CHECK(all.call_ns == 20);
}

TEST_CASE("memory belongs to the allocating path and its ancestors, wherever it is freed") {
  const MemoryUse use =
      use_of(PathRecord{1, 0, 0, "model"}, PathRecord{2, 1, 0, "layer"}, PathRecord{3, 0, 0, "clean up"},
             alloc(1, 100, 10, 2), alloc(2, 50, 20, 1), free_of(1, 30, 3));

  CHECK(use.paths().at(2).gpu.peak == 100);
  CHECK(use.paths().at(2).gpu.now == 0);
  CHECK(use.paths().at(2).frees == 1);
  CHECK(use.paths().at(1).gpu.peak == 150);
  CHECK(use.paths().at(1).gpu.now == 50);
  CHECK(use.paths().count(3) == 0);
}

TEST_CASE("at the peak of all memory each path has what it held then, changed later or not") {
  const MemoryUse use = use_of(PathRecord{1, 0, 0, "early"}, PathRecord{2, 0, 0, "late"},
                               PathRecord{3, 0, 0, "kept"}, alloc(1, 100, 10, 1), alloc(2, 20, 20, 3),
                               alloc(3, 10, 30, 2), free_of(1, 40), alloc(4, 90, 50, 2));

  CHECK(use.paths().at(0).gpu.peak == 130);
  CHECK(use.gpu_at_peak(use.paths().at(0)) == 130);
  CHECK(use.gpu_at_peak(use.paths().at(1)) == 100);
  CHECK(use.gpu_at_peak(use.paths().at(2)) == 10);
  CHECK(use.gpu_at_peak(use.paths().at(3)) == 20);
}

TEST_CASE("lines are sorted by time before the peak is computed") {
  CHECK(use_of(alloc(2, 100, 30), alloc(1, 100, 10), free_of(1, 20)).paths().at(0).gpu.peak == 100);
}

TEST_CASE("an allocation lives from the end of its call to the start of the free") {
  AllocRecord slow = alloc(2, 100, 40);
  slow.host.start_ns = 5;  // starts before the free, ends after it

  CHECK(use_of(alloc(1, 100, 10), slow, free_of(1, 20)).paths().at(0).gpu.peak == 100);
}

TEST_CASE("host memory is counted separately") {
  const MemoryUse use = use_of(alloc(1, 100, 10, 0, AllocKind::host), alloc(2, 70, 20, 0, AllocKind::async));

  CHECK(use.paths().at(0).host.peak == 100);
  CHECK(use.paths().at(0).gpu.peak == 70);
  CHECK(use.kinds()[static_cast<std::size_t>(AllocKind::async)].gpu.peak == 70);
  CHECK(use.kinds()[static_cast<std::size_t>(AllocKind::device)].allocations == 0);
}

TEST_CASE("a free of memory allocated before the recording is only counted") {
  const MemoryUse use = use_of(free_of(9, 5), alloc(1, 100, 10));

  CHECK(use.unknown_frees() == 1);
  CHECK(use.paths().at(0).gpu.now == 100);
}

TEST_CASE("an address that is allocated again counts as freed") {
  const MemoryUse use = use_of(alloc(1, 100, 10), alloc(1, 30, 20));

  CHECK(use.paths().at(0).gpu.now == 30);
  CHECK(use.paths().at(0).gpu.peak == 100);
}

TEST_CASE("memory that was never freed is reported by path and kind, with the oldest") {
  const MemoryUse use =
      use_of(alloc(1, 100, 10, 4), alloc(2, 50, 20, 4), alloc(3, 10, 30, 4, AllocKind::managed));

  const auto live = use.live();
  REQUIRE(live.size() == 2);
  const LiveMemory& device = live.at({4, AllocKind::device});
  CHECK(device.count == 2);
  CHECK(device.bytes == 150);
  CHECK(device.oldest_ns == 10);
}

TEST_CASE("the peak over time has at most 32 slices and keeps the maximum") {
  MemoryUse use;
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    const auto at = static_cast<TimeNs>(i * 100);
    use.add(alloc(i, i == 700 ? 5'000 : 10, at));
    use.add(free_of(i, at + 50));
  }
  use.finish();

  const auto& slices = use.slices();
  REQUIRE(slices.size() > 8);
  CHECK(slices.size() <= 33);
  std::size_t with_peak = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const bool holds =
        slices[i].from_ns <= 70'000 && (i + 1 == slices.size() || slices[i + 1].from_ns > 70'000);
    CHECK(slices[i].gpu_peak == (holds ? 5'000 : 10));
    with_peak += holds ? 1 : 0;
  }
  CHECK(with_peak == 1);
}
