// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/gap_list.h"

#include <random>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace rangefinder::gap_list_test {
namespace {

using Spans = std::vector<std::pair<TimeNs, TimeNs>>;

Spans spans_of(const GapList& gaps) {
  Spans out;
  gaps.each([&out](const Gap& gap) { out.emplace_back(gap.from_ns, gap.to_ns); });
  return out;
}

/// Gaps of up to `longest` ns, as many as fill several blocks. The first begins before 0.
Spans made(TimeNs longest) {
  std::mt19937_64 random(1);
  Spans out;
  TimeNs at = -5'000;
  for (int i = 0; i < 2'000; ++i) {
    const TimeNs from = at + 1 + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(longest));
    at = from + 1 + static_cast<TimeNs>(random() % static_cast<std::uint64_t>(longest));
    out.emplace_back(from, at);
  }
  return out;
}

GapList list_of(const Spans& spans) {
  GapList out;
  for (const auto& [from, to] : spans) out.add(from, to);
  return out;
}

TEST_CASE("a list without gaps has none") {
  const GapList gaps;

  CHECK(spans_of(gaps).empty());
  CHECK_FALSE(GapSearch(gaps).overlaps(0, 100));
}

TEST_CASE("gaps come back as they were, whatever their length") {
  for (const TimeNs longest : {TimeNs{1}, TimeNs{100}, TimeNs{20'000}, TimeNs{1} << 40})
    CHECK((spans_of(list_of(made(longest))) == made(longest)));
}

TEST_CASE("a gap that begins where the last one ends is a part of it") {
  CHECK((spans_of(list_of({{10, 20}, {20, 30}, {31, 40}})) == Spans{{10, 30}, {31, 40}}));
}

TEST_CASE("a search finds the gaps that a span overlaps, in order and out of order") {
  const Spans spans = made(100);
  const GapList gaps = list_of(spans);
  const auto expected = [&spans](TimeNs start, TimeNs end) {
    for (const auto& [from, to] : spans) {
      if (to > start) return from < end;
    }
    return false;
  };
  std::mt19937_64 random(2);
  for (const bool ordered : {true, false}) {
    GapSearch search(gaps);
    TimeNs start = -6'000;
    for (int i = 0; i < 3'000; ++i) {
      start = ordered ? start + static_cast<TimeNs>(random() % 150)
                      : static_cast<TimeNs>(random() % 220'000) - 6'000;
      const TimeNs end = start + 1 + static_cast<TimeNs>(random() % 60);
      if (search.overlaps(start, end) != expected(start, end)) FAIL(start << " to " << end);
    }
  }
  SUCCEED();
}

}  // namespace
}  // namespace rangefinder::gap_list_test
