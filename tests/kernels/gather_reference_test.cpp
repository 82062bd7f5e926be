// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/gather/gather.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

TEST_CASE("rows come by index from their own image; a wrong index gives NaN") {
  const std::vector<float> source{0, 1, 2, 3, 10, 11, 12, 13};  // two images of two rows of two
  const std::vector<std::int32_t> indices{1, 1, 0, 2};
  std::vector<float> output(8);
  GatherArgs args;
  args.images = 2;
  args.source_rows = args.gathered_rows = 2;
  args.row_bytes = 8;
  args.source = source.data();
  args.indices = indices.data();
  args.output = output.data();

  gather_reference(args);

  CHECK(std::vector<float>(output.begin(), output.begin() + 6) == std::vector<float>{2, 3, 2, 3, 10, 11});
  CHECK(std::isnan(output[6]));
  CHECK(std::isnan(output[7]));
}

TEST_CASE("rows may be part of wider rows") {
  const std::vector<float> source{0, 1, 2, 3, 4, 5};
  const std::vector<std::int32_t> indices{1, 0};
  std::vector<float> output(2);
  GatherArgs args;
  args.images = 1;
  args.source_rows = args.gathered_rows = 2;
  args.row_bytes = 4;
  args.source_stride_bytes = 12;
  args.source = source.data();
  args.indices = indices.data();
  args.output = output.data();

  gather_reference(args);

  CHECK(output == std::vector<float>{3, 0});
}
