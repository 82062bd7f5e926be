// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_evaluator.h"

#include <future>
#include <memory>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

/// An image with `samples` samples.
PmImage image_of(std::size_t samples) {
  PmImage image;
  image.times.resize(samples);
  return image;
}

}  // namespace

TEST_CASE("an image is exchanged for an empty one, and comes back empty") {
  PmImage first = image_of(3), second;
  PmImage* mine = &first;
  std::vector<std::size_t> seen;
  PmEvaluator evaluator(second, [&](PmImage& image) {
    seen.push_back(image.times.size());
    image.times.clear();
  });

  REQUIRE(evaluator.exchange(mine));
  CHECK(mine == &second);
  mine->times.resize(5);
  evaluator.wait_until_idle();
  REQUIRE(evaluator.exchange(mine));
  CHECK(mine == &first);
  CHECK(mine->empty());
  evaluator.wait_until_idle();
  CHECK(seen == std::vector<std::size_t>{3, 5});
}

TEST_CASE("while one image is evaluated, a second exchange is refused") {
  PmImage first = image_of(1), second;
  PmImage* mine = &first;
  std::promise<void> may_end;
  PmEvaluator evaluator(second, [&](PmImage& image) {
    may_end.get_future().wait();
    image.times.clear();
  });

  REQUIRE(evaluator.exchange(mine));
  PmImage* const kept = mine;
  CHECK_FALSE(evaluator.exchange(mine));
  CHECK(mine == kept);
  may_end.set_value();
  evaluator.wait_until_idle();
  CHECK(first.empty());
}

TEST_CASE("an image that stays the caller's is evaluated after the one before, and the spare stays empty") {
  PmImage first = image_of(1), second, late = image_of(9);
  PmImage* mine = &first;
  std::vector<std::size_t> seen;
  PmEvaluator evaluator(second, [&](PmImage& image) {
    seen.push_back(image.times.size());
    image.times.clear();
  });

  REQUIRE(evaluator.exchange(mine));
  evaluator.evaluate(late);
  evaluator.wait_until_idle();

  CHECK(seen == std::vector<std::size_t>{1, 9});
  CHECK(evaluator.is_idle());
  CHECK(mine == &second);
  REQUIRE(evaluator.exchange(mine));
  CHECK(mine == &first);
}

TEST_CASE("the destructor waits for the image that is being evaluated") {
  PmImage first = image_of(7), second;
  PmImage* mine = &first;
  std::size_t evaluated = 0;
  {
    PmEvaluator evaluator(second, [&](PmImage& image) {
      evaluated += image.times.size();
      image.times.clear();
    });
    REQUIRE(evaluator.exchange(mine));
  }
  CHECK(evaluated == 7);
}
