// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "kernels/postprocess/postprocess.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

TEST_CASE("a detection has the score, the label and the corners in pixels of its entry") {
  const std::vector<float> logits{9, 9, 9, 9, 9, 0};  // two queries, three labels
  const std::vector<float> boxes{0, 0, 0, 0, 0.5F, 0.25F, 0.2F, 0.5F};
  const std::vector<std::int32_t> indices{5, 6};
  const ImageSize size{200, 1000};  // height, width
  std::vector<Detection> found(2);
  const PostprocessArgs args{1, 2, 3, 2, logits.data(), boxes.data(), indices.data(), &size, found.data()};

  postprocess_reference(args);

  CHECK(found[0].score == 0.5F);
  CHECK(found[0].label == 2);
  CHECK(found[0].left == Approx(400));
  CHECK(found[0].top == Approx(0).margin(1e-6));
  CHECK(found[0].right == Approx(600));
  CHECK(found[0].bottom == Approx(100));
  CHECK(found[1].label == -1);
  CHECK(std::isnan(found[1].score));
}
