// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/path_table.h"

#include <memory>

#include "profiler/events/name_table.h"
#include "tests/catch.h"

using rangefinder::kOtherName;
using rangefinder::kOtherPath;
using rangefinder::Loss;
using rangefinder::LossLedger;
using rangefinder::PathNode;
using rangefinder::PathTable;

TEST_CASE("parent, name and domain identify a path") {
  LossLedger loss;
  PathTable paths(loss);

  const std::uint32_t path = paths.child({0, 5, 0});

  CHECK(paths.child({0, 5, 0}) == path);
  CHECK(paths.child({0, 6, 0}) != path);
  CHECK(paths.child({0, 5, 1}) != path);
  CHECK(paths.child({path, 5, 0}) != path);
  CHECK(paths.size() == 5);  // with "(other)"
}

TEST_CASE("an id gives its node; id 0 gives an empty one") {
  LossLedger loss;
  PathTable paths(loss);
  const std::uint32_t outer = paths.child({0, 5, 2});
  const std::uint32_t inner = paths.child({outer, 7, 3});

  const PathNode node = paths.node(inner);

  CHECK(node.parent == outer);
  CHECK(node.name == 7);
  CHECK(node.domain == 3);
  CHECK(paths.node(0).name == 0);
  CHECK(paths.node(4711).name == 0);
}

TEST_CASE("after 65,536 paths new ones are (other) and counted; known ones keep their ids") {
  LossLedger loss;
  const auto paths = std::make_unique<PathTable>(loss);
  std::uint32_t parent = 0;
  for (std::uint32_t id = 2; id <= PathTable::kMaxPaths; ++id) {
    REQUIRE(paths->child({parent, id, 0}) == id);
    parent = id % 100 == 0 ? 0 : id;
  }

  const std::uint32_t folded = paths->child({0, 1'000'000, 0});

  CHECK(folded == kOtherPath);
  CHECK(paths->child({folded, 3, 0}) == kOtherPath);
  CHECK(loss.get(Loss::paths_folded) == 2);
  CHECK(paths->node(kOtherPath).name == kOtherName);
  CHECK(paths->node(kOtherPath).parent == 0);
  CHECK(paths->child({2, 3, 0}) == 3);
}
