// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/catch.h"
#include "workloads/rtdetr/host_backends.h"

using namespace rangefinder::rtdetr;
using rangefinder::kernels::ElementType;

TEST_CASE("at 640x640 the border ring of the finest level has no valid anchors") {
  const auto backend = make_reference_backend();
  const Geometry geometry = make_geometry(config_of("r50"), 640, 640, ElementType::fp32, *backend);

  CHECK(geometry.positions == 8400);
  CHECK(geometry.levels[1].start == 6400);
  CHECK(geometry.levels[2].start == 8000);
  CHECK(std::count(geometry.valid, geometry.valid + 8400, 0) == 316);
  CHECK(geometry.valid[80] == 0);
  CHECK(geometry.valid[81] == 1);
  CHECK(geometry.anchors[0] == std::numeric_limits<float>::max());
}

TEST_CASE(
    "of 50 columns the last one's anchors are valid and the first one's are not, as on a GPU in PyTorch") {
  const auto backend = make_reference_backend();
  const Geometry geometry = make_geometry(config_of("r50"), 608, 800, ElementType::fp32, *backend);

  REQUIRE(geometry.levels[1].width == 50);
  const auto row = geometry.valid + geometry.levels[1].start + 10 * 50;
  CHECK(row[0] == 0);
  CHECK(row[1] == 1);
  CHECK(row[49] == 1);
}

TEST_CASE("an anchor is the logit of its place and size, x before y") {
  const auto backend = make_reference_backend();
  const Geometry geometry = make_geometry(config_of("tiny"), 128, 160, ElementType::fp32, *backend);
  const float* const anchor =
      geometry.anchors + 4 * (geometry.levels[1].start + 10 + 3);  // row 1, column 3 of 8x10
  const auto logit = [](double v) { return std::log(v / (1 - v)); };
  CHECK(static_cast<double>(anchor[0]) == Approx(logit(3.5 / 10)));
  CHECK(static_cast<double>(anchor[1]) == Approx(logit(1.5 / 8)));
  CHECK(static_cast<double>(anchor[2]) == Approx(logit(0.1)));
  CHECK(static_cast<double>(anchor[3]) == Approx(logit(0.1)));
}

TEST_CASE("a position is the sines and cosines of its row, then of its column") {
  const std::vector<float> embedding = make_position_embedding(3, 5, 8);
  REQUIRE(embedding.size() == 3 * 5 * 8);
  const float* const at = embedding.data() + (2 * 5 + 4) * 8;  // row 2, column 4
  const double omega = std::pow(10000.0, -0.5);
  const double expected[] = {std::sin(2), std::sin(2 * omega), std::cos(2), std::cos(2 * omega),
                             std::sin(4), std::sin(4 * omega), std::cos(4), std::cos(4 * omega)};
  for (int i = 0; i < 8; ++i) CHECK(static_cast<double>(at[i]) == Approx(expected[i]));
}

TEST_CASE("sizes that are not a multiple of 32 or too small for the queries are refused") {
  const auto backend = make_reference_backend();
  const Config config = config_of("r50");
  CHECK_THROWS_AS(make_geometry(config, 600, 640, ElementType::fp32, *backend), std::invalid_argument);
  CHECK_THROWS_AS(make_geometry(config, 0, 640, ElementType::fp32, *backend), std::invalid_argument);
  CHECK_THROWS_AS(make_geometry(config, 64, 64, ElementType::fp32, *backend), std::invalid_argument);
}
