// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include <cmath>

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::attention_check {
namespace {

struct Shape {
  int images, heads, queries, keys, head_channels;
  float sharpness;  // times 1 / sqrt(head_channels); large: one key has nearly all the weight
};

/// q, k and v as columns of a wider row, as a joined projection gives them.
struct Case {
  Case(ElementType type, const Shape& shape)
      : element(type),
        width(shape.heads * shape.head_channels),
        query(type, count_of(shape.images, shape.queries), 81),
        key_value(type, 2 * count_of(shape.images, shape.keys), 82),
        output(type, static_cast<std::size_t>(shape.images * shape.queries * width)) {
    args.element = type;
    args.images = shape.images;
    args.heads = shape.heads;
    args.head_channels = shape.head_channels;
    args.queries = shape.queries;
    args.keys = shape.keys;
    args.scale = shape.sharpness / std::sqrt(static_cast<float>(shape.head_channels));
    place(args, query.device.data(), key_value.device.data(), kernels::element_bytes(type));
    args.output = output.device.data();
    kernels::AttentionArgs host = args;
    host.element = ElementType::fp32;
    place(host, query.host.data(), key_value.host.data(), sizeof(float));
    host.output = output.expected.data();
    kernels::attention_reference(host);
  }

  std::size_t count_of(int images, int rows) const {
    return static_cast<std::size_t>(images * rows * (width + 16));
  }

  void place(kernels::AttentionArgs& to, const void* queries, const void* keys, std::size_t bytes) const {
    const std::int64_t step = width + 16;
    to.query = {queries, step, step * to.queries};
    to.key = {keys, 2 * step, 2 * step * to.keys};
    to.value = {static_cast<const std::byte*>(keys) + static_cast<std::size_t>(step) * bytes, 2 * step,
                2 * step * to.keys};
  }

  ElementType element;
  int width;
  Operand query, key_value;
  Result output;
  kernels::AttentionArgs args;
};

/// Values are up to 1. Unfused variants round scores and probabilities to the type in between.
Tolerance tolerance_of(ElementType element, bool is_fused) {
  switch (element) {
    case ElementType::fp16:
      return {is_fused ? 1e-3 : 2e-3, 0};
    case ElementType::bf16:
      return {is_fused ? 8e-3 : 1.6e-2, 0};
    default:
      return {5e-6, 0};
  }
}

void check_shape(Report& report, ElementType element, const Shape& shape) {
  Case c(element, shape);
  const std::string name = std::string(kernels::name_of(element)) + " " + std::to_string(shape.images) + "x" +
                           std::to_string(shape.heads) + "x" + std::to_string(shape.queries) + "x" +
                           std::to_string(shape.keys) + "x" + std::to_string(shape.head_channels);
  verify(
      report, "fused " + name, [&](cudaStream_t stream) { return kernels::launch_attention(c.args, stream); },
      c.output, tolerance_of(element, true));
  if (shape.sharpness != 1.0F) return;  // rounded scores of 20 would test nothing
  GuardedBuffer scores(kernels::attention_scores_bytes(c.args));
  GuardedBuffer probabilities(kernels::attention_scores_bytes(c.args));
  c.args.scores = scores.data();
  c.args.probabilities = probabilities.data();
  poison(c.output.device);
  verify(
      report, "unfused " + name,
      [&](cudaStream_t stream) { return kernels::launch_attention_unfused(c.args, stream); }, c.output,
      tolerance_of(element, false));
  if (!scores.guards_are_intact() || !probabilities.guards_are_intact())
    report.fail("unfused " + name, "bytes outside the scores were written");
}

void check_attention(Report& report) {
  const Shape shapes[] = {{1, 8, 400, 400, 32, 1}, {2, 8, 300, 300, 32, 1}, {1, 8, 400, 400, 48, 1},
                          {1, 2, 1, 1, 32, 1},     {1, 1, 17, 33, 32, 6},   {2, 3, 64, 15, 48, 6},
                          {1, 2, 50, 1000, 32, 1}, {1, 1, 3, 449, 48, 6},   {9, 8, 130, 140, 32, 6},
                          {9, 8, 113, 470, 48, 1}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  kernels::AttentionArgs wrong;
  wrong.heads = 8;
  verify_refused(report, "no keys", kernels::launch_attention(wrong, nullptr));
}

const Registered registered{"attention", check_attention};

}  // namespace
}  // namespace rangefinder::kernel_checks::attention_check
