// SPDX-License-Identifier: Apache-2.0
//
// The wiring compared with Hugging Face's: weights, input and every intermediate of a model of the tiny
// configuration, made by PyTorch (data/README.md), through the references.
#include <cmath>

#include "tests/catch.h"
#include "workloads/rtdetr/dumps.h"
#include "workloads/rtdetr/host_backends.h"
#include "workloads/rtdetr/network.h"

using namespace rangefinder::rtdetr;

namespace {

constexpr double kLimit = 5e-5;  // relative, through all layers: fp32 compared with fp32

/// From (1, 3, height, width) to (height, width, 3).
std::vector<float> interleaved(const std::vector<float>& planes) {
  const std::size_t pixels = planes.size() / 3;
  std::vector<float> values(planes.size());
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < 3; ++c) values[3 * i + c] = planes[c * pixels + i];
  return values;
}

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  if (found.size() != expected.size()) return INFINITY;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::abs(expected[i]) > 1e30F) {  // an invalid anchor; it must be invalid in both
      if (!(std::abs(found[i]) > 1e30F)) return INFINITY;
      continue;
    }
    const double one = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    difference += one * one;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::isfinite(difference) ? std::sqrt(difference / norm) : INFINITY;
}

}  // namespace

TEST_CASE("all intermediates of the tiny model equal those of PyTorch") {
  const SafetensorsFile expected(RANGEFINDER_TEST_DATA "/tiny_expected.safetensors");
  const Config config = config_of("tiny");
  const Weights weights = load_weights(SafetensorsFile(RANGEFINDER_TEST_DATA "/tiny.safetensors"), config);
  const Shape pixels = expected.shape("pixel_values");
  REQUIRE(pixels.size() == 4);
  REQUIRE(pixels[0] == 1);
  const auto backend = make_reference_backend();
  Network network(config, weights,
                  {.element = rangefinder::kernels::ElementType::fp32,
                   .images = 1,
                   .height = static_cast<int>(pixels[2]),
                   .width = static_cast<int>(pixels[3])},
                  *backend);
  network.load_pixels(interleaved(expected.floats("pixel_values")));
  DumpCollector collector(*backend);

  network.forward(&collector);
  collector.take_detections(network.detections());

  CHECK(collector.integers().at("topk_ind").values == expected.integers("topk_ind"));
  CHECK(collector.integers().at("labels").values == expected.integers("labels"));
  int compared = 0;
  for (const auto& [name, tensor] : collector.floats()) {
    if (!expected.has(name)) continue;
    INFO(name << " " << shape_text(tensor.shape) << ", expected " << shape_text(expected.shape(name)));
    CHECK(relative_error(tensor.values, expected.floats(name)) < kLimit);
    ++compared;
  }
  CHECK(compared >= 50);
}
