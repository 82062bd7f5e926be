// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/launch_table.h"

#include <array>
#include <map>
#include <random>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr auto kSlots = static_cast<std::uint32_t>(LaunchTable::kSlots);

const LaunchBalance& balance(const LaunchTable& table, WorkKind kind) {
  return table.balance()[static_cast<std::size_t>(kind)];
}

void check(const LaunchBalance& balance, std::uint64_t launched, std::uint64_t recorded, std::uint64_t exact,
           std::uint64_t lost) {
  CHECK(balance.launched == launched);
  CHECK(balance.recorded == recorded);
  CHECK(balance.exact == exact);
  CHECK(balance.lost == lost);
}

}  // namespace

TEST_CASE("a record finds the path and range of its launch") {
  LaunchTable table;
  table.put(5, WorkKind::kernel, {3, 77}, true);

  const auto origin = table.find(5, false);

  REQUIRE(origin);
  CHECK(origin->path == 3);
  CHECK(origin->range == 77);
}

TEST_CASE("a record before its launch finds nothing, and finds the launch later") {
  LaunchTable table;

  CHECK_FALSE(table.find(5, false));
  table.put(5, WorkKind::kernel, {3, 77}, true);

  CHECK(table.find(5, false));
  table.close();
  check(balance(table, WorkKind::kernel), 1, 1, 0, 0);
}

TEST_CASE("correlation id 0 finds nothing before a launch has it") {
  LaunchTable table;
  CHECK_FALSE(table.find(0, false));
  CHECK_FALSE(table.find(0, true));

  table.put(0, WorkKind::memset, {1, 2}, true);

  CHECK(table.find(0, false));
}

TEST_CASE("another id of the same slot finds nothing") {
  LaunchTable table;
  table.put(5, WorkKind::kernel, {3, 77}, true);

  CHECK_FALSE(table.find(5 + kSlots, false));
  CHECK_FALSE(table.find(5 - kSlots, false));

  CHECK(table.find(5, false));
}

TEST_CASE("launches are found across the 32-bit wrap of ids") {
  LaunchTable table;
  const std::uint32_t ids[] = {UINT32_MAX - 1, UINT32_MAX, 0, 1};
  for (const std::uint32_t id : ids) table.put(id, WorkKind::kernel, {id % 7 + 1, 1}, true);

  for (const std::uint32_t id : ids) {
    const auto origin = table.find(id, false);
    REQUIRE(origin);
    CHECK(origin->path == id % 7 + 1);
  }
  table.close();
  check(balance(table, WorkKind::kernel), 4, 4, 0, 0);
}

TEST_CASE("a launch that is overwritten before its record came is counted as lost") {
  LaunchTable table;
  table.put(5, WorkKind::memcpy, {3, 77}, true);
  table.put(5 + kSlots, WorkKind::kernel, {4, 78}, true);

  CHECK_FALSE(table.find(5, false));
  CHECK(table.find(5 + kSlots, false)->path == 4);

  table.close();
  CHECK(table.overwritten() == 1);
  check(balance(table, WorkKind::memcpy), 1, 0, 0, 1);
  check(balance(table, WorkKind::kernel), 1, 1, 0, 0);
}

TEST_CASE("a launch that is overwritten after its record came is no loss") {
  LaunchTable table;
  table.put(5, WorkKind::kernel, {3, 77}, true);
  REQUIRE(table.find(5, false));

  table.put(5 + kSlots, WorkKind::kernel, {4, 78}, true);

  table.close();
  CHECK(table.overwritten() == 0);
  check(balance(table, WorkKind::kernel), 2, 1, 0, 1);
}

TEST_CASE("one launch with several records is recorded once") {
  LaunchTable table;
  table.put(5, WorkKind::memcpy, {3, 77}, true);

  for (int i = 0; i < 3; ++i) CHECK(table.find(5, false));

  table.close();
  check(balance(table, WorkKind::memcpy), 1, 1, 0, 0);
}

TEST_CASE("a launch that need not have a record does not enter the balance") {
  LaunchTable table;
  table.put(5, WorkKind::kernel, {3, 77}, false);
  table.put(6, WorkKind::kernel, {4, 78}, false);

  CHECK(table.find(5, false)->path == 3);  // a record that comes still finds it

  table.close();
  check(balance(table, WorkKind::kernel), 0, 0, 0, 0);
}

TEST_CASE("an exact launch counts as exact, with or without a record") {
  LaunchTable table;
  table.put_exact(5, WorkKind::kernel, {3, 77}, true);
  table.put_exact(6, WorkKind::memcpy, {3, 77}, true);

  CHECK(table.find(6, false)->range == 77);
  table.close();
  check(balance(table, WorkKind::kernel), 1, 0, 1, 0);
  check(balance(table, WorkKind::memcpy), 1, 0, 1, 0);
}

TEST_CASE("an exact launch whose record never comes is counted once, outside of the balance") {
  LaunchTable table;
  table.put_exact(5, WorkKind::kernel, {3, 77}, true);
  for (const std::uint32_t id : {7u, 9u}) table.put_exact(id, WorkKind::graph, {3, 77}, true);
  table.put_exact(8, WorkKind::kernel, {3, 77}, true);
  CHECK(table.find(9, true));
  CHECK(table.find(8, false));
  table.put(5 + kSlots, WorkKind::kernel, {4, 78}, true);
  CHECK(table.find(5 + kSlots, false));

  CHECK(table.exact_without_record() == 1);  // 5 was overwritten
  CHECK(table.overwritten() == 1);
  table.close();
  CHECK(table.exact_without_record() == 2);  // and 7
  check(balance(table, WorkKind::kernel), 3, 1, 2, 0);
  check(balance(table, WorkKind::graph), 2, 0, 2, 0);
}

TEST_CASE("a graph's many records find their launch even late, and it counts once") {
  LaunchTable table;
  table.put(5, WorkKind::graph, {3, 77}, true);
  for (std::uint32_t i = 0; i < 2 * kSlots; ++i) table.put(6 + i, WorkKind::kernel, {1, 1}, false);

  for (int node = 0; node < 1000; ++node) REQUIRE(table.find(5, true)->path == 3);

  table.close();
  check(balance(table, WorkKind::graph), 1, 1, 0, 0);
}

TEST_CASE("records of graphs do not find plain launches, and plain records no graph launches") {
  LaunchTable table;
  table.put(5, WorkKind::graph, {3, 77}, true);
  table.put(6, WorkKind::kernel, {4, 78}, true);

  CHECK_FALSE(table.find(5, false));
  CHECK_FALSE(table.find(6, true));
}

TEST_CASE("graph launches are bounded: the oldest is removed, and lost if it had no record") {
  LaunchTable table;
  constexpr auto kMax = static_cast<std::uint32_t>(LaunchTable::kGraphLaunches);
  for (std::uint32_t id = 1; id <= kMax; ++id) table.put(id, WorkKind::graph, {id, id}, true);
  REQUIRE(table.find(1, true));

  table.put(kMax + 1, WorkKind::graph, {1, 1}, true);
  table.put(kMax + 2, WorkKind::graph, {1, 1}, true);

  CHECK_FALSE(table.find(1, true));
  CHECK_FALSE(table.find(2, true));
  CHECK(table.find(3, true));
  CHECK(table.overwritten() == 1);  // 1 had its record
  table.close();
  check(balance(table, WorkKind::graph), kMax + 2, 2, 0, kMax);
}

TEST_CASE("a graph launch whose id is reused 2^32 launches later is counted as lost") {
  LaunchTable table;
  table.put(5, WorkKind::graph, {3, 77}, true);

  table.put(5, WorkKind::graph, {4, 78}, true);

  CHECK(table.find(5, true)->path == 4);
  table.close();
  CHECK(table.overwritten() == 1);
  check(balance(table, WorkKind::graph), 2, 1, 0, 1);
}

namespace {

/// A slow model of the table's contract: one launch per slot, the newest wins.
class Oracle {
 public:
  struct Launch {
    std::uint32_t id;
    WorkKind kind;
    LaunchOrigin origin;
    bool waits;
  };
  void put(const Launch& launch, bool exact) {
    LaunchBalance& mine = balance_[static_cast<std::size_t>(launch.kind)];
    if (launch.waits || exact) ++mine.launched;
    if (exact) ++mine.exact;
    const bool graph = launch.kind == WorkKind::graph;
    const std::pair<bool, std::uint32_t> place{graph, graph ? launch.id : launch.id % kSlots};
    if (const auto at = launches_.find(place); at != launches_.end()) lose(at->second);
    launches_.insert_or_assign(place, launch);
  }
  const Launch* find(std::uint32_t id, bool graph) {
    const auto at = launches_.find({graph, graph ? id : id % kSlots});
    if (at == launches_.end() || at->second.id != id) return nullptr;
    if (at->second.waits) ++balance_[static_cast<std::size_t>(at->second.kind)].recorded;
    at->second.waits = false;
    return &at->second;
  }
  const std::array<LaunchBalance, 4>& close() {
    for (auto& [place, launch] : launches_) lose(launch);
    return balance_;
  }

 private:
  void lose(Launch& launch) {
    if (launch.waits) ++balance_[static_cast<std::size_t>(launch.kind)].lost;
    launch.waits = false;
  }
  std::map<std::pair<bool, std::uint32_t>, Launch> launches_;
  std::array<LaunchBalance, 4> balance_{};
};

}  // namespace

TEST_CASE("for any input, launched = recorded + exact + lost, with the counts of the slow model") {
  constexpr std::uint32_t kSeed = 20251121;
  INFO("seed " << kSeed);
  std::mt19937 engine(kSeed);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  LaunchTable table;
  Oracle oracle;
  // Few slots and several wraps, so that ids collide often.
  const auto any_id = [&] { return random() % 64 + random() % 4 * kSlots; };

  std::uint64_t wrong = 0;
  for (int step = 0; step < 50'000; ++step) {
    const std::uint32_t id = any_id();
    const auto kind = static_cast<WorkKind>(random() % 4);
    const LaunchOrigin origin{random() % 100, random()};
    switch (random() % 5) {
      case 0:
        table.put(id, kind, origin, true);
        oracle.put({id, kind, origin, true}, false);
        break;
      case 1:
        table.put(id, kind, origin, false);
        oracle.put({id, kind, origin, false}, false);
        break;
      case 2:
        table.put_exact(id, kind, origin, random() % 2 == 0);
        oracle.put({id, kind, origin, false}, true);
        break;
      default: {
        const bool graph = random() % 4 == 0;
        const auto found = table.find(id, graph);
        const Oracle::Launch* const expected = oracle.find(id, graph);
        wrong += found.has_value() != (expected != nullptr);
        wrong += found && expected != nullptr && found->range != expected->origin.range;
      }
    }
  }

  table.close();
  CHECK(wrong == 0);
  for (std::size_t kind = 0; kind < 4; ++kind) {
    const LaunchBalance& mine = oracle.close()[kind];
    check(table.balance()[kind], mine.launched, mine.recorded, mine.exact, mine.lost);
    CHECK(mine.launched == mine.recorded + mine.exact + mine.lost);
  }
}

TEST_CASE("a launch from the device belongs to the host's launch that led to it") {
  const auto graph = [](std::uint32_t executable) {
    return std::make_shared<const LaunchedGraph>(executable, executable, nullptr, nullptr, nullptr, nullptr,
                                                 false);
  };
  LaunchTable table;
  table.put(1, WorkKind::graph, {3, 300}, true, {graph(7), 100});
  table.put(2, WorkKind::graph, {4, 400}, true, {graph(7), 200});
  table.put(3, WorkKind::graph, {5, 500}, true, {graph(8), 150});

  CHECK(table.find_device_launch(7, 9, 190)->correlation == 1);  // the second launch came later
  CHECK(table.find_device_launch(7, 9, 250)->path == 4);
  CHECK(table.find_device_launch(9, 10, 260)->correlation == 2);  // 9 was launched by 7, and launches 10
  CHECK(table.find_device_launch(8, 8, 260)->correlation == 3);   // itself
  CHECK_FALSE(table.find_device_launch(11, 12, 300));

  table.close();  // none of these were records of the host's launches
  check(balance(table, WorkKind::graph), 3, 0, 0, 3);
}
