// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/geometry.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/conversion.h"

namespace rangefinder::rtdetr {
namespace {

constexpr float kAnchorEdge = 0.01F;    // valid anchors keep this distance from 0 and 1
constexpr float kAnchorSize = 0.05F;    // of level 0, as a share of the image
constexpr double kTemperature = 10000;  // of the position embedding
constexpr int kFinestStride = 8;

template <typename Value>
const Value* uploaded(const std::vector<Value>& values, Backend& backend) {
  void* const target = backend.allocate(values.size() * sizeof(Value));
  backend.upload(values.data(), target, values.size() * sizeof(Value));
  return static_cast<const Value*>(target);
}

void append_anchor(const std::array<float, 4>& box, Anchors& anchors) {
  constexpr float kOtherEdge = 0.99F;
  const bool valid =
      std::all_of(box.begin(), box.end(), [](float v) { return v > kAnchorEdge && v < kOtherEdge; });
  for (const float v : box)
    anchors.logits.push_back(valid ? std::log(v / (1 - v)) : std::numeric_limits<float>::max());
  anchors.valid.push_back(valid ? 1 : 0);
}

}  // namespace

Anchors make_anchors(const std::array<kernels::FeatureLevel, kLevels>& levels) {
  Anchors anchors;
  float size = kAnchorSize;
  for (const kernels::FeatureLevel& level : levels) {
    // Multiplies by the reciprocal, as PyTorch does on a GPU. This decides which anchors at the edges are
    // valid: of 50 columns the last centre is 0.99 if divided, and just below 0.99 if multiplied.
    const float a_column = 1.0F / static_cast<float>(level.width);
    const float a_row = 1.0F / static_cast<float>(level.height);
    for (int y = 0; y < level.height; ++y)
      for (int x = 0; x < level.width; ++x)
        append_anchor(
            {(static_cast<float>(x) + 0.5F) * a_column, (static_cast<float>(y) + 0.5F) * a_row, size, size},
            anchors);
    size *= 2;
  }
  return anchors;
}

std::vector<float> make_position_embedding(int height, int width, int channels) {
  const int frequencies = channels / 4;
  std::vector<float> embedding;
  embedding.reserve(static_cast<std::size_t>(height) * static_cast<std::size_t>(width * channels));
  const auto append = [&](int position, double (*wave)(double)) {
    for (int i = 0; i < frequencies; ++i) {
      const double omega = std::pow(kTemperature, -static_cast<double>(i) / frequencies);
      embedding.push_back(static_cast<float>(wave(position * omega)));
    }
  };
  constexpr auto kSine = [](double angle) { return std::sin(angle); };
  constexpr auto kCosine = [](double angle) { return std::cos(angle); };
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      append(y, kSine);
      append(y, kCosine);
      append(x, kSine);
      append(x, kCosine);
    }
  }
  return embedding;
}

Geometry make_geometry(const Config& config, int height, int width, kernels::ElementType element,
                       Backend& backend) {
  const std::string size = std::to_string(height) + "x" + std::to_string(width);
  if (height <= 0 || width <= 0 || height % kSizeMultiple != 0 || width % kSizeMultiple != 0)
    throw std::invalid_argument("size " + size + " is not a multiple of " + std::to_string(kSizeMultiple));
  Geometry geometry;
  geometry.height = height;
  geometry.width = width;
  int stride = kFinestStride;
  for (kernels::FeatureLevel& level : geometry.levels) {
    level = {height / stride, width / stride, geometry.positions};
    geometry.positions += level.height * level.width;
    stride *= 2;
  }
  if (geometry.positions < config.queries)
    throw std::invalid_argument("size " + size + " gives " + std::to_string(geometry.positions) +
                                " positions, fewer than the " + std::to_string(config.queries) + " queries");
  const Anchors anchors = make_anchors(geometry.levels);
  geometry.anchors = uploaded(anchors.logits, backend);
  geometry.valid = uploaded(anchors.valid, backend);
  const kernels::FeatureLevel& coarsest = geometry.levels.back();
  const std::vector<float> embedding =
      make_position_embedding(coarsest.height, coarsest.width, config.encoder_channels);
  std::vector<std::byte> elements(embedding.size() * kernels::element_bytes(element));
  kernels::convert_from_fp32(element, embedding.data(), elements.data(), embedding.size());
  geometry.position_embedding = uploaded(elements, backend);
  return geometry;
}

}  // namespace rangefinder::rtdetr
