// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/config.h"

#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

Config basic(std::string name, std::array<int, kStages> depths, int decoder_layers) {
  Config config;
  config.name = std::move(name);
  config.block = BlockKind::basic;
  config.depths = depths;
  config.stage_channels = {64, 128, 256, 512};
  config.hidden_expansion = 0.5;
  config.decoder_layers = decoder_layers;
  return config;
}

Config bottleneck(std::string name, std::array<int, kStages> depths) {
  Config config;
  config.name = std::move(name);
  config.depths = depths;
  config.stage_channels = {256, 512, 1024, 2048};
  return config;
}

Config r101() {
  Config config = bottleneck("r101", {3, 4, 23, 3});
  config.encoder_channels = 384;
  config.encoder_ffn = 2048;
  return config;
}

// Small enough for plain loops on a CPU, but with everything that can be wired wrongly: a block that is not
// the first of its stage, two heads, a third CSP convolution, refined boxes.
Config tiny() {
  Config config = bottleneck("tiny", {2, 1, 1, 1});
  config.stage_channels = {32, 64, 128, 256};
  config.embedding_channels = 16;
  config.encoder_channels = 64;
  config.encoder_ffn = 128;
  config.encoder_heads = 2;
  config.hidden_expansion = 0.5;
  config.model_channels = 64;
  config.decoder_layers = 2;
  config.decoder_ffn = 96;
  config.decoder_heads = 2;
  config.queries = 64;
  config.labels = 16;
  return config;
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"r18", "r34", "r50", "r101", "tiny"};
  return names;
}

Config config_of(std::string_view name) {
  if (name == "r18") return basic("r18", {2, 2, 2, 2}, 3);
  if (name == "r34") return basic("r34", {3, 4, 6, 3}, 4);
  if (name == "r50") return bottleneck("r50", {3, 4, 6, 3});
  if (name == "r101") return r101();
  if (name == "tiny") return tiny();
  std::string message = "unknown model \"" + std::string(name) + "\"; the models are";
  for (const std::string& known : model_names()) message += " " + known;
  throw std::invalid_argument(message);
}

}  // namespace rangefinder::rtdetr
