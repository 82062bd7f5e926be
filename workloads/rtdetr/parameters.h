// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the network: weights with all batch norms folded, RepVGG branches merged, and layers that run
// as one launch joined. They are in the kernels' element type and layout, in a backend's memory.
//
//   batch norm      W' = W * g,  b' = beta - mean * g,  g = gamma / sqrt(var + epsilon)     (in double)
//   RepVGG          W3' = W3 * g3, its centre += W1 * g1;  b = b3 + b1
//   shortcut        joined to the block's last convolution along K: it reads two inputs
//   CSP conv1|conv2 one convolution with twice the outputs
//   q|k|v           one linear layer; so are sampling_offsets|attention_weights
//   FPN conv1|conv2 cut along K: the part for the coarse map runs at a quarter of the pixels
//
// Convolution weights are (out, row, column, in), linear ones (out, in). Biases, norms and anchors are always
// fp32. The backend that they were uploaded to owns them.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "kernels/element_type.h"
#include "workloads/rtdetr/backend.h"
#include "workloads/rtdetr/config.h"
#include "workloads/rtdetr/weights.h"

namespace rangefinder::rtdetr {

struct Convolution {
  const void* weight = nullptr;  ///< (outputs, kernel_size^2 * inputs + second_inputs)
  const float* bias = nullptr;   ///< (outputs), or nullptr
  int inputs = 0;
  int second_inputs = 0;
  int outputs = 0;
  int kernel_size = 1;
  int stride = 1;
};

struct Linear {
  const void* weight = nullptr;  ///< (outputs, inputs)
  const float* bias = nullptr;   ///< (outputs)
  int inputs = 0;                ///< padded to the kernels' multiple with zeros
  int outputs = 0;
};

struct Norm {
  const float* gamma = nullptr;
  const float* beta = nullptr;
  int channels = 0;
};

/// A ResNet block. If there is a projection, it is the second input of the last convolution.
struct Block {
  std::vector<Convolution> convolutions;  ///< 2 (basic) or 3 (bottleneck)
  bool has_projection = false;
  bool pools_shortcut = false;  ///< average pooling before the projection
};

struct BackboneParameters {
  std::array<Convolution, 3> stem;  ///< the first is for the stem kernel
  std::array<std::vector<Block>, kStages> stages;
};

struct CspParameters {
  Convolution coarse;  ///< FPN: the part of conv1|conv2 for the upsampled map, without bias; PAN: unused
  Convolution entry;   ///< conv1|conv2; PAN: reads two inputs
  std::array<Convolution, kRepBlocks> bottlenecks;
  std::optional<Convolution> exit;  ///< conv3
};

struct AttentionParameters {
  Linear qkv;  ///< outputs q, k, v, each `inputs` wide
  Linear output;
};

struct FeedForward {
  Linear first;
  Linear second;
};

struct EncoderParameters {
  std::array<Convolution, kLevels> input_projections;
  AttentionParameters attention;
  Norm attention_norm;
  FeedForward feed_forward;
  Norm final_norm;
  std::array<Convolution, kLevels - 1> lateral;
  std::array<Convolution, kLevels - 1> downsample;
  std::array<CspParameters, kLevels - 1> fpn;
  std::array<CspParameters, kLevels - 1> pan;
};

using Mlp = std::vector<Linear>;  ///< ReLU between layers, none after the last

struct SelectionParameters {
  std::array<Convolution, kLevels> input_projections;  ///< decoder_input_proj
  Linear output;                                       ///< enc_output.0
  Norm output_norm;                                    ///< enc_output.1
  Linear score_head;
  Mlp box_head;
};

struct DecoderLayerParameters {
  AttentionParameters self_attention;
  Norm self_attention_norm;
  Linear value;
  Linear offsets_and_weights;
  Linear cross_output;
  Norm cross_norm;
  FeedForward feed_forward;
  Norm final_norm;
  Mlp box_head;  ///< decoder.bbox_embed.i
};

struct DecoderParameters {
  Mlp query_position;  ///< the first layer's inputs: kQueryInputColumns
  std::vector<DecoderLayerParameters> layers;
  Linear class_head;  ///< of the last layer; earlier layers do not compute theirs
};

struct Parameters {
  BackboneParameters backbone;
  EncoderParameters encoder;
  SelectionParameters selection;
  DecoderParameters decoder;
};

/// Folds on the host in double, rounds once, uploads.
Parameters make_parameters(const Config& config, const Weights& weights, kernels::ElementType element,
                           Backend& backend);

}  // namespace rangefinder::rtdetr
