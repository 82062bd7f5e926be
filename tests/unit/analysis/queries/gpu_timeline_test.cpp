// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/queries/gpu_timeline.h"

using namespace rangefinder;

namespace {

/// from, to, kernels, copies, streams
using Span = std::tuple<TimeNs, TimeNs, std::uint32_t, std::uint32_t, std::size_t>;

struct Seen {
  std::vector<Span> spans;
  GpuTimeline timeline{[this](const GpuSpan& span) {
    spans.emplace_back(span.from_ns, span.to_ns, span.kernels, span.copies, span.streams);
  }};
};

GpuWork work(TimeNs start, TimeNs end, std::uint32_t stream = 7, std::uint32_t gpu = 0) {
  return {.start_ns = start, .end_ns = end, .gpu = gpu, .stream = stream};
}

/// The spans of these kernels.
std::vector<Span> spans_of(const std::vector<GpuWork>& kernels) {
  Seen seen;
  for (const GpuWork& one : kernels) seen.timeline.add(one, true);
  seen.timeline.finish();
  return seen.spans;
}

}  // namespace

TEST_CASE("the idle part of a gap line is in no span, work that runs into it is") {
  Seen seen;
  seen.timeline.add(work(0, 100), true);
  seen.timeline.add(work(150, 220), true);
  seen.timeline.add(GapRecord{200, 500, "torch.profiler"});
  seen.timeline.add(work(600, 700), true);
  seen.timeline.finish();

  CHECK(seen.spans == std::vector<Span>{{0, 100, 1, 0, 1},
                                        {100, 150, 0, 0, 0},
                                        {150, 220, 1, 0, 1},
                                        {500, 600, 0, 0, 0},
                                        {600, 700, 1, 0, 1}});
}

TEST_CASE("spans change where work starts or ends, and have no gaps") {
  Seen seen;
  seen.timeline.add(work(100, 200), true);
  seen.timeline.add(work(150, 300, 13), false);
  seen.timeline.add(work(400, 500), true);
  seen.timeline.finish();

  CHECK(seen.spans == std::vector<Span>{{100, 150, 1, 0, 1},
                                        {150, 200, 1, 1, 2},
                                        {200, 300, 0, 1, 1},
                                        {300, 400, 0, 0, 0},
                                        {400, 500, 1, 0, 1}});
  CHECK(seen.timeline.late_ns() == 0);
}

TEST_CASE("two pieces of work on one stream count as two pieces and one stream") {
  CHECK(spans_of({work(0, 10), work(0, 10)}) == std::vector<Span>{{0, 10, 2, 0, 1}});
}

TEST_CASE("work that arrives out of order gives the same spans") {
  std::mt19937 random(3);
  std::vector<GpuWork> works;
  for (TimeNs i = 0; i < 500; ++i) {
    works.push_back(work(i * 10, i * 10 + 1 + static_cast<TimeNs>(random() % 40),
                         7 + static_cast<std::uint32_t>(random() % 4)));
  }
  const std::vector<Span> ordered = spans_of(works);
  std::shuffle(works.begin(), works.end(), random);

  REQUIRE(ordered.size() > 500);
  CHECK(spans_of(works) == ordered);
}

TEST_CASE("the spans' busy time equals a count nanosecond by nanosecond") {
  std::mt19937 random(11);
  std::vector<GpuWork> works;
  std::vector<bool> busy(3'000);
  for (int i = 0; i < 150; ++i) {
    const auto start = static_cast<TimeNs>(random() % 2'900);
    const auto end = start + static_cast<TimeNs>(random() % 60);
    works.push_back(work(start, end, static_cast<std::uint32_t>(random() % 3)));
    for (TimeNs t = start; t < end; ++t) busy[static_cast<std::size_t>(t)] = true;
  }
  TimeNs busy_ns = 0;
  for (const auto& [from, to, kernels, copies, streams] : spans_of(works))
    busy_ns += kernels != 0 ? to - from : 0;
  CHECK(busy_ns == std::count(busy.begin(), busy.end(), true));
}

TEST_CASE("each GPU has its own time line") {
  const std::vector<Span> spans = spans_of({work(0, 10, 7, 0), work(5, 20, 7, 1)});

  CHECK(std::multiset<Span>(spans.begin(), spans.end()) ==
        std::multiset<Span>{{0, 10, 1, 0, 1}, {5, 20, 1, 0, 1}});
}

TEST_CASE("the part of late work inside visited spans is counted, the rest is visited") {
  Seen seen;
  seen.timeline.add(work(100, 200), true);
  seen.timeline.finish();
  seen.timeline.add(work(150, 260), true);
  seen.timeline.add(work(20, 90), true);
  seen.timeline.finish();

  CHECK(seen.spans == std::vector<Span>{{100, 200, 1, 0, 1}, {200, 260, 1, 0, 1}});
  CHECK(seen.timeline.late_ns() == 50 + 70);
}

TEST_CASE("work without times or with no duration has no effect") {
  CHECK(spans_of({work(kNoTime, kNoTime), work(10, 10), work(20, 10)}).empty());
}

TEST_CASE("slightly unsorted work beyond the buffer size is visited in order") {
  Seen seen;
  constexpr TimeNs kWorks = 3 * static_cast<TimeNs>(TimeOrder<GpuWork>::kPlaces);
  // Neighbours are swapped everywhere.
  for (TimeNs i = 0; i < kWorks; i += 2) {
    seen.timeline.add(work((i + 1) * 10, (i + 1) * 10 + 5), true);
    seen.timeline.add(work(i * 10, i * 10 + 5), true);
  }
  seen.timeline.finish();

  CHECK(seen.timeline.late_ns() == 0);
  CHECK(seen.spans.size() == static_cast<std::size_t>(2 * kWorks - 1));
}
