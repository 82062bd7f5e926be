// SPDX-License-Identifier: Apache-2.0
//
// Which repetitions are iterations.
#include "tools/analysis/model/alike.h"

#include <random>

#include "tests/catch.h"

namespace rangefinder {
namespace {

/// `kernels` of each iteration: name, ns.
using Kernels = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
bool alike(const std::vector<Kernels>& iterations) {
  std::vector<IterationWork> works;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    for (const auto& [name, ns] : iterations[i]) works.push_back({i, name, ns});
  }
  return are_alike(works, iterations.size());
}

TEST_CASE("repetitions of the same kernels are alike, whatever their times") {
  const Kernels step{{1, 500}, {2, 300}, {3, 200}};
  CHECK(alike({step, step, step}));
  CHECK(alike({{{1, 9'000}, {2, 300}, {3, 200}}, step, step, step}));  // a first launch
}

TEST_CASE("set-up, run and tear-down in ranges of one name are not alike") {
  CHECK_FALSE(alike({{{1, 100}}, Kernels(20, {2, 10}), {}, Kernels(1'000, {3, 1}), Kernels(150, {4, 1})}));
  const Kernels copy{{1, 10}, {1, 10}}, fill{{2, 10}, {2, 10}}, read{{3, 10}, {3, 10}};
  CHECK_FALSE(alike({copy, fill, read, copy, fill, read}));  // as many kernels, but others
}

TEST_CASE("a warm-up that differs leaves the others alike") {
  const Kernels step(10, {1, 100});
  CHECK(alike({Kernels(300, {2, 50}), step, step, step}));
  CHECK_FALSE(alike({Kernels(300, {2, 50}), step}));
}

TEST_CASE("ranges without work cannot differ") {
  CHECK(alike({{}, {}, {}}));
  CHECK(alike({}));
  CHECK(alike({Kernels{{1, 0}}, Kernels{{1, 0}}}));  // no duration
}

TEST_CASE("the order of works does not matter") {
  std::mt19937 random(42);
  for (int made = 0; made < 100; ++made) {
    std::vector<IterationWork> works;
    const std::size_t iterations = 2 + random() % 6;
    for (std::size_t i = 0, count = random() % 60; i < count; ++i)
      works.push_back({random() % iterations, static_cast<std::uint32_t>(random() % 4), random() % 1'000});
    const bool before = are_alike(works, iterations);
    std::shuffle(works.begin(), works.end(), random);
    CHECK(are_alike(works, iterations) == before);
  }
}

}  // namespace
}  // namespace rangefinder
