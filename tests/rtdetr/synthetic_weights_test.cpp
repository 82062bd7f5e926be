// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "workloads/rtdetr/smooth_input.h"
#include "workloads/rtdetr/weights.h"

using namespace rangefinder::rtdetr;

TEST_CASE("synthetic weights are complete, in shape, finite and of positive variance") {
  for (const char* const model : {"tiny", "r18"}) {
    const Config config = config_of(model);
    const Weights weights = synthetic_weights(config, 1);
    const std::vector<WeightSpec> specs = weight_specs(config);
    CHECK(weights.all().size() == specs.size());
    for (const WeightSpec& spec : specs) {
      INFO(model << " " << spec.name);
      const WeightTensor& tensor = weights.at(spec.name);
      CHECK(tensor.shape == spec.shape);
      CHECK(tensor.values.size() == static_cast<std::size_t>(element_count(spec.shape)));
      CHECK(
          std::all_of(tensor.values.begin(), tensor.values.end(), [](float v) { return std::isfinite(v); }));
      if (spec.name.ends_with("running_var"))
        CHECK(*std::min_element(tensor.values.begin(), tensor.values.end()) > 0);
    }
  }
}

TEST_CASE("a seed gives the same weights and input each time, another seed others") {
  const Config config = config_of("tiny");
  const std::string name = "model.enc_output.0.weight";
  CHECK(synthetic_weights(config, 1).at(name).values == synthetic_weights(config, 1).at(name).values);
  CHECK(synthetic_weights(config, 1).at(name).values != synthetic_weights(config, 2).at(name).values);
  CHECK(make_smooth_input(1, 32, 64, 1) == make_smooth_input(1, 32, 64, 1));
  CHECK(make_smooth_input(1, 32, 64, 1) != make_smooth_input(1, 32, 64, 2));
}

TEST_CASE("random input is smooth and within 0..1, its images differ") {
  const std::vector<float> values = make_smooth_input(2, 64, 96, 1);
  REQUIRE(values.size() == 2 * 64 * 96 * 3);
  CHECK(*std::min_element(values.begin(), values.end()) >= 0);
  CHECK(*std::max_element(values.begin(), values.end()) <= 1);
  float greatest_step = 0;
  for (std::size_t i = 3; i < 96 * 3; ++i)
    greatest_step = std::max(greatest_step, std::abs(values[i] - values[i - 3]));
  CHECK(greatest_step < 0.5F);
  CHECK_FALSE(std::equal(values.begin(), values.begin() + 64 * 96 * 3, values.begin() + 64 * 96 * 3));
}
