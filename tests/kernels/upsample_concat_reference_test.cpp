// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "kernels/upsample_concat/upsample_concat.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

TEST_CASE("the upsampled channels come first, each coarse pixel four times") {
  const std::vector<float> coarse{1, 1, 1, 1, 2, 2, 2, 2};  // 1x2 pixels of 4 channels
  std::vector<float> fine(2 * 4 * 4);                       // 2x4 pixels of 4 channels
  for (std::size_t i = 0; i < fine.size(); ++i) fine[i] = static_cast<float>(10 + i / 4);
  std::vector<float> output(2 * 4 * 8);
  UpsampleConcatArgs args;
  args.images = 1;
  args.coarse = {coarse.data(), 1, 2, 4, 0, 0};
  args.fine = {fine.data(), 2, 4, 4, 0, 0};
  args.output = {output.data(), 2, 4, 8, 0, 0};

  upsample_concat_reference(args);

  std::vector<float> first, last;  // channels of the pixels
  for (std::size_t pixel = 0; pixel < 8; ++pixel) {
    first.push_back(output[pixel * 8]);
    last.push_back(output[pixel * 8 + 7]);
  }
  CHECK(first == std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(last == std::vector<float>{10, 11, 12, 13, 14, 15, 16, 17});
}

TEST_CASE("an input that is not half as high as the output is refused") {
  const std::vector<float> values(64);
  std::vector<float> output(64);
  UpsampleConcatArgs args;
  args.coarse = {values.data(), 2, 2, 4, 0, 0};
  args.fine = {values.data(), 2, 4, 4, 0, 0};
  args.output = {output.data(), 2, 4, 8, 0, 0};

  CHECK_THROWS(upsample_concat_reference(args));
}
