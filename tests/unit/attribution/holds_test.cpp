// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/holds.h"

#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;

namespace {

HoldRecord held(TimeNs start, TimeNs end, std::uint32_t thread = 1) {
  return {start, end, thread, HoldCause::counter_batch};
}

}  // namespace

TEST_CASE("a hold counts for its thread, and only its part inside of the span") {
  Holds holds;
  holds.add(held(100, 200));
  holds.add(held(300, 350));

  CHECK(holds.within(1, 0, 1'000) == 150);
  CHECK(holds.within(1, 150, 320) == 70);
  CHECK(holds.within(1, 200, 300) == 0);
  CHECK(holds.within(2, 0, 1'000) == 0);
  CHECK(holds.net_ns(1, 0, 1'000) == 850);
}

TEST_CASE("a gap is no hold of a thread, and only its part inside of the span counts") {
  Holds holds;
  holds.add(held(100, 200));
  holds.add(GapRecord{150, 400, "torch.profiler"});

  CHECK(holds.within(1, 0, 1'000) == 100);
  CHECK(holds.gap_ns(0, 1'000) == 250);
  CHECK(holds.gap_ns(300, 1'000) == 100);
}

TEST_CASE("holds may come in any order, and overlap counts once") {
  Holds holds;
  holds.add(held(300, 400));
  holds.add(held(100, 200));
  holds.add(held(150, 320));
  holds.add(held(500, 500));
  holds.add(held(kNoTime, 700));

  CHECK(holds.within(1, 0, 1'000) == 300);
  CHECK(holds.within(1, 0, 1'000) == holds.within(1, 100, 400));
  CHECK(holds.net_ns(1, 50, kNoTime) == 0);
}

TEST_CASE("beyond the limit the oldest holds of a thread are forgotten") {
  Holds holds(2);
  for (const TimeNs at : {0, 100, 200}) holds.add(held(at, at + 10));

  CHECK(holds.within(1, 0, 1'000) == 20);
  CHECK(holds.within(1, 0, 50) == 0);
}

TEST_CASE("the host time of a range leaves out the holds of its thread") {
  const RangeRecord range{1, 0, 1'000, 1, 0, 0, 2, 0, {}};
  const TotalsBuilder totals = totals_records::tree(held(100, 400), held(0, 900, 2), range);

  const std::vector<PathTotals> rows = totals.paths();

  REQUIRE(rows[0].path == 1);
  CHECK(rows[1].host_ns == 700);
}
