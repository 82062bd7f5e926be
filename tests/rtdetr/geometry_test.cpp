// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/geometry.h"

#include <algorithm>
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

TEST_CASE("sizes that are not a multiple of 32 or too small for the queries are refused") {
  const auto backend = make_reference_backend();
  const Config config = config_of("r50");
  CHECK_THROWS_AS(make_geometry(config, 600, 640, ElementType::fp32, *backend), std::invalid_argument);
  CHECK_THROWS_AS(make_geometry(config, 0, 640, ElementType::fp32, *backend), std::invalid_argument);
  CHECK_THROWS_AS(make_geometry(config, 64, 64, ElementType::fp32, *backend), std::invalid_argument);
}
