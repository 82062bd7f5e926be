// SPDX-License-Identifier: Apache-2.0
//
// The names and shapes of a state dict, and their older names.
#include "workloads/rtdetr/weights.h"

namespace rangefinder::rtdetr {
namespace {

/// Appends the specs of one module after the other.
class Specs {
 public:
  explicit Specs(std::vector<WeightSpec>& all) : all_(all) {}

  void add(const std::string& name, Shape shape) { all_.push_back({"model." + name, std::move(shape)}); }
  void norm(const std::string& name, int channels) {
    add(name + ".weight", {channels});
    add(name + ".bias", {channels});
  }
  void batch_norm(const std::string& name, int channels) {
    norm(name, channels);
    add(name + ".running_mean", {channels});
    add(name + ".running_var", {channels});
  }
  /// A convolution and its batch norm; `names`: the names of the two.
  void convolution(const std::string& name, const std::pair<const char*, const char*>& names, int outputs,
                   int inputs, int kernel_size) {
    add(name + "." + names.first + ".weight", {outputs, inputs, kernel_size, kernel_size});
    batch_norm(name + "." + names.second, outputs);
  }
  void linear(const std::string& name, int outputs, int inputs) {
    add(name + ".weight", {outputs, inputs});
    add(name + ".bias", {outputs});
  }

 private:
  std::vector<WeightSpec>& all_;
};

constexpr std::pair kBackboneNames{"convolution", "normalization"};
constexpr std::pair kEncoderNames{"conv", "norm"};
constexpr std::pair kProjectionNames{"0", "1"};

void add_block(Specs& specs, const Config& config, int stage, int block, int inputs) {
  const int outputs = config.stage_channels[static_cast<std::size_t>(stage)];
  const std::string name =
      "backbone.model.encoder.stages." + std::to_string(stage) + ".layers." + std::to_string(block);
  if (block == 0) {
    const std::string shortcut = name + (stage == 0 ? ".shortcut" : ".shortcut.1");
    specs.convolution(shortcut, kBackboneNames, outputs, inputs, 1);
  }
  if (config.block == BlockKind::basic) {
    specs.convolution(name + ".layer.0", kBackboneNames, outputs, inputs, 3);
    specs.convolution(name + ".layer.1", kBackboneNames, outputs, outputs, 3);
    return;
  }
  const int width = outputs / kReduction;
  specs.convolution(name + ".layer.0", kBackboneNames, width, inputs, 1);
  specs.convolution(name + ".layer.1", kBackboneNames, width, width, 3);
  specs.convolution(name + ".layer.2", kBackboneNames, outputs, width, 1);
}

void add_backbone(Specs& specs, const Config& config) {
  const std::string embedder = "backbone.model.embedder.embedder.";
  const int half = config.embedding_channels / 2;
  specs.convolution(embedder + "0", kBackboneNames, half, 3, 3);
  specs.convolution(embedder + "1", kBackboneNames, half, half, 3);
  specs.convolution(embedder + "2", kBackboneNames, config.embedding_channels, half, 3);
  int inputs = config.embedding_channels;
  for (int stage = 0; stage < kStages; ++stage) {
    for (int block = 0; block < config.depths[static_cast<std::size_t>(stage)]; ++block) {
      add_block(specs, config, stage, block, inputs);
      inputs = config.stage_channels[static_cast<std::size_t>(stage)];
    }
  }
}

void add_attention(Specs& specs, const std::string& name, int channels) {
  for (const char* part : {"k_proj", "v_proj", "q_proj", "o_proj"})
    specs.linear(name + "." + part, channels, channels);
}

void add_feed_forward(Specs& specs, const std::string& name, int channels, int hidden) {
  specs.linear(name + ".fc1", hidden, channels);
  specs.linear(name + ".fc2", channels, hidden);
}

void add_csp(Specs& specs, const Config& config, const std::string& name) {
  const int hidden = config.csp_channels();
  specs.convolution(name + ".conv1", kEncoderNames, hidden, 2 * config.encoder_channels, 1);
  specs.convolution(name + ".conv2", kEncoderNames, hidden, 2 * config.encoder_channels, 1);
  for (int i = 0; i < kRepBlocks; ++i) {
    const std::string block = name + ".bottlenecks." + std::to_string(i);
    specs.convolution(block + ".conv1", kEncoderNames, hidden, hidden, 3);
    specs.convolution(block + ".conv2", kEncoderNames, hidden, hidden, 1);
  }
  if (config.csp_has_third_convolution())
    specs.convolution(name + ".conv3", kEncoderNames, config.encoder_channels, hidden, 1);
}

void add_encoder(Specs& specs, const Config& config) {
  const int channels = config.encoder_channels;
  for (int level = 0; level < kLevels; ++level)
    specs.convolution("encoder_input_proj." + std::to_string(level), kProjectionNames, channels,
                      config.stage_channels[static_cast<std::size_t>(level + 1)], 1);
  const std::string layer = "encoder.aifi.0.layers.0";
  add_attention(specs, layer + ".self_attn", channels);
  specs.norm(layer + ".self_attn_layer_norm", channels);
  add_feed_forward(specs, layer + ".mlp", channels, config.encoder_ffn);
  specs.norm(layer + ".final_layer_norm", channels);
  for (int i = 0; i < kLevels - 1; ++i) {
    specs.convolution("encoder.lateral_convs." + std::to_string(i), kEncoderNames, channels, channels, 1);
    add_csp(specs, config, "encoder.fpn_blocks." + std::to_string(i));
  }
  for (int i = 0; i < kLevels - 1; ++i) {
    specs.convolution("encoder.downsample_convs." + std::to_string(i), kEncoderNames, channels, channels, 3);
    add_csp(specs, config, "encoder.pan_blocks." + std::to_string(i));
  }
}

void add_box_head(Specs& specs, const std::string& name, int channels) {
  specs.linear(name + ".layers.0", channels, channels);
  specs.linear(name + ".layers.1", channels, channels);
  specs.linear(name + ".layers.2", 4, channels);
}

void add_selection(Specs& specs, const Config& config) {
  const int channels = config.model_channels;
  for (int level = 0; level < kLevels; ++level)
    specs.convolution("decoder_input_proj." + std::to_string(level), kProjectionNames, channels,
                      config.encoder_channels, 1);
  specs.add("denoising_class_embed.weight", {config.labels + 1, channels});
  specs.linear("enc_output.0", channels, channels);
  specs.norm("enc_output.1", channels);
  specs.linear("enc_score_head", config.labels, channels);
  add_box_head(specs, "enc_bbox_head", channels);
}

void add_decoder(Specs& specs, const Config& config) {
  const int channels = config.model_channels;
  const int samples = config.decoder_heads * kLevels * kPoints;
  for (int i = 0; i < config.decoder_layers; ++i) {
    const std::string layer = "decoder.layers." + std::to_string(i);
    add_attention(specs, layer + ".self_attn", channels);
    specs.norm(layer + ".self_attn_layer_norm", channels);
    specs.linear(layer + ".encoder_attn.sampling_offsets", 2 * samples, channels);
    specs.linear(layer + ".encoder_attn.attention_weights", samples, channels);
    specs.linear(layer + ".encoder_attn.value_proj", channels, channels);
    specs.linear(layer + ".encoder_attn.output_proj", channels, channels);
    specs.norm(layer + ".encoder_attn_layer_norm", channels);
    add_feed_forward(specs, layer + ".mlp", channels, config.decoder_ffn);
    specs.norm(layer + ".final_layer_norm", channels);
  }
  for (int i = 0; i < config.decoder_layers; ++i)
    add_box_head(specs, "decoder.bbox_embed." + std::to_string(i), channels);
  for (int i = 0; i < config.decoder_layers; ++i)
    specs.linear("decoder.class_embed." + std::to_string(i), config.labels, channels);
  specs.linear("decoder.query_pos_head.layers.0", 2 * channels, 4);
  specs.linear("decoder.query_pos_head.layers.1", channels, 2 * channels);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "X.layers.N.fc1.weight" -> "X.layers.N.mlp.fc1.weight"; other names stay.
std::string with_mlp(std::string name) {
  for (const std::string_view layer : {".fc1.", ".fc2."}) {
    const std::size_t at = name.find(layer);
    if (at == std::string::npos) continue;
    const std::size_t dot = name.rfind('.', at - 1);
    if (dot != std::string::npos && is_digits(std::string_view(name).substr(dot + 1, at - dot - 1)))
      name.insert(at, ".mlp");
  }
  return name;
}

void replace_first(std::string& name, std::string_view from, std::string_view to) {
  const std::size_t at = name.find(from);
  if (at != std::string::npos) name.replace(at, from.size(), to);
}

}  // namespace

std::vector<WeightSpec> weight_specs(const Config& config) {
  std::vector<WeightSpec> all;
  Specs specs(all);
  add_backbone(specs, config);
  add_encoder(specs, config);
  add_selection(specs, config);
  add_decoder(specs, config);
  return all;
}

std::string canonical_name(std::string_view name) {
  if (name.ends_with(".num_batches_tracked") || name.starts_with("class_embed.") ||
      name.starts_with("bbox_embed."))
    return {};
  std::string canonical = with_mlp(std::string(name));
  replace_first(canonical, ".self_attn.out_proj.", ".self_attn.o_proj.");
  replace_first(canonical, "model.encoder.encoder.", "model.encoder.aifi.");
  return canonical;
}

}  // namespace rangefinder::rtdetr
