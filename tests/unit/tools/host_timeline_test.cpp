// SPDX-License-Identifier: Apache-2.0
#include <tuple>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/host_timeline.h"

using namespace rangefinder;

namespace {

using Piece = std::tuple<TimeNs, TimeNs, std::uint32_t>;

std::vector<Piece> pieces(const HostTimeline& host, TimeNs from, TimeNs to) {
  std::vector<Piece> out;
  host.visit(from, to,
             [&out](const HostPiece& piece) { out.emplace_back(piece.from_ns, piece.to_ns, piece.path); });
  return out;
}

std::array<std::uint64_t, kHostCalls> calls(const HostTimeline& host, TimeNs from, TimeNs to) {
  std::array<std::uint64_t, kHostCalls> out{};
  host.visit(from, to, [&out](const HostPiece& piece) {
    for (std::size_t i = 0; i < kHostCalls; ++i) out[i] += piece.calls[i];
  });
  return out;
}

}  // namespace

TEST_CASE("a span is cut where the innermost range changes") {
  HostTimeline host;
  // Inner ranges end first, so that is how they come.
  host.add_range(20, 30, 2);
  host.add_range(30, 40, 3);
  host.add_range(10, 50, 1);
  host.finish();

  CHECK(pieces(host, 0, 60) ==
        std::vector<Piece>{{0, 10, 0}, {10, 20, 1}, {20, 30, 2}, {30, 40, 3}, {40, 50, 1}, {50, 60, 0}});
  CHECK(pieces(host, 22, 25) == std::vector<Piece>{{22, 25, 2}});
  CHECK(pieces(host, 100, 110) == std::vector<Piece>{{100, 110, 0}});
}

TEST_CASE("of ranges that begin and end together the inner one counts") {
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

  CHECK(calls(host, 5, 55) == std::array<std::uint64_t, kHostCalls>{5, 28, 5, 0});
  CHECK(calls(host, 41, 49) == std::array<std::uint64_t, kHostCalls>{});
}

TEST_CASE("a call inside of another is not counted twice") {
  HostTimeline host;
  host.add_call(0, 30, HostCall::sync);
  host.add_call(10, 20, HostCall::launch);
  host.finish();

  CHECK(calls(host, 0, 30) == std::array<std::uint64_t, kHostCalls>{0, 30, 0, 0});
}
