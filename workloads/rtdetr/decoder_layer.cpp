// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/decoder_layer.h"

#include "workloads/rtdetr/layers.h"

namespace rangefinder::rtdetr {
namespace {

/// The queries of one layer, and the prefix of its dump names.
struct LayerContext {
  Execution& execution;
  const Config& config;
  const Tensor& x;
  std::string prefix;  // "dec3_"

  Tensor rows(int channels) const {
    return execution.arena.tensor(execution.element, x.images, 1, x.view.width, channels);
  }
  void dump_as(const char* name, const Tensor& tensor) const { dump(execution, prefix + name, tensor); }
};

void run_self_attention(const LayerContext& context, const AttentionParameters& parameters,
                        const Tensor& with_position, const Tensor& output) {
  Execution& execution = context.execution;
  const Arena::Scope scope(execution.arena);
  const Module module(execution, "self_attn");
  const int channels = context.config.model_channels;
  const Tensor projected = context.rows(3 * channels);
  // Queries and keys from x + position, values from x.
  kernels::GemmArgs args = linear_args(execution, parameters.qkv, with_position, projected);
  args.alternate_input = context.x.view.data;
  args.alternate_from_column = 2 * channels;
  execution.backend.run(args);
  const Tensor attended = context.rows(channels);
  attend(execution, context.config.decoder_heads, projected, attended);
  const Module out(execution, "o_proj");
  apply_linear(execution, parameters.output, attended, output);
  context.dump_as("self_attn", output);
}

void sample(const LayerContext& context, const Geometry& geometry, const Selection& selection,
            const Tensor& value, const Tensor& projected, const Tensor& output) {
  Execution& execution = context.execution;
  const int heads = context.config.decoder_heads;
  kernels::DeformableAttentionArgs args;
  args.element = execution.element;
  args.images = output.images;
  args.queries = output.view.width;
  args.heads = heads;
  args.head_channels = context.config.model_channels / heads;
  args.levels = kLevels;
  args.points = kPoints;
  for (std::size_t i = 0; i < geometry.levels.size(); ++i) args.level[i] = geometry.levels[i];
  args.value = value.view.data;
  args.value_row_stride = value.view.pixel_step();
  args.value_image_stride = value.view.image_step();
  args.projected = projected.view.data;
  args.projected_row_stride = projected.view.pixel_step();
  args.reference_boxes = selection.boxes;
  args.output = output.view.data;
  const auto samples = static_cast<std::size_t>(output.rows() * heads * kLevels * kPoints);
  if (execution.dumps != nullptr) {
    args.sampling_locations = static_cast<float*>(execution.arena.allocate(2 * samples * sizeof(float)));
    args.attention_weights = static_cast<float*>(execution.arena.allocate(samples * sizeof(float)));
  }
  execution.backend.run(args, execution.deformable);
  if (execution.dumps == nullptr) return;
  execution.dumps->take(context.prefix + "sampling_locations", args.sampling_locations,
                        {args.images, args.queries, heads, kLevels, kPoints, 2});
  execution.dumps->take(context.prefix + "attention_weights", args.attention_weights,
                        {args.images, args.queries, heads, kLevels, kPoints});
}

void run_cross_attention(const LayerContext& context, const DecoderLayerParameters& parameters,
                         const Geometry& geometry, const Selection& selection, const Tensor& with_position,
                         ValueSlot& values, const Tensor& output) {
  Execution& execution = context.execution;
  const Arena::Scope scope(execution.arena);
  const Module module(execution, "encoder_attn");
  {
    const Module projection(execution, "value_proj");
    const Branch branch(execution, values.free_since);
    apply_linear(execution, parameters.value, selection.memory, values.value);
  }
  const Tensor projected = context.rows(parameters.offsets_and_weights.outputs);
  apply_linear(execution, parameters.offsets_and_weights, with_position, projected);
  const Tensor sampled = context.rows(context.config.model_channels);
  execution.backend.join_branches();
  sample(context, geometry, selection, values.value, projected, sampled);
  values.free_since = execution.backend.branch_point();
  const Module out(execution, "output_proj");
  apply_linear(execution, parameters.cross_output, sampled, output);
  context.dump_as("msda", output);
}

/// x = norm(x + update), in its own range; the dump gets the number of Hugging Face's norms.
void add_and_normalize(const LayerContext& context, const char* name, const char* dump_name, const Norm& norm,
                       const Tensor& update, const QueryPosition* position) {
  const Module module(context.execution, name);
  NormOperands operands;
  operands.residual = context.x;
  if (position != nullptr) {
    operands.position = position->position;
    operands.output_with_position = position->with_queries;
  }
  normalize(context.execution, norm, context.config.layer_norm_epsilon, update, context.x, operands);
  context.dump_as(dump_name, context.x);
}

}  // namespace

void run_decoder_layer(Execution& execution, const Config& config, const DecoderLayerParameters& parameters,
                       const Geometry& geometry, const Selection& selection, const QueryPosition& position,
                       ValueSlot& values, int number) {
  const Arena::Scope scope(execution.arena);
  const std::string name = std::to_string(number);
  const Module layer(execution, "layers." + name);
  const LayerContext context{execution, config, selection.target, "dec" + name + "_"};
  const Tensor update = context.rows(config.model_channels);

  run_self_attention(context, parameters.self_attention, position.with_queries, update);
  add_and_normalize(context, "self_attn_layer_norm", "ln1", parameters.self_attention_norm, update,
                    &position);

  run_cross_attention(context, parameters, geometry, selection, position.with_queries, values, update);
  add_and_normalize(context, "encoder_attn_layer_norm", "ln2", parameters.cross_norm, update, nullptr);

  {
    const Module mlp(execution, "mlp");
    feed_forward(execution, parameters.feed_forward, kernels::Activation::relu, context.x, update);
    context.dump_as("ffn", update);
  }
  add_and_normalize(context, "final_layer_norm", "ln3", parameters.final_norm, update, nullptr);
}

}  // namespace rangefinder::rtdetr
