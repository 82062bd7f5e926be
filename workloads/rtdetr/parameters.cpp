// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/parameters.h"

#include "kernels/box_refinement/box_refinement.h"
#include "kernels/conversion.h"
#include "workloads/rtdetr/parameter_folding.h"

namespace rangefinder::rtdetr {
namespace {

std::string numbered(const std::string& name, int number) {
  return name + "." + std::to_string(number);
}

/// Uploads folded parameters into the backend's memory.
class Uploader {
 public:
  Uploader(kernels::ElementType element, Backend& backend) : element_(element), backend_(backend) {}

  const void* elements(const std::vector<double>& values) {
    const std::vector<float> rounded(values.begin(), values.end());
    std::vector<std::byte> bytes(values.size() * kernels::element_bytes(element_));
    kernels::convert_from_fp32(element_, rounded.data(), bytes.data(), rounded.size());
    return uploaded(bytes.data(), bytes.size());
  }
  const float* floats(const std::vector<double>& values) {
    const std::vector<float> rounded(values.begin(), values.end());
    return static_cast<const float*>(uploaded(rounded.data(), rounded.size() * sizeof(float)));
  }
  const float* floats(const std::vector<float>& values) {
    return static_cast<const float*>(uploaded(values.data(), values.size() * sizeof(float)));
  }

 private:
  void* uploaded(const void* data, std::size_t bytes) {
    void* const target = backend_.allocate(bytes);
    backend_.upload(data, target, bytes);
    return target;
  }

  kernels::ElementType element_;
  Backend& backend_;
};

class Builder {
 public:
  Builder(const Config& config, const Weights& weights, Uploader& uploader)
      : config_(config), weights_(weights), uploader_(uploader) {}

  BackboneParameters backbone();
  EncoderParameters encoder();
  SelectionParameters selection();
  DecoderParameters decoder();

 private:
  Folded folded(const std::string& name, const char* convolution, const char* norm) const {
    const std::string full = "model." + name;
    return fold_batch_norm(weights_, full + "." + convolution, full + "." + norm, config_.batch_norm_epsilon);
  }
  Folded backbone_layer(const std::string& name) const {
    return folded(name, "convolution", "normalization");
  }
  Folded encoder_layer(const std::string& name) const { return folded(name, "conv", "norm"); }
  Folded linear_layer(const std::string& name, int inputs) const {
    return fold_linear(weights_, "model." + name, inputs);
  }

  Convolution upload(const Folded& layer, int stride = 1);
  Convolution upload_joined(const Folded& first, const Folded& second, int stride = 1);
  Linear upload_linear(const Folded& layer);
  Linear linear(const std::string& name, int inputs) { return upload_linear(linear_layer(name, inputs)); }
  Norm norm(const std::string& name);
  AttentionParameters attention(const std::string& name, int channels);
  FeedForward feed_forward(const std::string& name, int channels, int hidden);
  Mlp box_head(const std::string& name);
  Block block(int stage, int index);
  CspParameters csp(const std::string& name, bool has_coarse_input);
  DecoderLayerParameters decoder_layer(int index);

  const Config& config_;
  const Weights& weights_;
  Uploader& uploader_;
};

Convolution Builder::upload(const Folded& layer, int stride) {
  return {uploader_.elements(layer.weight),
          uploader_.floats(layer.bias),
          layer.inputs,
          0,
          layer.outputs,
          layer.kernel_size,
          stride};
}

Convolution Builder::upload_joined(const Folded& first, const Folded& second, int stride) {
  Convolution joined = upload(join_inputs(first, second), stride);
  joined.second_inputs = second.inputs;
  return joined;
}

Linear Builder::upload_linear(const Folded& layer) {
  return {uploader_.elements(layer.weight), uploader_.floats(layer.bias), layer.inputs, layer.outputs};
}

Norm Builder::norm(const std::string& name) {
  const std::vector<float>& gamma = weights_.at("model." + name + ".weight").values;
  const std::vector<float>& beta = weights_.at("model." + name + ".bias").values;
  return {uploader_.floats(gamma), uploader_.floats(beta), static_cast<int>(gamma.size())};
}

AttentionParameters Builder::attention(const std::string& name, int channels) {
  Folded qkv = linear_layer(name + ".q_proj", channels);
  qkv = join_outputs(std::move(qkv), linear_layer(name + ".k_proj", channels));
  qkv = join_outputs(std::move(qkv), linear_layer(name + ".v_proj", channels));
  return {upload_linear(qkv), linear(name + ".o_proj", channels)};
}

FeedForward Builder::feed_forward(const std::string& name, int channels, int hidden) {
  return {linear(name + ".fc1", channels), linear(name + ".fc2", hidden)};
}

Mlp Builder::box_head(const std::string& name) {
  Mlp layers;
  for (int i = 0; i < 3; ++i) layers.push_back(linear(numbered(name + ".layers", i), config_.model_channels));
  return layers;
}

Block Builder::block(int stage, int index) {
  const std::string name = numbered(numbered("backbone.model.encoder.stages", stage) + ".layers", index);
  const int stride = stage > 0 && index == 0 ? 2 : 1;
  Block block;
  const int strided = config_.block == BlockKind::basic ? 0 : 1;  // index of the convolution
  const int last = config_.block == BlockKind::basic ? 1 : 2;
  for (int i = 0; i < last; ++i)
    block.convolutions.push_back(
        upload(backbone_layer(numbered(name + ".layer", i)), i == strided ? stride : 1));
  const Folded closing = backbone_layer(numbered(name + ".layer", last));
  block.has_projection = index == 0;
  block.pools_shortcut = block.has_projection && stage > 0;
  if (block.has_projection) {
    const Folded shortcut = backbone_layer(name + (block.pools_shortcut ? ".shortcut.1" : ".shortcut"));
    block.convolutions.push_back(upload_joined(closing, shortcut));
  } else {
    block.convolutions.push_back(upload(closing));
  }
  return block;
}

BackboneParameters Builder::backbone() {
  BackboneParameters parameters;
  for (int i = 0; i < 3; ++i)
    parameters.stem[static_cast<std::size_t>(i)] =
        upload(backbone_layer(numbered("backbone.model.embedder.embedder", i)), i == 0 ? 2 : 1);
  for (int stage = 0; stage < kStages; ++stage)
    for (int index = 0; index < config_.depths[static_cast<std::size_t>(stage)]; ++index)
      parameters.stages[static_cast<std::size_t>(stage)].push_back(block(stage, index));
  return parameters;
}

CspParameters Builder::csp(const std::string& name, bool has_coarse_input) {
  const int channels = config_.encoder_channels;
  const Folded entry = join_outputs(encoder_layer(name + ".conv1"), encoder_layer(name + ".conv2"));
  const Folded front = cut_inputs(entry, 0, channels);
  Folded back = cut_inputs(entry, channels, channels);
  CspParameters parameters;
  if (has_coarse_input) {
    parameters.coarse = upload(front);
    parameters.coarse.bias = nullptr;
    parameters.entry = upload(back);
  } else {
    back.bias.assign(back.bias.size(), 0.0);  // `front` already has the bias
    parameters.entry = upload_joined(front, back);
  }
  for (int i = 0; i < kRepBlocks; ++i) {
    const std::string block = numbered(name + ".bottlenecks", i);
    parameters.bottlenecks[static_cast<std::size_t>(i)] =
        upload(merge_rep_vgg(encoder_layer(block + ".conv1"), encoder_layer(block + ".conv2")));
  }
  if (config_.csp_has_third_convolution()) parameters.exit = upload(encoder_layer(name + ".conv3"));
  return parameters;
}

EncoderParameters Builder::encoder() {
  const int channels = config_.encoder_channels;
  EncoderParameters parameters;
  for (int level = 0; level < kLevels; ++level)
    parameters.input_projections[static_cast<std::size_t>(level)] =
        upload(folded(numbered("encoder_input_proj", level), "0", "1"));
  const std::string layer = "encoder.aifi.0.layers.0";
  parameters.attention = attention(layer + ".self_attn", channels);
  parameters.attention_norm = norm(layer + ".self_attn_layer_norm");
  parameters.feed_forward = feed_forward(layer + ".mlp", channels, config_.encoder_ffn);
  parameters.final_norm = norm(layer + ".final_layer_norm");
  for (int i = 0; i < kLevels - 1; ++i) {
    const auto at = static_cast<std::size_t>(i);
    parameters.lateral[at] = upload(encoder_layer(numbered("encoder.lateral_convs", i)));
    parameters.downsample[at] = upload(encoder_layer(numbered("encoder.downsample_convs", i)), 2);
    parameters.fpn[at] = csp(numbered("encoder.fpn_blocks", i), true);
    parameters.pan[at] = csp(numbered("encoder.pan_blocks", i), false);
  }
  return parameters;
}

SelectionParameters Builder::selection() {
  const int channels = config_.model_channels;
  SelectionParameters parameters;
  for (int level = 0; level < kLevels; ++level)
    parameters.input_projections[static_cast<std::size_t>(level)] =
        upload(folded(numbered("decoder_input_proj", level), "0", "1"));
  parameters.output = linear("enc_output.0", channels);
  parameters.output_norm = norm("enc_output.1");
  parameters.score_head = linear("enc_score_head", channels);
  parameters.box_head = box_head("enc_bbox_head");
  return parameters;
}

DecoderLayerParameters Builder::decoder_layer(int index) {
  const int channels = config_.model_channels;
  const std::string layer = numbered("decoder.layers", index);
  DecoderLayerParameters parameters;
  parameters.self_attention = attention(layer + ".self_attn", channels);
  parameters.self_attention_norm = norm(layer + ".self_attn_layer_norm");
  parameters.value = linear(layer + ".encoder_attn.value_proj", channels);
  parameters.offsets_and_weights =
      upload_linear(join_outputs(linear_layer(layer + ".encoder_attn.sampling_offsets", channels),
                                 linear_layer(layer + ".encoder_attn.attention_weights", channels)));
  parameters.cross_output = linear(layer + ".encoder_attn.output_proj", channels);
  parameters.cross_norm = norm(layer + ".encoder_attn_layer_norm");
  parameters.feed_forward = feed_forward(layer + ".mlp", channels, config_.decoder_ffn);
  parameters.final_norm = norm(layer + ".final_layer_norm");
  parameters.box_head = box_head(numbered("decoder.bbox_embed", index));
  return parameters;
}

DecoderParameters Builder::decoder() {
  const int channels = config_.model_channels;
  DecoderParameters parameters;
  parameters.query_position = {linear("decoder.query_pos_head.layers.0", kernels::kQueryInputColumns),
                               linear("decoder.query_pos_head.layers.1", 2 * channels)};
  for (int i = 0; i < config_.decoder_layers; ++i) parameters.layers.push_back(decoder_layer(i));
  parameters.class_head = linear(numbered("decoder.class_embed", config_.decoder_layers - 1), channels);
  return parameters;
}

}  // namespace

Parameters make_parameters(const Config& config, const Weights& weights, kernels::ElementType element,
                           Backend& backend) {
  Uploader uploader(element, backend);
  Builder builder(config, weights, uploader);
  return {builder.backbone(), builder.encoder(), builder.selection(), builder.decoder()};
}

}  // namespace rangefinder::rtdetr
