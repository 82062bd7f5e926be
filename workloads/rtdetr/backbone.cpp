// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/backbone.h"

#include "workloads/rtdetr/layers.h"

namespace rangefinder::rtdetr {
namespace {

using kernels::Activation;

Tensor feature_map(Execution& execution, const Tensor& like, int divisor, int channels) {
  return execution.arena.tensor(execution.element, like.images, like.view.height / divisor,
                                like.view.width / divisor, channels);
}

void run_first_stem_layer(Execution& execution, const Convolution& layer, const Tensor& pixels,
                          const Tensor& output) {
  kernels::StemArgs args;
  args.element = execution.element;
  args.images = pixels.images;
  args.input = pixels.input();
  args.weight = layer.weight;
  args.bias = layer.bias;
  args.output = output.view;
  execution.backend.run(args);
}

kernels::PoolArgs pool_args(Execution& execution, const Tensor& input, const Tensor& output) {
  return {execution.element, input.images, input.input(), output.view};
}

/// Three convolutions and a max pooling: (H, W, 3) -> (H/4, W/4, embedding_channels).
void run_stem(Execution& execution, const std::array<Convolution, 3>& layers, const Tensor& pixels,
              const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const Module embedder(execution, "embedder");
  std::array<Tensor, 3> maps;
  for (std::size_t i = 0; i < maps.size(); ++i)
    maps[i] = feature_map(execution, pixels, 2, layers[i].outputs);
  {
    const Module convolutions(execution, "embedder");
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const Module module(execution, std::to_string(i));
      if (i == 0)
        run_first_stem_layer(execution, layers[i], pixels, maps[i]);
      else
        convolve(execution, layers[i], maps[i - 1], maps[i], Activation::relu);
      dump(execution, "stem" + std::to_string(i), maps[i]);
    }
  }
  const Module pooler(execution, "pooler");
  execution.backend.run_max_pool(pool_args(execution, maps[2], output));
  dump(execution, "pool", output);
}

/// The shortcut operand of the block's last convolution: the input itself, or the projection's input.
ConvolutionOperands shortcut_of(Execution& execution, const Block& block, const Tensor& input) {
  ConvolutionOperands operands;
  if (!block.has_projection) {
    operands.residual = input;
  } else if (!block.pools_shortcut) {
    operands.second_input = input;
  } else {
    const Module shortcut(execution, "shortcut.0");
    operands.second_input = feature_map(execution, input, 2, input.view.channels);
    const Branch branch(execution, execution.backend.branch_point());
    execution.backend.run_average_pool(pool_args(execution, input, operands.second_input));
  }
  return operands;
}

/// `output` may be `input` if the shortcut has no projection.
void run_block(Execution& execution, const Block& block, const Tensor& input, const Tensor& output) {
  const Arena::Scope scope(execution.arena);
  const ConvolutionOperands shortcut = shortcut_of(execution, block, input);
  Tensor map = input;
  for (std::size_t i = 0; i < block.convolutions.size(); ++i) {
    const Convolution& layer = block.convolutions[i];
    const Module module(execution, "layer." + std::to_string(i));
    if (i + 1 == block.convolutions.size()) {
      if (block.pools_shortcut) execution.backend.join_branches();
      convolve(execution, layer, map, output, Activation::relu, shortcut);
    } else {
      const Tensor next = feature_map(execution, map, layer.stride, layer.outputs);
      convolve(execution, layer, map, next, Activation::relu);
      map = next;
    }
  }
}

void run_stage(Execution& execution, int number, const std::vector<Block>& blocks, const Tensor& input,
               const Tensor& output) {
  const std::string stage_name = std::to_string(number);
  const Module stage(execution, "stages." + stage_name);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string block_name = std::to_string(i);
    const Module block(execution, "layers." + block_name);
    run_block(execution, blocks[i], i == 0 ? input : output, output);
    dump(execution, "stage" + stage_name + "_block" + block_name, output);
  }
}

}  // namespace

FeatureMaps run_backbone(Execution& execution, const Config& config, const BackboneParameters& parameters,
                         const Tensor& pixels) {
  const Module backbone(execution, "backbone.model");
  FeatureMaps maps;
  for (int level = 0; level < kLevels; ++level)
    maps[static_cast<std::size_t>(level)] = feature_map(
        execution, pixels, 8 << level, config.stage_channels[static_cast<std::size_t>(level) + 1]);

  const Arena::Scope scope(execution.arena);
  const Tensor embedding = feature_map(execution, pixels, 4, config.embedding_channels);
  run_stem(execution, parameters.stem, pixels, embedding);

  const Module encoder(execution, "encoder");
  const Tensor finest = feature_map(execution, pixels, 4, config.stage_channels[0]);
  run_stage(execution, 0, parameters.stages[0], embedding, finest);
  for (int stage = 1; stage < kStages; ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    run_stage(execution, stage, parameters.stages[at], stage == 1 ? finest : maps[at - 2], maps[at - 1]);
  }
  return maps;
}

}  // namespace rangefinder::rtdetr
