// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/hybrid_encoder.h"

#include <optional>

#include "workloads/rtdetr/layers.h"

namespace rangefinder::rtdetr {
namespace {

using kernels::Activation;

Tensor map_like(Execution& execution, const Tensor& like, int channels) {
  return execution.arena.tensor(execution.element, like.images, like.view.height, like.view.width, channels);
}

void run_self_attention(Execution& execution, const Config& config, const AttentionParameters& parameters,
                        const Geometry& geometry, const Tensor& input, const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const Module self_attention(execution, "self_attn");
  const int channels = config.encoder_channels;
  const Tensor projected = map_like(execution, input, 3 * channels);
  // One batch per image, so that all images share one residual.
  kernels::GemmArgs args = linear_args(execution, parameters.qkv, input, projected);
  args.batches = input.images;
  args.rows = static_cast<int>(input.view.pixels());
  args.input_batch_stride = input.view.image_step();
  args.output_batch_stride = projected.view.image_step();
  args.residual = geometry.projected_position;
  args.residual_row_stride = projected.view.pixel_step();
  execution.backend.run(args);
  dump(execution, "aifi_q", projected.channels(0, channels));
  dump(execution, "aifi_k", projected.channels(channels, channels));
  dump(execution, "aifi_v", projected.channels(2 * channels, channels));
  const Tensor context = map_like(execution, input, channels);
  attend(execution, config.encoder_heads, projected, context);
  const Module out(execution, "o_proj");
  apply_linear(execution, parameters.output, context, output);
  dump(execution, "aifi_attn", output);
}

/// AIFI: one transformer layer over the positions of the coarsest map, in place.
void run_aifi(Execution& execution, const Config& config, const EncoderParameters& parameters,
              const Geometry& geometry, const Tensor& map) {
  const Arena::Scope scope(execution.arena);
  const Module layer(execution, "aifi.0.layers.0");
  const Tensor rows = map.as_sequence();
  const Tensor update = map_like(execution, rows, config.encoder_channels);
  run_self_attention(execution, config, parameters.attention, geometry, rows, update);
  {
    const Module norm(execution, "self_attn_layer_norm");
    normalize(execution, parameters.attention_norm, config.layer_norm_epsilon, update, rows,
              {.residual = rows, .position = {}, .output_with_position = {}});
    dump(execution, "aifi_ln1", rows);
  }
  {
    const Module mlp(execution, "mlp");
    feed_forward(execution, parameters.feed_forward, Activation::gelu_erf, rows, update);
  }
  const Module norm(execution, "final_layer_norm");
  normalize(execution, parameters.final_norm, config.layer_norm_epsilon, update, rows,
            {.residual = rows, .position = {}, .output_with_position = {}});
  dump(execution, "aifi_out", rows);
}

/// The rest of a CSP layer after its joined entry: `entry` holds a and b side by side.
void finish_csp(Execution& execution, const CspParameters& parameters, const Tensor& entry,
                const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const int hidden = entry.view.channels / 2;
  Tensor map = entry.channels(0, hidden);
  const Tensor b = entry.channels(hidden, hidden);
  for (std::size_t i = 0; i < parameters.bottlenecks.size(); ++i) {
    const Module bottleneck(execution, "bottlenecks." + std::to_string(i));
    const bool is_last = i + 1 == parameters.bottlenecks.size();
    const Tensor next = is_last && !parameters.exit ? output : map_like(execution, entry, hidden);
    ConvolutionOperands operands;
    if (is_last) {
      operands.residual = b;
      operands.residual_place = kernels::ResidualPlace::after_activation;
    }
    convolve(execution, parameters.bottlenecks[i], map, next, Activation::silu, operands);
    map = next;
  }
  if (parameters.exit) {
    const Module conv3(execution, "conv3");
    convolve(execution, *parameters.exit, map, output, Activation::silu);
  }
}

/// concat(upsampled coarse, fine) -> CSP. A 1x1 convolution commutes with nearest upsampling. So the part
/// that reads `coarse` runs on a quarter of the pixels, and its result is added to the rest.
void run_fpn_block(Execution& execution, const CspParameters& parameters, const Tensor& coarse,
                   const Tensor& fine, const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const Tensor addend = map_like(execution, coarse, parameters.coarse.outputs);
  convolve(execution, parameters.coarse, coarse, addend, Activation::none);
  const Tensor entry = map_like(execution, fine, parameters.entry.outputs);
  ConvolutionOperands operands;
  operands.upsampled_addend = addend;
  convolve(execution, parameters.entry, fine, entry, Activation::silu, operands);
  finish_csp(execution, parameters, entry, output);
}

/// concat(downsampled, lateral) -> CSP.
void run_pan_block(Execution& execution, const CspParameters& parameters, const Tensor& downsampled,
                   const Tensor& lateral, const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const Tensor entry = map_like(execution, lateral, parameters.entry.outputs);
  ConvolutionOperands operands;
  operands.second_input = lateral;
  convolve(execution, parameters.entry, downsampled, entry, Activation::silu, operands);
  finish_csp(execution, parameters, entry, output);
}

/// The projections of the finer maps are a branch beside AIFI, joined before the first FPN block.
FeatureMaps project_inputs(Execution& execution, const EncoderParameters& parameters,
                           const FeatureMaps& backbone_maps) {
  FeatureMaps maps;
  const BranchPoint backbone_done = execution.backend.branch_point();
  for (std::size_t level = 0; level < maps.size(); ++level) {
    const Convolution& layer = parameters.input_projections[level];
    maps[level] = map_like(execution, backbone_maps[level], layer.outputs);
    std::optional<Branch> branch;
    if (level + 1 < maps.size()) branch.emplace(execution, backbone_done);
    const Module module(execution, "encoder_input_proj." + std::to_string(level));
    convolve(execution, layer, backbone_maps[level], maps[level], Activation::none);
    dump(execution, "inproj" + std::to_string(level), maps[level]);
  }
  return maps;
}

/// From coarse to fine. laterals[i] is at level 2 - i; returns the finest map.
void run_fpn(Execution& execution, const EncoderParameters& parameters, const FeatureMaps& projected,
             const FeatureMaps& laterals, const Tensor& finest) {
  const Arena::Scope scope(execution.arena);
  Tensor last = projected[kLevels - 1];
  for (std::size_t i = 0; i + 1 < kLevels; ++i) {
    const std::string number = std::to_string(i);
    {
      const Module module(execution, "lateral_convs." + number);
      convolve(execution, parameters.lateral[i], last, laterals[i], Activation::silu);
      dump(execution, "lat" + number, laterals[i]);
    }
    if (i == 0) execution.backend.join_branches();
    const Tensor& fine = projected[kLevels - 2 - i];
    const Tensor output = i + 2 == kLevels ? finest : map_like(execution, fine, fine.view.channels);
    const Module module(execution, "fpn_blocks." + number);
    run_fpn_block(execution, parameters.fpn[i], laterals[i], fine, output);
    dump(execution, "fpn" + number, output);
    last = output;
  }
}

/// From fine to coarse: fills maps[1] and maps[2].
void run_pan(Execution& execution, const EncoderParameters& parameters, const FeatureMaps& laterals,
             const FeatureMaps& maps) {
  for (std::size_t i = 0; i + 1 < kLevels; ++i) {
    const Arena::Scope scope(execution.arena);
    const std::string number = std::to_string(i);
    const Tensor& lateral = laterals[kLevels - 2 - i];
    const Tensor downsampled = map_like(execution, lateral, parameters.downsample[i].outputs);
    {
      const Module module(execution, "downsample_convs." + number);
      convolve(execution, parameters.downsample[i], maps[i], downsampled, Activation::silu);
      dump(execution, "down" + number, downsampled);
    }
    const Module module(execution, "pan_blocks." + number);
    run_pan_block(execution, parameters.pan[i], downsampled, lateral, maps[i + 1]);
    dump(execution, "pan" + number, maps[i + 1]);
  }
}

}  // namespace

void project_position_embedding(const AttentionParameters& parameters, kernels::ElementType element,
                                Backend& backend, Geometry& geometry) {
  const Linear& qkv = parameters.qkv;
  const kernels::FeatureLevel& level = geometry.levels.back();
  const auto rows = static_cast<std::size_t>(level.height * level.width);
  const std::vector<std::byte> zeros(rows * static_cast<std::size_t>(qkv.outputs) *
                                     kernels::element_bytes(element));
  void* const output = backend.allocate(zeros.size());
  backend.upload(zeros.data(), output, zeros.size());
  kernels::GemmArgs args;
  args.element = element;
  args.output_element = element;
  args.rows = static_cast<int>(rows);
  args.columns = 2 * qkv.inputs;  // q and k; v takes no position
  args.depth = qkv.inputs;
  args.input = geometry.position_embedding;
  args.weight = qkv.weight;
  args.output = output;
  args.output_row_stride = qkv.outputs;
  backend.run(args);
  geometry.projected_position = output;
}

FeatureMaps run_hybrid_encoder(Execution& execution, const Config& config,
                               const EncoderParameters& parameters, const Geometry& geometry,
                               const FeatureMaps& backbone_maps) {
  FeatureMaps maps;
  for (std::size_t level = 0; level < maps.size(); ++level)
    maps[level] = map_like(execution, backbone_maps[level], config.encoder_channels);

  const Arena::Scope scope(execution.arena);
  const FeatureMaps projected = project_inputs(execution, parameters, backbone_maps);
  const Module encoder(execution, "encoder");
  run_aifi(execution, config, parameters, geometry, projected[kLevels - 1]);
  FeatureMaps laterals;  // the last is unused: there is one fewer than levels
  for (std::size_t i = 0; i + 1 < kLevels; ++i)
    laterals[i] = map_like(execution, projected[kLevels - 1 - i], config.encoder_channels);
  run_fpn(execution, parameters, projected, laterals, maps[0]);
  run_pan(execution, parameters, laterals, maps);
  return maps;
}

}  // namespace rangefinder::rtdetr
