// SPDX-License-Identifier: Apache-2.0
//
// Weights from a seed. Convolutions and linear layers preserve the variance of their inputs, batch norms get
// the moments of their inputs (moments.h), and the heads spread their scores. Hugging Face's initialisation
// would leave all scores equal and all boxes unrefined.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "workloads/rtdetr/moments.h"
#include "workloads/rtdetr/random_values.h"
#include "workloads/rtdetr/weights.h"

namespace rangefinder::rtdetr {
namespace {

constexpr double kPixelMean = 0.5;
constexpr double kPixelVariance = 0.05;
constexpr double kBias = 0.1;      // linear biases: within +-
constexpr double kScoreBias = -4;  // few detections above one half, as with trained weights
constexpr double kScoreDeviation = 1.3;

struct Names {
  const char* convolution;
  const char* norm;
};
constexpr Names kBackboneNames{".convolution", ".normalization"};
constexpr Names kEncoderNames{".conv", ".norm"};
constexpr Names kProjectionNames{".0", ".1"};

class Synthesis {
 public:
  Synthesis(const Config& config, std::uint64_t seed) : config_(config), seed_(seed) {
    for (WeightSpec& spec : weight_specs(config)) shapes_.emplace(spec.name, std::move(spec.shape));
  }

  Weights run();

 private:
  template <typename Draw>
  const std::vector<float>& draw(const std::string& name, Draw&& one_of);
  const std::vector<float>& centred_filters(const std::string& name, double deviation);
  Moments convolution(const std::string& name, const Names& names, const Moments& input);
  Moments norm(const std::string& name);
  void linear(const std::string& name, double weight_deviation, double bias);
  void linear(const std::string& name);
  void score_head(const std::string& name);
  void box_head(const std::string& name);
  void attention(const std::string& name);
  void sampling(const std::string& name);

  std::array<Moments, kLevels> backbone();
  Moments block(const std::string& name, const Moments& input, bool projects, bool pools);
  Moments csp(const std::string& name, const Moments& input);
  std::array<Moments, kLevels> encoder(const std::array<Moments, kLevels>& maps);
  void selection(const std::array<Moments, kLevels>& maps);
  void decoder();

  const Config& config_;
  std::uint64_t seed_;
  std::map<std::string, Shape> shapes_;
  Weights weights_;
};

template <typename Draw>
const std::vector<float>& Synthesis::draw(const std::string& name, Draw&& one_of) {
  const std::string full = "model." + name;
  const Shape& shape = shapes_.at(full);
  RandomValues random(seed_, full);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(one_of(random));
  weights_.set(full, {shape, std::move(values)});
  return weights_.at(full).values;
}

/// Each filter sums to zero: the part common to all channels, which moments.h estimates worst, cancels out.
const std::vector<float>& Synthesis::centred_filters(const std::string& name, double deviation) {
  std::vector<float> values = draw(name, [&](RandomValues& random) { return random.spread(deviation); });
  const Shape& shape = shapes_.at("model." + name);
  const auto each = static_cast<std::ptrdiff_t>(element_count(shape) / shape[0]);
  for (auto filter = values.begin(); filter != values.end(); filter += each) {
    const double mean = std::accumulate(filter, filter + each, 0.0) / static_cast<double>(each);
    std::for_each(filter, filter + each, [&](float& value) { value -= static_cast<float>(mean); });
  }
  weights_.set("model." + name, {shape, std::move(values)});
  return weights_.at("model." + name).values;
}

Moments Synthesis::convolution(const std::string& name, const Names& names, const Moments& input) {
  const std::string convolution_name = name + names.convolution;
  const std::string norm_name = name + names.norm;
  const Shape& shape = shapes_.at("model." + convolution_name + ".weight");
  const auto outputs = static_cast<std::size_t>(shape[0]);
  const auto inputs = static_cast<std::size_t>(shape[1]);
  const auto taps = static_cast<std::size_t>(shape[2] * shape[3]);
  const double deviation = std::sqrt(2.0 / static_cast<double>(inputs * taps));
  const std::vector<float>& weight = centred_filters(convolution_name + ".weight", deviation);
  std::vector<float> mean(outputs);
  std::vector<float> variance(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    double sum = 0;
    double squares = 0;
    for (std::size_t c = 0; c < inputs; ++c) {
      const float* const tap = weight.data() + (o * inputs + c) * taps;
      for (std::size_t i = 0; i < taps; ++i) {
        const double value = tap[i];
        sum += value * input.mean[c];
        squares += value * value * input.variance[c];
      }
    }
    mean[o] = static_cast<float>(sum);
    variance[o] = static_cast<float>(squares);
  }
  const Shape by_channel{shape[0]};
  weights_.set("model." + norm_name + ".running_mean", {by_channel, std::move(mean)});
  weights_.set("model." + norm_name + ".running_var", {by_channel, std::move(variance)});
  Moments output;
  for (const float gamma :
       draw(norm_name + ".weight", [](RandomValues& random) { return random.between(0.5, 1.5); }))
    output.variance.push_back(static_cast<double>(gamma) * gamma);
  for (const float beta : draw(norm_name + ".bias", [](RandomValues& random) { return random.spread(0.2); }))
    output.mean.push_back(beta);
  return output;
}

/// After a layer norm: mean beta, variance gamma squared, for any input.
Moments Synthesis::norm(const std::string& name) {
  Moments output;
  for (const float gamma :
       draw(name + ".weight", [](RandomValues& random) { return random.between(0.8, 1.2); }))
    output.variance.push_back(static_cast<double>(gamma) * gamma);
  for (const float beta : draw(name + ".bias", [](RandomValues& random) { return random.spread(0.1); }))
    output.mean.push_back(beta);
  return output;
}

void Synthesis::linear(const std::string& name, double weight_deviation, double bias) {
  draw(name + ".weight", [&](RandomValues& random) { return random.spread(weight_deviation); });
  draw(name + ".bias", [&](RandomValues& random) { return bias + random.between(-kBias, kBias); });
}

void Synthesis::linear(const std::string& name) {
  const Shape& shape = shapes_.at("model." + name + ".weight");
  linear(name, std::sqrt(2.0 / static_cast<double>(shape[0] + shape[1])), 0);
}

void Synthesis::score_head(const std::string& name) {
  linear(name, kScoreDeviation / std::sqrt(config_.model_channels), kScoreBias);
}

void Synthesis::box_head(const std::string& name) {
  linear(name + ".layers.0");
  linear(name + ".layers.1");
  linear(name + ".layers.2", 0.32 / std::sqrt(config_.model_channels), 0);
}

void Synthesis::attention(const std::string& name) {
  for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".o_proj"}) linear(name + part);
}

/// Offsets are rays (a direction per head, a step per point), scattered by the query.
void Synthesis::sampling(const std::string& name) {
  const double scale = 1 / std::sqrt(config_.model_channels);
  draw(name + ".sampling_offsets.weight", [&](RandomValues& random) { return random.spread(0.5 * scale); });
  linear(name + ".attention_weights", scale, 0);
  std::vector<float> rays;
  for (int head = 0; head < config_.decoder_heads; ++head) {
    const double angle = 2 * std::numbers::pi * head / config_.decoder_heads;
    const double reach = std::max(std::abs(std::cos(angle)), std::abs(std::sin(angle)));
    for (int level = 0; level < kLevels; ++level) {
      for (int point = 1; point <= kPoints; ++point) {
        rays.push_back(static_cast<float>(point * std::cos(angle) / reach));
        rays.push_back(static_cast<float>(point * std::sin(angle) / reach));
      }
    }
  }
  const Shape shape{static_cast<std::int64_t>(rays.size())};
  weights_.set("model." + name + ".sampling_offsets.bias", {shape, std::move(rays)});
}

Moments Synthesis::block(const std::string& name, const Moments& input, bool projects, bool pools) {
  const int layers = config_.block == BlockKind::basic ? 2 : 3;
  Moments map = input;
  for (int i = 0; i < layers; ++i) {
    map = convolution(name + ".layer." + std::to_string(i), kBackboneNames, map);
    if (i + 1 < layers) map = after_relu(map);
  }
  if (!projects) return after_relu(sum_of(map, input));
  const std::string shortcut = name + (pools ? ".shortcut.1" : ".shortcut");
  return after_relu(sum_of(map, convolution(shortcut, kBackboneNames, input)));
}

std::array<Moments, kLevels> Synthesis::backbone() {
  Moments map = uniform_moments(3, kPixelMean, kPixelVariance);
  for (int i = 0; i < 3; ++i)
    map =
        after_relu(convolution("backbone.model.embedder.embedder." + std::to_string(i), kBackboneNames, map));
  map = after_max_pool(map);
  std::array<Moments, kLevels> maps;
  for (int stage = 0; stage < kStages; ++stage) {
    const std::string name = "backbone.model.encoder.stages." + std::to_string(stage) + ".layers.";
    for (int i = 0; i < config_.depths[static_cast<std::size_t>(stage)]; ++i)
      map = block(name + std::to_string(i), map, i == 0, i == 0 && stage > 0);
    if (stage > 0) maps[static_cast<std::size_t>(stage) - 1] = map;
  }
  return maps;
}

Moments Synthesis::csp(const std::string& name, const Moments& input) {
  Moments map = after_silu(convolution(name + ".conv1", kEncoderNames, input));
  const Moments other = after_silu(convolution(name + ".conv2", kEncoderNames, input));
  for (int i = 0; i < kRepBlocks; ++i) {
    const std::string block_name = name + ".bottlenecks." + std::to_string(i);
    map = after_silu(sum_of(convolution(block_name + ".conv1", kEncoderNames, map),
                            convolution(block_name + ".conv2", kEncoderNames, map)));
  }
  map = sum_of(map, other);
  if (!config_.csp_has_third_convolution()) return map;
  return after_silu(convolution(name + ".conv3", kEncoderNames, map));
}

std::array<Moments, kLevels> Synthesis::encoder(const std::array<Moments, kLevels>& maps) {
  std::array<Moments, kLevels> projected;
  for (std::size_t i = 0; i < maps.size(); ++i)
    projected[i] = convolution("encoder_input_proj." + std::to_string(i), kProjectionNames, maps[i]);
  const std::string layer = "encoder.aifi.0.layers.0";
  attention(layer + ".self_attn");
  norm(layer + ".self_attn_layer_norm");
  linear(layer + ".mlp.fc1");
  linear(layer + ".mlp.fc2");
  Moments last = norm(layer + ".final_layer_norm");

  std::array<Moments, kLevels - 1> laterals;
  for (std::size_t i = 0; i < laterals.size(); ++i) {
    const std::string number = std::to_string(i);
    laterals[i] = after_silu(convolution("encoder.lateral_convs." + number, kEncoderNames, last));
    last = csp("encoder.fpn_blocks." + number, joined(laterals[i], projected[kLevels - 2 - i]));
  }
  std::array<Moments, kLevels> fused{last, {}, {}};
  for (std::size_t i = 0; i < laterals.size(); ++i) {
    const std::string number = std::to_string(i);
    const Moments down =
        after_silu(convolution("encoder.downsample_convs." + number, kEncoderNames, fused[i]));
    fused[i + 1] = csp("encoder.pan_blocks." + number, joined(down, laterals[kLevels - 2 - i]));
  }
  return fused;
}

void Synthesis::selection(const std::array<Moments, kLevels>& maps) {
  for (std::size_t i = 0; i < maps.size(); ++i)
    convolution("decoder_input_proj." + std::to_string(i), kProjectionNames, maps[i]);
  draw("denoising_class_embed.weight", [](RandomValues& random) { return random.spread(1); });
  linear("enc_output.0");
  norm("enc_output.1");
  score_head("enc_score_head");
  box_head("enc_bbox_head");
}

void Synthesis::decoder() {
  for (int i = 0; i < config_.decoder_layers; ++i) {
    const std::string number = std::to_string(i);
    const std::string layer = "decoder.layers." + number;
    attention(layer + ".self_attn");
    norm(layer + ".self_attn_layer_norm");
    sampling(layer + ".encoder_attn");
    linear(layer + ".encoder_attn.value_proj");
    linear(layer + ".encoder_attn.output_proj");
    norm(layer + ".encoder_attn_layer_norm");
    linear(layer + ".mlp.fc1");
    linear(layer + ".mlp.fc2");
    norm(layer + ".final_layer_norm");
    box_head("decoder.bbox_embed." + number);
    score_head("decoder.class_embed." + number);
  }
  linear("decoder.query_pos_head.layers.0", 1, 0);  // boxes are small numbers: four of 0..1
  linear("decoder.query_pos_head.layers.1");
}

Weights Synthesis::run() {
  selection(encoder(backbone()));
  decoder();
  return std::move(weights_);
}

}  // namespace

Weights synthetic_weights(const Config& config, std::uint64_t seed) {
  return Synthesis(config, seed).run();
}

}  // namespace rangefinder::rtdetr
