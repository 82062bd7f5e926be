// SPDX-License-Identifier: Apache-2.0
//
// Expected bytes follow the rule of torchvision (antialias=True), worked out by hand.
#include <cmath>
#include <vector>

#include "kernels/preprocess/preprocess.h"
#include "kernels/preprocess/preprocess_arguments.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

/// The first channel of a resized grey image, in bytes.
std::vector<int> resized(const std::vector<int>& grey, int height, int width, int target_height,
                         int target_width) {
  std::vector<std::uint8_t> image;
  for (const int value : grey) image.insert(image.end(), 3, static_cast<std::uint8_t>(value));
  std::vector<float> output(static_cast<std::size_t>(target_height * target_width * 4), -1);
  PreprocessArgs args;
  args.image = image.data();
  args.source_height = height;
  args.source_width = width;
  args.target_height = target_height;
  args.target_width = target_width;
  args.output = output.data();
  preprocess_reference(args);
  std::vector<int> bytes;
  for (std::size_t i = 0; i < output.size(); i += 4) {
    bytes.push_back(static_cast<int>(std::lround(output[i] * 255)));
    CHECK(output[i + 1] == output[i]);
    CHECK(output[i + 2] == output[i]);
    CHECK(output[i + 3] == 0);
  }
  return bytes;
}

}  // namespace

TEST_CASE("an image of the right size is only divided by 255") {
  CHECK(resized({0, 1, 254, 255}, 2, 2, 2, 2) == std::vector<int>{0, 1, 254, 255});
}

TEST_CASE("enlarging interpolates between pixel centres and repeats the border") {
  CHECK(resized({0, 255}, 1, 2, 1, 4) == std::vector<int>{0, 64, 191, 255});
  CHECK(resized({0, 255}, 2, 1, 4, 1) == std::vector<int>{0, 64, 191, 255});
}

TEST_CASE("shrinking averages with a triangle as wide as the scale, cut at the border") {
  // Weights 3, 3, 1 of 7 to the left, 1, 3, 3 of 7 to the right.
  CHECK(resized({10, 20, 30, 40}, 1, 4, 1, 2) == std::vector<int>{17, 33});
  CHECK(resized({10, 20, 30, 40}, 4, 1, 2, 1) == std::vector<int>{17, 33});
}

TEST_CASE("the horizontal pass is rounded to bytes before the vertical one") {
  // Rows become 0.5 -> 1 and 0; their mean is 0.5 -> 1. Without rounding it would be 0.25 -> 0.
  CHECK(resized({0, 1, 0, 0}, 2, 2, 1, 1) == std::vector<int>{1});
}

TEST_CASE("a uniform grey does not change at any size") {
  CHECK(resized(std::vector<int>(7 * 5, 77), 7, 5, 3, 11) == std::vector<int>(33, 77));
}

TEST_CASE("the pixels of a window are exactly those with a weight") {
  const Triangle triangles[] = {{1920, 640}, {1080, 640}, {480, 640}, {640, 640}, {1, 32}, {7, 3},
                                {3, 7},      {32767, 5},  {5, 32767}, {2, 1},     {1, 1}};
  for (const Triangle& triangle : triangles) {
    CAPTURE(triangle.source, triangle.target);
    int wrong = 0;
    for (int i = 0; i<triangle.target; i += triangle.target> 1000 ? 97 : 1)
      for (int j = 0; j < triangle.source; ++j)
        wrong += (triangle.weight(i, j) > 0) != (j >= triangle.first(i) && j < triangle.end(i)) ? 1 : 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("a side of more than 32767 pixels is refused") {
  const std::uint8_t pixel = 0;
  float output = 0;
  PreprocessArgs args;
  args.image = &pixel;
  args.source_height = 32768;
  args.source_width = args.target_height = args.target_width = 1;
  args.output = &output;

  CHECK_THROWS(preprocess_reference(args));
}
