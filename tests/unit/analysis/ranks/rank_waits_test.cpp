// SPDX-License-Identifier: Apache-2.0
//
// Communication of several ranks: clocks, which collectives belong together, who waited for whom.
#include <array>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tests/unit/analysis/queries/written_communication.h"
#include "tools/analysis/ranks/rank_waits.h"

namespace rangefinder {
namespace {
using namespace test;

Header on(const char* host, std::int64_t unix_ns, std::int64_t monotonic_ns) {
  Header out = header();
  out.host = host;
  out.base_unix_ns += unix_ns;
  out.base_monotonic_ns += monotonic_ns;
  return out;
}

TEST_CASE("ranks of one host are placed by their shared clock, with its uncertainty") {
  const Header first = on("a", 0, 0), second = on("a", 5'000'300, 5'000'000);

  const auto clocks = align_clocks({&first, &second});

  CHECK(clocks[1].offset_ns == 5'000'000);
  CHECK(clocks[1].same_host);
  CHECK(clocks[1].agree_within_ns == 300u);
}

TEST_CASE("ranks of another host are placed by CLOCK_REALTIME, and among themselves by their own clock") {
  const Header first = on("a", 0, 0), second = on("b", 2'000, 77'000'000'000),
               third = on("b", 9'100, 77'000'007'000);

  const auto clocks = align_clocks({&first, &second, &third});

  CHECK(clocks[1].offset_ns == 2'000);
  CHECK(clocks[2].offset_ns == 9'000);
  CHECK_FALSE(clocks[2].same_host);
  CHECK_FALSE(clocks[1].agree_within_ns);
}

TEST_CASE("hosts of the same name whose uptimes differ do not share a clock") {
  const Header first = on("localhost", 0, 0), second = on("localhost", 1'000, 90'000'000'000);

  CHECK_FALSE(align_clocks({&first, &second})[1].same_host);
}

/// Kernels of communication of two ranks that are in no compared collective.
std::size_t not_compared(const RankWaits& waits, const Rank& first, const Rank& second) {
  return first.log->collectives().size() + second.log->collectives().size() - 2 * waits.collectives;
}

/// Two ranks and three all-reduces. The second rank comes 400 ns later to each; its clock is off by kOffset.
struct TwoRanks {
  TwoRanks() {
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto at = static_cast<TimeNs>(10'000 * (i + 1));
      early.call(i + 1, at, 64);
      early.run(1, at, at + 900, i + 1);
      late.call(i + 1, at, 64);
      late.run(1, at + 400 - kOffset, at + 900 - kOffset, i + 1);
    }
    early.finished();
    late.finished();
  }
  /// With a clock of the second rank that is wrong by this.
  RankWaits waits(std::int64_t wrong_by_ns = 0) const {
    return compare_collectives({{early.log.get()}, {late.log.get()}},
                               {RankClock{}, RankClock{kOffset + wrong_by_ns, true, {}}});
  }
  static constexpr std::int64_t kOffset = 7'000;
  Rank early, late;
};

TEST_CASE("the rank that comes last to collectives is the straggler, on one time line") {
  const TwoRanks two;
  const RankWaits waits = two.waits();
  CHECK(waits.collectives == 3);
  CHECK(not_compared(waits, two.early, two.late) == 0);
  CHECK(waits.ranks[0].waited_ns == 1'200);
  CHECK(waits.ranks[1].last_in == 3);
  CHECK(waits.ranks[1].made_wait_ns == 1'200);
  CHECK(waits.clocks_off_ns == 0);
}

TEST_CASE("a wrong clock changes no wait") {
  const TwoRanks two;
  for (const std::int64_t wrong_by_ns : {-20'000'000, -800, 800, 20'000'000}) {
    CAPTURE(wrong_by_ns);
    const RankWaits waits = two.waits(wrong_by_ns);
    CHECK(waits.ranks[0].waited_ns == 1'200);
    CHECK(waits.ranks[0].transfer_ns == 1'500);
    CHECK(waits.ranks[1].waited_ns == 0);
    CHECK(waits.ranks[1].last_in == 3);
    CHECK(waits.ranks[1].made_wait_ns == 1'200);
  }
}

TEST_CASE("of 64 ranks the late one is named, whatever their clocks say") {
  constexpr std::size_t kRanks = 64, kLate = 37;
  constexpr std::uint64_t kCollectives = 200;
  std::mt19937 random(7);  // NOLINT: the same in each run
  std::vector<Rank> ranks(kRanks);
  std::vector<ComparedRank> logs;
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (std::uint64_t i = 0; i < kCollectives; ++i) {
      const auto begin = static_cast<TimeNs>(i * 10'000'000), end = begin + 5'000'000;
      const auto early = static_cast<TimeNs>(random() % 300'000);
      ranks[r].call(i + 1, begin, 64);
      ranks[r].run(1, begin + (r == kLate ? 800'000 : early), end + static_cast<TimeNs>(random() % 2'000),
                   i + 1);
    }
    logs.push_back({&ranks[r].finished()});
  }
  const std::vector<RankClock> right(kRanks);
  const RankWaits known = compare_collectives(logs, right);
  CHECK(known.collectives == kCollectives);
  CHECK(known.ranks[kLate].last_in == kCollectives);
  for (const std::int64_t most_ns : {20'000, 1'000'000, 20'000'000}) {
    CAPTURE(most_ns);
    std::vector<RankClock> wrong(kRanks);
    for (RankClock& clock : wrong) clock.offset_ns = static_cast<std::int64_t>(random()) % most_ns;
    const RankWaits waits = compare_collectives(logs, wrong);
    for (std::size_t r = 0; r < kRanks; ++r) {
      CHECK(waits.ranks[r].last_in == known.ranks[r].last_in);
      CHECK(waits.ranks[r].waited_ns == known.ranks[r].waited_ns);
      CHECK(waits.ranks[r].made_wait_ns == known.ranks[r].made_wait_ns);
    }
  }
}

TEST_CASE("collectives with a root are not compared: there it may end before the others come") {
  Rank first, second;
  for (Rank* const rank : {&first, &second}) {
    rank->call(1, 0, 64, 0, kBroadcastPath);
    rank->run(1, 0, 10, 1);
    rank->finished();
  }
  const RankWaits waits =
      compare_collectives({{first.log.get()}, {second.log.get()}}, {RankClock{}, RankClock{}});

  CHECK(waits.collectives == 0);
  CHECK(not_compared(waits, first, second) == 2);
}

TEST_CASE("collectives that end before they begin on another rank show a clock error") {
  CHECK(TwoRanks().waits(800).clocks_off_ns == 300);  // begins at 1,200, the other ended at 900
}

TEST_CASE("of ranks whose recordings end at other times the collectives that all have are compared") {
  const TwoRanks two;
  Rank short_one;
  short_one.call(1, 10'000, 64);
  short_one.run(1, 10'400, 10'900, 1);
  short_one.finished();

  const RankWaits waits =
      compare_collectives({{two.early.log.get()}, {short_one.log.get()}}, {RankClock{}, RankClock{}});

  CHECK(waits.collectives == 1);
  CHECK(not_compared(waits, two.early, short_one) == 2);
  CHECK(waits.ranks[0].waited_ns == 400);
}

/// Collectives at irregular times, of which this rank recorded those from `from` on; 1 us more of each, if
/// late.
void run_from(Rank& rank, std::uint64_t from, std::int64_t clock_off_ns, bool late) {
  std::mt19937 random(5);  // NOLINT: the same times on each rank
  TimeNs at = clock_off_ns;
  for (std::uint64_t i = 0; i < 40; ++i) {
    at += 1'000'000 + static_cast<TimeNs>(random() % 500'000);
    if (i < from) continue;
    rank.call(i + 1, at - 50, 64);
    rank.run(1, at + (late ? 3'000 : 0), at + 10'000, i + 1);
  }
  rank.finished();
}

TEST_CASE("collectives of ranks that began to record at other times are matched by when they end") {
  for (const std::int64_t clock_off_ns : {0, 20'000'000}) {
    CAPTURE(clock_off_ns);
    Rank first, second;
    run_from(first, 0, 0, false);
    run_from(second, 7, clock_off_ns, true);

    const RankWaits waits =
        compare_collectives({{first.log.get()}, {second.log.get()}}, {RankClock{}, RankClock{}});

    CHECK(waits.collectives == 33);
    CHECK(not_compared(waits, first, second) == 7);
    CHECK(waits.ranks[1].last_in == 33);
    CHECK(waits.ranks[0].waited_ns == 33 * 3'000);
  }
}

RankWaits waits_of(Rank& first, Rank& second) {
  return compare_collectives({{&first.finished()}, {&second.finished()}}, {RankClock{}, RankClock{}});
}

TEST_CASE("collectives without a communicator are matched by stream, whatever number it has") {
  Rank first, second;
  for (TimeNs at = 0; at < 5'000'000; at += 1'000'000) {
    first.exchange(at, at + 900'000, 7);
    second.exchange(at + 400'000, at + 900'000, 13);
    first.exchange(at + 450'000, at + 700'000, 8, 2);  // of another group: its ends agree as well
    second.exchange(at + 350'000, at + 700'000, 7, 2);
  }

  const RankWaits waits = waits_of(first, second);

  CHECK(waits.collectives == 10);
  CHECK(not_compared(waits, first, second) == 0);
  CHECK(waits.ranks[0].waited_ns == 5 * 400'000);
  CHECK(waits.ranks[1].waited_ns == 5 * 100'000);
}

TEST_CASE("collectives of replays are matched by launch and node, in whichever order branches run") {
  Rank first, second;
  for (std::uint32_t launch = 1; launch <= 5; ++launch) {
    const TimeNs at = launch * 1'000'000;
    first.exchange(at, at + 300'000, 7, 1, launch, 2);
    first.exchange(at + 1'000, at + 500'000, 8, 1, launch, 4);
    second.exchange(at, at + 500'000, 7, 1, 40 + launch, 4);  // the branches begin in the other order
    second.exchange(at + 100'000, at + 300'000, 8, 1, 40 + launch, 2);
  }

  const RankWaits waits = waits_of(first, second);

  CHECK(waits.collectives == 10);
  CHECK(waits.ranks[0].waited_ns == 5 * 100'000);
  CHECK(waits.ranks[1].waited_ns == 5 * 1'000);
}

TEST_CASE("collectives that do not end together, or of other sizes, are not compared, and counted") {
  std::mt19937 random(3);  // NOLINT: the same in each run
  Rank first, second, small;
  for (TimeNs at = 0; at < 20'000'000; at += 1'000'000) {
    first.exchange(at, at + 100'000, 7);
    const TimeNs later = at + static_cast<TimeNs>(random() % 800'000);
    second.exchange(later, later + 100'000, 7);
    small.exchange(at, at + 100'000, 7, 2);
  }
  const auto logs = [](Rank& a, Rank& b) { return std::vector<ComparedRank>{{a.log.get()}, {b.log.get()}}; };
  first.finished();
  second.finished();
  small.finished();
  for (Rank* const other : {&second, &small}) {
    const RankWaits waits = compare_collectives(logs(first, *other), {RankClock{}, RankClock{}});
    CHECK(waits.collectives == 0);
    CHECK(waits.unmatched == 40);
  }
}

}  // namespace
}  // namespace rangefinder
