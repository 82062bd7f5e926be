// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/queries/host_timeline.h"

using namespace rangefinder;

namespace {

using Piece = std::tuple<TimeNs, TimeNs, std::uint32_t>;

std::vector<Piece> pieces(const HostTimeline& host, TimeNs from, TimeNs to) {
  std::vector<Piece> out;
  HostTimeline::Cursor cursor;
  host.visit(
      from, to, [&out](const HostPiece& piece) { out.emplace_back(piece.from_ns, piece.to_ns, piece.path); },
      cursor);
  return out;
}

using Calls = std::array<std::uint64_t, kHostCalls>;

Calls calls(const HostTimeline& host, TimeNs from, TimeNs to, HostTimeline::Cursor& cursor) {
  Calls out{};
  const auto take = [&out](const HostPiece& piece) {
    for (std::size_t i = 0; i < kHostCalls; ++i) out[i] += piece.calls[i];
  };
  host.visit(from, to, take, cursor);
  return out;
}

Calls calls(const HostTimeline& host, TimeNs from, TimeNs to) {
  HostTimeline::Cursor cursor;
  return calls(host, from, to, cursor);
}

}  // namespace

TEST_CASE("a span is cut where the innermost range changes") {
  HostTimeline host;
  // Inner ranges end first, so they arrive first.
  host.add_range(20, 30, 2);
  host.add_range(30, 40, 3);
  host.add_range(10, 50, 1);
  host.finish();

  CHECK(pieces(host, 0, 60) ==
        std::vector<Piece>{{0, 10, 0}, {10, 20, 1}, {20, 30, 2}, {30, 40, 3}, {40, 50, 1}, {50, 60, 0}});
  CHECK(pieces(host, 22, 25) == std::vector<Piece>{{22, 25, 2}});
  CHECK(pieces(host, 100, 110) == std::vector<Piece>{{100, 110, 0}});
}

TEST_CASE("the inner one of two ranges with equal times counts") {
  HostTimeline host;
  host.add_range(10, 20, 2);
  host.add_range(10, 20, 1);
  host.finish();

  CHECK(pieces(host, 10, 25) == std::vector<Piece>{{10, 20, 2}, {20, 25, 0}});
}

TEST_CASE("a range that was never closed lasts to the end") {
  HostTimeline host;
  host.add_range(20, 30, 2);
  host.add_range(10, kNoTime, 1);
  host.finish();

  CHECK(pieces(host, 15, 100) == std::vector<Piece>{{15, 20, 1}, {20, 30, 2}, {30, 100, 1}});
}

TEST_CASE("time in calls is split by kind and clipped to the span") {
  HostTimeline host;
  host.add_call(0, 10, HostCall::launch);
  host.add_call(12, 40, HostCall::sync);
  host.add_call(50, 60, HostCall::memory);
  host.finish();

  CHECK(calls(host, 5, 55) == Calls{5, 28, 5, 0});
  CHECK(calls(host, 41, 49) == Calls{});
}

TEST_CASE("a nested call is not counted twice") {
  HostTimeline host;
  host.add_call(0, 30, HostCall::sync);
  host.add_call(10, 20, HostCall::launch);
  host.finish();

  CHECK(calls(host, 0, 30) == Calls{0, 30, 0, 0});
}

TEST_CASE("a cursor does not change the result for later, much later or earlier spans") {
  HostTimeline host;
  for (TimeNs i = 0; i < 1000; ++i) {
    host.add_range(10 * i, 10 * i + 8, static_cast<std::uint32_t>(i + 1));
    host.add_call(10 * i + 1, 10 * i + 4, HostCall::launch);
  }
  host.finish();

  HostTimeline::Cursor cursor;
  for (const TimeNs from : {3, 7, 33, 5'002, 9'991, 20'000, 41, 0}) {
    CHECK(calls(host, from, from + 25, cursor) == calls(host, from, from + 25));
  }
}

TEST_CASE("unwanted calls are dropped up to a time, and each call is checked once") {
  HostTimeline host;
  for (TimeNs i = 0; i < 10; ++i) host.add_call(10 * i, 10 * i + 5, HostCall::launch);
  std::vector<TimeNs> asked;
  const auto even = [&asked](TimeNs start, TimeNs) {
    asked.push_back(start);
    return start % 20 == 0;
  };

  host.drop_calls(35, even);
  host.drop_calls(65, even);
  host.finish();

  CHECK(asked == std::vector<TimeNs>{0, 10, 20, 30, 40, 50, 60});
  CHECK(calls(host, 0, 70) == Calls{4 * 5, 0, 0, 0});
  CHECK(calls(host, 70, 100) == Calls{3 * 5, 0, 0, 0});
}
