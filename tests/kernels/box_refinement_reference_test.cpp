// SPDX-License-Identifier: Apache-2.0
#include <cfloat>
#include <cmath>
#include <vector>

#include "kernels/box_refinement/box_refinement.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

struct Refined {
  explicit Refined(std::vector<float> deltas)
      : delta(std::move(deltas)), boxes(4), logits(4), query_input(8, -1) {
    args.images = args.queries = 1;
    args.delta = delta.data();
    args.boxes = boxes.data();
    args.logits = logits.data();
    args.query_input = query_input.data();
  }
  std::vector<float> delta, boxes, logits, query_input;
  BoxRefinementArgs args;
};

}  // namespace

TEST_CASE("a refinement is added to the logit of the previous box") {
  const float log3 = std::log(3.0F);
  Refined refined({0, log3, -log3, log3});
  const std::vector<float> previous{0.25F, 0.5F, 0.5F, 0.75F};
  refined.args.previous = previous.data();

  box_refinement_reference(refined.args);

  CHECK(refined.boxes[0] == Approx(0.25));
  CHECK(refined.boxes[1] == Approx(0.75));
  CHECK(refined.boxes[2] == Approx(0.25));
  CHECK(refined.boxes[3] == Approx(0.9));
  CHECK(std::vector<float>(refined.query_input.begin(), refined.query_input.begin() + 4) == refined.boxes);
  CHECK(std::vector<float>(refined.query_input.begin() + 4, refined.query_input.end()) ==
        std::vector<float>(4, 0.0F));
}

TEST_CASE("boxes at 0 and 1 stay a hundred thousandth away from infinity") {
  Refined refined({0, 0, 0, 0});
  const std::vector<float> previous{0, 1, -3, 4};
  refined.args.previous = previous.data();

  box_refinement_reference(refined.args);

  CHECK(refined.logits[0] == Approx(-11.512925).epsilon(1e-6));
  CHECK(refined.logits[1] == Approx(11.512925).epsilon(1e-6));
  CHECK(refined.logits[2] == refined.logits[0]);
  CHECK(refined.logits[3] == refined.logits[1]);
}

TEST_CASE("the first boxes come from anchors, and an invalid anchor gives 1") {
  Refined refined({0.5F, 0, -2, 0});
  const std::vector<float> anchors{9, 9, 9, 9, -0.5F, 1, FLT_MAX, -FLT_MAX};
  const std::int32_t index = 1;
  refined.args.anchors = anchors.data();
  refined.args.anchor_rows = 2;
  refined.args.indices = &index;

  box_refinement_reference(refined.args);

  CHECK(refined.boxes[0] == 0.5F);
  CHECK(refined.boxes[1] == Approx(0.731058578));
  CHECK(refined.boxes[2] == 1);
  CHECK(refined.boxes[3] == 0);
}

TEST_CASE("an index past the anchors gives NaN") {
  Refined refined({0, 0, 0, 0});
  const std::vector<float> anchors(4);
  const std::int32_t index = 1;
  refined.args.anchors = anchors.data();
  refined.args.anchor_rows = 1;
  refined.args.indices = &index;

  box_refinement_reference(refined.args);

  CHECK(std::isnan(refined.boxes[0]));
}
