// SPDX-License-Identifier: Apache-2.0
#include "kernels/deformable_attention/deformable_attention.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::deformable_attention_check {
namespace {

struct Shape {
  int images, queries, heads, levels, points;
  int height, width;  // of the finest level
  float reach;        // of offsets: large ones leave the map
};

struct Case {
  Case(ElementType type, const Shape& shape)
      : element(type),
        positions(set_levels(shape)),
        samples(static_cast<std::size_t>(shape.images * shape.queries * shape.heads * shape.levels *
                                         shape.points)),
        projected_step(shape.heads * shape.levels * shape.points * 3 + 5),
        value(type, static_cast<std::size_t>(shape.images * positions * value_step(shape)), 91),
        projected(type, some_projected(shape)),
        boxes(ElementType::fp32, some_boxes(static_cast<std::size_t>(shape.images * shape.queries) * 4)),
        output(type, static_cast<std::size_t>(shape.images * shape.queries * shape.heads * 32)),
        locations(ElementType::fp32, samples * 2),
        weights(ElementType::fp32, samples) {
    args.element = type;
    args.images = shape.images;
    args.queries = shape.queries;
    args.heads = shape.heads;
    args.points = shape.points;
    args.value = value.device.data();
    args.value_row_stride = value_step(shape);
    args.value_image_stride = std::int64_t{positions} * value_step(shape);
    args.projected = projected.device.data();
    args.projected_row_stride = projected_step;
    args.reference_boxes = static_cast<const float*>(boxes.device.data());
    args.output = output.device.data();
    args.sampling_locations = static_cast<float*>(locations.device.data());
    args.attention_weights = static_cast<float*>(weights.device.data());
    run_reference();
  }

  static int value_step(const Shape& shape) { return shape.heads * 32 + 64; }

  /// Each level has half the size of the previous one, as in the network.
  int set_levels(const Shape& shape) {
    args.levels = shape.levels;
    int start = 3;  // positions that belong to no level
    for (int l = 0; l < shape.levels; ++l) {
      const kernels::FeatureLevel level{std::max(shape.height >> l, 1), std::max(shape.width >> l, 1), start};
      args.level[static_cast<std::size_t>(l)] = level;
      start += level.height * level.width;
    }
    return start;
  }

  std::vector<float> some_projected(const Shape& shape) const {
    std::vector<float> row =
        random_values(element, static_cast<std::size_t>(shape.images * shape.queries * projected_step), 92);
    for (float& projection : row) projection = kernels::rounded_to(element, projection * shape.reach);
    return row;
  }

  static std::vector<float> some_boxes(std::size_t count) {
    std::vector<float> boxes = random_values(ElementType::fp32, count, 93);
    for (float& box : boxes) box = box * 0.5F + 0.5F;
    return boxes;
  }

  void run_reference() {
    kernels::DeformableAttentionArgs host = args;
    host.element = ElementType::fp32;
    host.value = value.host.data();
    host.projected = projected.host.data();
    host.reference_boxes = boxes.host.data();
    host.output = output.expected.data();
    host.sampling_locations = locations.expected.data();
    host.attention_weights = weights.expected.data();
    kernels::deformable_attention_reference(host);
  }

  std::string difference(Tolerance tolerance) const {
    std::string wrong =
        compare(output.device.floats(element, output.expected.size()), output.expected, tolerance);
    if (wrong.empty())
      wrong =
          compare(locations.device.floats(ElementType::fp32, samples * 2), locations.expected, {1e-6, 1e-6});
    if (wrong.empty())
      wrong = compare(weights.device.floats(ElementType::fp32, samples), weights.expected, {2e-6, 0});
    return wrong;
  }

  kernels::DeformableAttentionArgs args;
  ElementType element;
  int positions;
  std::size_t samples;
  int projected_step;
  Operand value, projected, boxes;
  Result output, locations, weights;
};

/// The error of a location in fp32 is up to 1e-7 of the map. A sample's error is that times the slope of
/// random values: 2 per pixel. Unfused variants round samples and products to the type.
Tolerance tolerance_of(ElementType element, bool is_fused) {
  const double rounding = rounding_of(element);
  return {5e-5 + (is_fused ? 0.0 : 2 * rounding), rounding};
}

void check_shape(Report& report, ElementType element, const Shape& shape) {
  Case c(element, shape);
  const std::string name = std::string(kernels::name_of(element)) + " " + std::to_string(shape.images) + "x" +
                           std::to_string(shape.queries) + "x" + std::to_string(shape.heads) + " L" +
                           std::to_string(shape.levels) + " P" + std::to_string(shape.points);
  const std::vector<GuardedBuffer*> outputs = {&c.output.device, &c.locations.device, &c.weights.device};
  verify(
      report, "fused " + name,
      [&](cudaStream_t stream) { return kernels::launch_deformable_attention(c.args, stream); }, outputs,
      [&] { return c.difference(tolerance_of(element, true)); });
  for (GuardedBuffer* const output : outputs) poison(*output);
  GuardedBuffer workspace(kernels::deformable_attention_unfused_bytes(c.args));
  c.args.workspace = workspace.data();
  verify(
      report, "unfused " + name,
      [&](cudaStream_t stream) { return kernels::launch_deformable_attention_unfused(c.args, stream); },
      outputs, [&] { return c.difference(tolerance_of(element, false)); });
  if (!workspace.guards_are_intact())
    report.fail("unfused " + name, "bytes outside the workspace were written");
}

void check_deformable_attention(Report& report) {
  const Shape shapes[] = {{1, 300, 8, 3, 4, 80, 80, 4},
                          {2, 37, 8, 3, 4, 64, 96, 20},
                          {3, 5, 2, 1, 1, 7, 3, 1},
                          {1, 9, 3, 4, 4, 16, 24, 8},
                          {1, 1, 1, 2, 3, 1, 1, 40}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  kernels::DeformableAttentionArgs wrong;
  wrong.heads = wrong.points = 1;
  wrong.levels = kernels::kMaxLevels + 1;
  verify_refused(report, "five levels", kernels::launch_deformable_attention(wrong, nullptr));
}

const Registered registered{"deformable_attention", check_deformable_attention};

}  // namespace
}  // namespace rangefinder::kernel_checks::deformable_attention_check
