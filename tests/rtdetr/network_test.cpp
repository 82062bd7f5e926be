// SPDX-License-Identifier: Apache-2.0
//
// The whole tiny configuration, through the references.
#include "workloads/rtdetr/network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/rtdetr/late_branches.h"
#include "workloads/rtdetr/dumps.h"
#include "workloads/rtdetr/host_backends.h"
#include "workloads/rtdetr/smooth_input.h"

using namespace rangefinder::rtdetr;
using rangefinder::kernels::ElementType;

namespace {

constexpr int kHeight = 128;
constexpr int kWidth = 160;
constexpr std::uint64_t kSeed = 7;

/// A tiny network for some images, with the reference backend.
struct TinyNetwork {
  explicit TinyNetwork(int images)
      : backend(make_reference_backend()),
        network(config, synthetic_weights(config, kSeed),
                {.element = ElementType::fp32, .images = images, .height = kHeight, .width = kWidth},
                *backend) {}

  std::map<std::string, FloatTensor> dumps_of_one_pass() {
    DumpCollector collector(*backend);
    network.forward(&collector);
    indices = collector.integers().at("topk_ind").values;
    return collector.floats();
  }

  Config config = config_of("tiny");
  std::unique_ptr<Backend> backend;
  Network network;
  std::vector<std::int64_t> indices;
};

double deviation_of(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / count - sum / count * (sum / count));
}

/// Image `image` of a dump of several images.
std::vector<float> image_of(const FloatTensor& tensor, std::size_t image) {
  const auto each =
      static_cast<std::ptrdiff_t>(tensor.values.size() / static_cast<std::size_t>(tensor.shape[0]));
  const auto first = tensor.values.begin() + static_cast<std::ptrdiff_t>(image) * each;
  return {first, first + each};
}

}  // namespace

TEST_CASE("every intermediate of the tiny network is finite and neither too small nor too large") {
  TinyNetwork tiny(1);
  tiny.network.load_pixels(make_smooth_input(1, kHeight, kWidth, kSeed));

  const auto dumps = tiny.dumps_of_one_pass();

  CHECK(dumps.size() == 54);
  for (const auto& [name, tensor] : dumps) {
    INFO(name << " " << shape_text(tensor.shape));
    CHECK(std::all_of(tensor.values.begin(), tensor.values.end(), [](float v) { return std::isfinite(v); }));
    if (name == "init_reference_points") continue;  // FLT_MAX where an anchor is invalid
    CHECK(deviation_of(tensor.values) > 0.02);
    CHECK(deviation_of(tensor.values) < 20);
  }
}

TEST_CASE("an image gives the same bits in a batch and alone") {
  const std::vector<float> pixels = make_smooth_input(2, kHeight, kWidth, kSeed);
  TinyNetwork pair(2);
  pair.network.load_pixels(pixels);
  const auto both = pair.dumps_of_one_pass();
  TinyNetwork single(1);
  for (std::size_t image = 0; image < 2; ++image) {
    single.network.load_pixels(std::span(pixels).subspan(image * pixels.size() / 2, pixels.size() / 2));

    const auto alone = single.dumps_of_one_pass();

    for (const auto& [name, tensor] : alone) {
      INFO(name << " of image " << image);
      CHECK(image_of(both.at(name), image) == tensor.values);
    }
  }
}

TEST_CASE("the selection takes the best scores, or the forced positions") {
  TinyNetwork tiny(1);
  tiny.network.load_pixels(make_smooth_input(1, kHeight, kWidth, kSeed));
  const auto free = tiny.dumps_of_one_pass();
  const std::vector<std::int64_t> chosen = tiny.indices;
  const std::vector<float>& scores = free.at("enc_outputs_class").values;
  const auto best = [&](std::int64_t row) {
    const auto first = scores.begin() + row * tiny.config.labels;
    return *std::max_element(first, first + tiny.config.labels);
  };
  REQUIRE(chosen.size() == static_cast<std::size_t>(tiny.config.queries));
  for (std::size_t i = 1; i < chosen.size(); ++i) CHECK(best(chosen[i - 1]) >= best(chosen[i]));
  for (std::int64_t row = 0; row < 420; ++row)
    if (std::find(chosen.begin(), chosen.end(), row) == chosen.end()) CHECK(best(row) <= best(chosen.back()));

  std::vector<std::int32_t> reversed(chosen.rbegin(), chosen.rend());
  tiny.network.force_top_k(reversed);
  const auto forced = tiny.dumps_of_one_pass();

  const std::size_t channels = static_cast<std::size_t>(tiny.config.model_channels);
  const std::vector<float>& first_target = free.at("target").values;
  const std::vector<float>& last_target = forced.at("target").values;
  CHECK(std::equal(first_target.begin(), first_target.begin() + static_cast<std::ptrdiff_t>(channels),
                   last_target.end() - static_cast<std::ptrdiff_t>(channels)));
  CHECK(tiny.indices == chosen);  // the dump still holds the free selection
}

TEST_CASE("branches may run as late as their join") {
  const Config config = config_of("tiny");
  const Weights weights = synthetic_weights(config, kSeed);
  const NetworkOptions options{.element = ElementType::fp32, .images = 2, .height = kHeight, .width = kWidth};
  const std::vector<float> pixels = make_smooth_input(2, kHeight, kWidth, kSeed);
  const auto in_order = make_reference_backend();
  LateBranches late(*in_order);
  Network expected(config, weights, options, *in_order);
  expected.load_pixels(pixels);
  expected.forward(nullptr);
  Network network(config, weights, options, late);
  network.load_pixels(pixels);

  network.forward(nullptr);

  const std::size_t logits = 2 * 64 * 16;
  CHECK(std::equal(network.predictions().logits, network.predictions().logits + logits,
                   expected.predictions().logits));
  CHECK(std::equal(network.predictions().boxes, network.predictions().boxes + 2 * 64 * 4,
                   expected.predictions().boxes));
  CHECK(late.all_joined());
  // Poolings, input projections, values of two layers, last boxes.
  CHECK(late.ops_in_branches() == 3 + 2 + 2 + 4);
}

TEST_CASE("forced indices that are not positions are refused") {
  TinyNetwork tiny(1);
  CHECK_THROWS_AS(tiny.network.force_top_k(std::vector<std::int32_t>(64, 420)), std::invalid_argument);
  CHECK_THROWS_AS(tiny.network.force_top_k(std::vector<std::int32_t>(64, -1)), std::invalid_argument);
  CHECK_THROWS_AS(tiny.network.force_top_k(std::vector<std::int32_t>(63, 0)), std::invalid_argument);
}

TEST_CASE("detections are the best scores of all queries and labels, in pixels of the photograph") {
  TinyNetwork tiny(1);
  const std::vector<std::uint8_t> photograph(60 * 90 * 3, 128);
  tiny.network.load_image(0, photograph, 60, 90);
  DumpCollector collector(*tiny.backend);
  tiny.network.forward(&collector);

  const std::vector<rangefinder::kernels::Detection> found = tiny.network.detections().at(0);

  const std::vector<float>& logits = collector.floats().at("logits").values;
  const std::vector<float>& boxes = collector.floats().at("pred_boxes").values;
  const auto best = static_cast<std::size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  const float* const box = boxes.data() + 4 * (best / 16);
  REQUIRE(found.size() == 64);
  CHECK(found[0].label == static_cast<int>(best % 16));
  CHECK(static_cast<double>(found[0].score) ==
        Approx(1 / (1 + std::exp(-static_cast<double>(logits[best])))));
  CHECK(static_cast<double>(found[0].left) == Approx((box[0] - box[2] / 2) * 90).margin(1e-3));
  CHECK(static_cast<double>(found[0].bottom) == Approx((box[1] + box[3] / 2) * 60).margin(1e-3));
  for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i - 1].score >= found[i].score);
}

TEST_CASE("a network knows its bytes before it has run") {
  TinyNetwork one(1);
  TinyNetwork two(2);
  const std::uint64_t weights = 2 * one.network.declared_bytes() - two.network.declared_bytes();
  CHECK(one.network.declared_bytes() > weights);
  // The part that does not grow with the batch is the weights: nearly all parameters, read once.
  std::int64_t parameters = 0;
  for (const WeightSpec& spec : weight_specs(one.config)) parameters += element_count(spec.shape);
  CHECK(static_cast<double>(weights) == Approx(4.0 * static_cast<double>(parameters)).epsilon(0.15));
}

TEST_CASE("input of the wrong size is refused") {
  TinyNetwork tiny(1);
  const std::vector<std::uint8_t> photograph(12);
  CHECK_THROWS_AS(tiny.network.load_image(1, photograph, 2, 2), std::out_of_range);
  CHECK_THROWS_AS(tiny.network.load_image(0, photograph, 2, 3), std::invalid_argument);
  CHECK_THROWS_AS(tiny.network.load_pixels(std::vector<float>(5)), std::invalid_argument);
}
