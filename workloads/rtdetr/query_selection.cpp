// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/query_selection.h"

#include "kernels/box_refinement/box_refinement.h"
#include "workloads/rtdetr/config.h"
#include "workloads/rtdetr/layers.h"

namespace rangefinder::rtdetr {
namespace {

template <typename Value>
Value* allocate(Execution& execution, std::int64_t count) {
  return static_cast<Value*>(execution.arena.allocate(static_cast<std::size_t>(count) * sizeof(Value)));
}

template <typename Value>
void dump_rows(Execution& execution, std::string_view name, const Value* data,
               const std::vector<std::int64_t>& dimensions) {
  if (execution.dumps != nullptr) execution.dumps->take(name, data, dimensions);
}

void project_levels(Execution& execution, const SelectionParameters& parameters, const Geometry& geometry,
                    const FeatureMaps& encoder_maps, const Tensor& memory) {
  for (std::size_t i = 0; i < encoder_maps.size(); ++i) {
    const kernels::FeatureLevel& level = geometry.levels[i];
    const Module module(execution, "decoder_input_proj." + std::to_string(i));
    convolve(execution, parameters.input_projections[i], encoder_maps[i],
             memory.level(level.start, level.height, level.width), kernels::Activation::none);
  }
  dump(execution, "source_flatten", memory);
}

/// output_memory: positions with invalid anchors count as zeros in the input of the linear layer.
void run_output_layer(Execution& execution, const Config& config, const SelectionParameters& parameters,
                      const Geometry& geometry, const Tensor& memory, const Tensor& output) {
  const Module module(execution, "enc_output");
  {
    const Module linear(execution, "0");
    kernels::GemmArgs args = linear_args(execution, parameters.output, memory, output);
    args.row_valid = geometry.valid;
    args.row_valid_period = geometry.positions;
    execution.backend.run(args);
  }
  const Module norm(execution, "1");
  normalize(execution, parameters.output_norm, config.layer_norm_epsilon, output, output);
  dump(execution, "output_memory", output);
}

/// Positions of the best scores, best first.
void choose(Execution& execution, const Config& config, const Geometry& geometry, const float* scores,
            int images, std::int32_t* indices) {
  const Module module(execution, "top_k");
  kernels::TopKArgs args;
  args.images = images;
  args.rows = geometry.positions;
  args.columns = config.labels;
  args.k = config.queries;
  args.scores = scores;
  args.indices = indices;
  execution.backend.run(args);
}

void gather_rows(Execution& execution, const Tensor& source, const std::int32_t* indices,
                 const Tensor& target) {
  kernels::GatherArgs args;
  args.images = source.images;
  args.source_rows = static_cast<int>(source.view.pixels());
  args.gathered_rows = static_cast<int>(target.view.pixels());
  args.row_bytes = source.view.channels * static_cast<int>(kernels::element_bytes(source.element));
  args.source = source.view.data;
  args.indices = indices;
  args.output = target.view.data;
  execution.backend.run(args);
}

/// Boxes of the selected positions: the head's output added to their anchors.
void run_box_head(Execution& execution, const SelectionParameters& parameters, const Geometry& geometry,
                  const Selection& selection) {
  const Arena::Scope scope(execution.arena);
  const Module module(execution, "enc_bbox_head");
  const std::int64_t rows = selection.target.rows();
  float* const delta = allocate<float>(execution, rows * kBoxValues);
  float* const logits = allocate<float>(execution, rows * kBoxValues);
  apply_mlp_fp32(execution, parameters.box_head, selection.target, delta);
  kernels::BoxRefinementArgs args;
  args.element = execution.element;
  args.images = selection.target.images;
  args.queries = static_cast<int>(selection.target.view.pixels());
  args.delta = delta;
  args.anchors = geometry.anchors;
  args.anchor_rows = geometry.positions;
  args.indices = selection.chosen;
  args.boxes = selection.boxes;
  args.logits = execution.dumps != nullptr ? logits : nullptr;
  args.query_input = selection.query_input.view.data;
  execution.backend.run(args);
  dump_rows(execution, "init_reference_points", logits, {args.images, args.queries, kBoxValues});
}

}  // namespace

Selection run_query_selection(Execution& execution, const Config& config,
                              const SelectionParameters& parameters, const Geometry& geometry,
                              const FeatureMaps& encoder_maps, const Tensor& target,
                              const std::int32_t* forced_indices) {
  const int images = target.images;
  const std::int64_t rows = target.rows();
  Selection selection;
  selection.target = target;
  selection.memory =
      execution.arena.tensor(execution.element, images, 1, geometry.positions, config.model_channels);
  auto* const indices = allocate<std::int32_t>(execution, rows);
  selection.boxes = allocate<float>(execution, rows * kBoxValues);
  selection.query_input =
      execution.arena.tensor(execution.element, images, 1, config.queries, kernels::kQueryInputColumns);
  for (ValueSlot& slot : selection.values)
    slot.value =
        execution.arena.tensor(execution.element, images, 1, geometry.positions, config.model_channels);

  const Arena::Scope scope(execution.arena);
  project_levels(execution, parameters, geometry, encoder_maps, selection.memory);
  for (ValueSlot& slot : selection.values) slot.free_since = execution.backend.branch_point();
  const Tensor output_memory =
      execution.arena.tensor(execution.element, images, 1, geometry.positions, config.model_channels);
  run_output_layer(execution, config, parameters, geometry, selection.memory, output_memory);
  float* const scores = allocate<float>(execution, output_memory.rows() * config.labels);
  {
    const Module module(execution, "enc_score_head");
    apply_linear_fp32(execution, parameters.score_head, output_memory, scores);
    dump_rows(execution, "enc_outputs_class", scores, {images, geometry.positions, config.labels});
  }
  choose(execution, config, geometry, scores, images, indices);
  dump_rows(execution, "topk_ind", indices, {images, config.queries});
  // After the selection, which always runs: the work equals that of an ordinary pass.
  selection.chosen = forced_indices != nullptr ? forced_indices : indices;
  {
    const Module module(execution, "gather");
    gather_rows(execution, output_memory, selection.chosen, selection.target);
    dump(execution, "target", selection.target);
  }
  run_box_head(execution, parameters, geometry, selection);
  return selection;
}

}  // namespace rangefinder::rtdetr
