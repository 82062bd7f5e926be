// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/deformable_attention/deformable_attention.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

constexpr std::size_t kValueChannels = 32;

/// One query and one head; a level of 2x4 positions, then one of 1x1. Position p has the value p + 1 in
/// channel 0 and 10 (p + 1) in channel 31. Sample 0 is of the first level, sample 1 of the second.
struct Sampled {
  Sampled() : value(9 * kValueChannels), projected(6), box{0.5F, 0.5F, 1, 1}, output(kValueChannels) {
    for (std::size_t p = 0; p < 9; ++p) {
      value[p * kValueChannels] = static_cast<float>(p + 1);
      value[p * kValueChannels + 31] = static_cast<float>(10 * (p + 1));
    }
    projected[5] = -1e30F;  // excludes the second level
    args.images = args.queries = args.heads = args.points = 1;
    args.levels = 2;
    args.level = {FeatureLevel{2, 4, 0}, FeatureLevel{1, 1, 8}, FeatureLevel{}, FeatureLevel{}};
    args.value = value.data();
    args.value_row_stride = kValueChannels;
    args.value_image_stride = 9 * kValueChannels;
    args.projected = projected.data();
    args.projected_row_stride = 6;
    args.reference_boxes = box.data();
    args.output = output.data();
  }
  /// In pixels of the first level from its upper left corner; the centre of the box is (2, 1).
  void sample_at(float x, float y) {
    projected[0] = (x - 2) / 4 * 2;
    projected[1] = (y - 1) / 2 * 2;
  }
  float result() {
    deformable_attention_reference(args);
    return output[0];
  }
  std::vector<float> value, projected, box, output;
  DeformableAttentionArgs args;
};

}  // namespace

TEST_CASE("a sample at the centre of a position is its value, in every channel") {
  Sampled sampled;
  sampled.sample_at(2.5F, 1.5F);

  CHECK(sampled.result() == 7);
  CHECK(sampled.output[31] == 70);
  CHECK(sampled.output[1] == 0);
}

TEST_CASE("between positions a sample is bilinear, x along the width") {
  Sampled sampled;
  sampled.sample_at(1.0F, 0.5F);
  CHECK(sampled.result() == 1.5F);

  sampled.sample_at(1.0F, 0.75F);  // a quarter of the way from row 0 to row 1
  CHECK(sampled.result() == 2.5F);
}

TEST_CASE("outside the map is zero: a corner counts a quarter, one position away nothing") {
  Sampled sampled;
  sampled.sample_at(0, 0);
  CHECK(sampled.result() == 0.25F);

  sampled.sample_at(4, 2);
  CHECK(sampled.result() == 2);

  sampled.sample_at(-0.5F, 0.5F);
  CHECK(sampled.result() == 0);

  sampled.sample_at(1e9F, -1e9F);
  CHECK(sampled.result() == 0);
}

TEST_CASE("the weights are the softmax over the samples of all levels") {
  Sampled sampled;
  sampled.sample_at(0.5F, 0.5F);  // 1
  sampled.projected[5] =
      std::log(3.0F);  // the second level's value 9 at its centre, with three times the weight
  std::vector<float> weights(2);
  sampled.args.attention_weights = weights.data();

  CHECK(sampled.result() == Approx(7));
  CHECK(weights[0] == Approx(0.25));
  CHECK(weights[1] == Approx(0.75));
}

TEST_CASE("offsets are in halves of the box, divided by the number of points") {
  Sampled sampled;
  sampled.box = {0.25F, 0.5F, 0.5F, 0.25F};
  sampled.projected = {1, -1, 0, 0, 0, 0};
  std::vector<float> locations(4);
  sampled.args.sampling_locations = locations.data();

  sampled.result();

  CHECK(locations == std::vector<float>{0.5F, 0.375F, 0.25F, 0.5F});
}

TEST_CASE("more than four levels are refused") {
  Sampled sampled;
  sampled.args.levels = 5;

  CHECK_THROWS(sampled.result());
}
