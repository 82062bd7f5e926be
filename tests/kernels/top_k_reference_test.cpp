// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/top_k/top_k.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<std::int32_t> chosen(const std::vector<float>& scores, int rows, int columns, int k,
                                 std::vector<float>* keys = nullptr) {
  std::vector<std::int32_t> indices(static_cast<std::size_t>(k));
  if (keys != nullptr) keys->resize(indices.size());
  top_k_reference({1, rows, columns, k, scores.data(), indices.data(),
                   keys == nullptr ? nullptr : keys->data(), nullptr});
  return indices;
}

}  // namespace

TEST_CASE("rows are ordered by their greatest column") {
  std::vector<float> keys;

  CHECK(chosen({1, 2, 5, 0, -1, 3}, 3, 2, 3, &keys) == std::vector<std::int32_t>{1, 2, 0});
  CHECK(keys == std::vector<float>{5, 3, 2});
}

TEST_CASE("among equal keys the smaller row comes first, also at the end of the selection") {
  CHECK(chosen({4, 7, 4, 7, 4}, 5, 1, 4) == std::vector<std::int32_t>{1, 3, 0, 2});
}

TEST_CASE("zero and minus zero are equal") {
  CHECK(chosen({-0.0F, 0.0F, -0.0F}, 3, 1, 3) == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("NaN ranks after minus infinity, and a NaN in a row is the row's key") {
  CHECK(chosen({kNan, -kInfinity, kInfinity}, 3, 1, 3) == std::vector<std::int32_t>{2, 1, 0});
  CHECK(chosen({9, kNan, 1, 1, kNan, 9}, 3, 2, 3) == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE("k cannot exceed the number of rows") {
  CHECK_THROWS(chosen({1, 2}, 2, 1, 3));
}
