// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/decoder.h"

#include <optional>

#include "kernels/box_refinement/box_refinement.h"
#include "workloads/rtdetr/decoder_layer.h"
#include "workloads/rtdetr/layers.h"

namespace rangefinder::rtdetr {
namespace {

/// position = query_pos_head(boxes), and x + position. One launch with two batches of the same input and
/// weight; their residuals are the zeros before x, and x.
QueryPosition run_query_position(Execution& execution, const Mlp& layers, const Selection& selection,
                                 const Tensor& both) {
  const Arena::Scope scope(execution.arena);
  const Module module(execution, "query_pos_head");
  const Tensor& x = selection.target;
  const Tensor hidden =
      execution.arena.tensor(execution.element, x.images, 1, x.view.width, layers[0].outputs);
  {
    const Module first(execution, "layers.0");
    apply_linear(execution, layers[0], selection.query_input, hidden, kernels::Activation::relu);
  }
  const Module second(execution, "layers.1");
  const std::int64_t elements = x.rows() * x.view.channels;
  const auto bytes = elements * static_cast<std::int64_t>(kernels::element_bytes(x.element));
  kernels::GemmArgs args = linear_args(execution, layers[1], hidden, both);
  args.batches = 2;
  args.residual = static_cast<const std::byte*>(x.view.data) - bytes;
  args.residual_row_stride = x.view.channels;
  args.residual_batch_stride = elements;
  args.output_batch_stride = elements;
  execution.backend.run(args);
  QueryPosition made{x, x};
  made.position.view.data = both.view.data;
  made.with_queries.view.data = static_cast<std::byte*>(both.view.data) + bytes;
  return made;
}

void refine_boxes(Execution& execution, const Mlp& head, int layer, bool is_last,
                  const Selection& selection) {
  const Arena::Scope scope(execution.arena);
  const Module module(execution, "bbox_embed." + std::to_string(layer));
  const Tensor& x = selection.target;
  auto* const delta = static_cast<float*>(
      execution.arena.allocate(static_cast<std::size_t>(x.rows()) * kBoxValues * sizeof(float)));
  apply_mlp_fp32(execution, head, x, delta);
  kernels::BoxRefinementArgs args;
  args.element = execution.element;
  args.images = x.images;
  args.queries = x.view.width;
  args.delta = delta;
  args.previous = selection.boxes;
  args.boxes = selection.boxes;
  args.query_input = is_last ? nullptr : selection.query_input.view.data;
  execution.backend.run(args);
  if (execution.dumps != nullptr)
    execution.dumps->take("dec" + std::to_string(layer) + "_ref", selection.boxes,
                          {x.images, x.view.width, kBoxValues});
}

}  // namespace

Predictions run_decoder(Execution& execution, const Config& config, const DecoderParameters& parameters,
                        const Geometry& geometry, const Selection& selection) {
  const Tensor& x = selection.target;
  Predictions predictions{};
  predictions.boxes = selection.boxes;
  predictions.logits = static_cast<float*>(
      execution.arena.allocate(static_cast<std::size_t>(x.rows() * config.labels) * sizeof(float)));

  const Arena::Scope scope(execution.arena);
  const Module decoder(execution, "decoder");
  const Tensor both =
      execution.arena.tensor(execution.element, 2 * x.images, 1, x.view.width, x.view.channels);
  std::array<ValueSlot, 2> values = selection.values;
  const int layers = static_cast<int>(parameters.layers.size());
  for (int i = 0; i < layers; ++i) {
    const DecoderLayerParameters& layer = parameters.layers[static_cast<std::size_t>(i)];
    const QueryPosition position = run_query_position(execution, parameters.query_position, selection, both);
    dump(execution, "dec" + std::to_string(i) + "_pos", position.position);
    run_decoder_layer(execution, config, layer, geometry, selection, position,
                      values[static_cast<std::size_t>(i) % values.size()], i);
    // Only the detections need the last boxes: they are a branch, concurrent with the scores.
    std::optional<Branch> branch;
    if (i + 1 == layers) branch.emplace(execution, execution.backend.branch_point());
    refine_boxes(execution, layer.box_head, i, i + 1 == layers, selection);
  }
  const Module head(execution, "class_embed." + std::to_string(layers - 1));
  apply_linear_fp32(execution, parameters.class_head, x, predictions.logits);
  if (execution.dumps != nullptr) {
    execution.dumps->take("logits", predictions.logits, {x.images, config.queries, config.labels});
    execution.dumps->take("pred_boxes", predictions.boxes, {x.images, config.queries, kBoxValues});
  }
  return predictions;
}

}  // namespace rangefinder::rtdetr
