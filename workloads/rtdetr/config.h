// SPDX-License-Identifier: Apache-2.0
//
// The architecture of one RT-DETR: the fields of Hugging Face's RTDetrConfig and RTDetrResNetConfig.
//
// Plain values. Nothing here depends on the input size, the batch or the element type.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder::rtdetr {

enum class BlockKind { basic, bottleneck };

inline constexpr int kStages = 4;
inline constexpr int kLevels = 3;         ///< feature maps of the backbone: strides 8, 16, 32
inline constexpr int kPoints = 4;         ///< samples per head and level
inline constexpr int kSizeMultiple = 32;  ///< height and width of the input are multiples of it
inline constexpr int kReduction = 4;      ///< a bottleneck's width is its outputs divided by this
inline constexpr int kRepBlocks = 3;      ///< RepVGG blocks per CSP layer

inline constexpr int kBoxValues = 4;  ///< centre x, centre y, width, height

struct Config {
  std::string name;  ///< value of --model
  BlockKind block = BlockKind::bottleneck;
  std::array<int, kStages> depths{};  ///< blocks per stage
  std::array<int, kStages> stage_channels{};
  int embedding_channels = 64;  ///< of the stem's last convolution; the first two have half
  int encoder_channels = 256;   ///< encoder_hidden_dim
  int encoder_ffn = 1024;
  int encoder_heads = 8;
  double hidden_expansion = 1.0;  ///< below 1: CSP layers have a third convolution
  int model_channels = 256;       ///< d_model
  int decoder_layers = 6;
  int decoder_ffn = 1024;
  int decoder_heads = 8;
  int queries = 300;
  int labels = 80;
  double batch_norm_epsilon = 1e-5;
  double layer_norm_epsilon = 1e-5;

  int csp_channels() const { return static_cast<int>(encoder_channels * hidden_expansion); }
  bool csp_has_third_convolution() const { return csp_channels() != encoder_channels; }
};

/// r18, r34, r50, r101, or tiny: the configuration that CI runs on the CPU (64 queries, bottlenecks
/// 2,1,1,1, 64 channels in encoder and decoder, two decoder layers).
/// Throws std::invalid_argument with a list of the known names.
Config config_of(std::string_view name);

/// Names that config_of() accepts.
const std::vector<std::string>& model_names();

}  // namespace rangefinder::rtdetr
