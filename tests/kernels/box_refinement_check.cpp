// SPDX-License-Identifier: Apache-2.0
#include "kernels/box_refinement/box_refinement.h"

#include <cfloat>

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::box_refinement_check {
namespace {

constexpr int kAnchorRows = 50;

/// Boxes in 0..1, including both ends.
std::vector<float> some_boxes(std::size_t count) {
  std::vector<float> boxes = random_values(ElementType::fp32, count, 62);
  for (float& value : boxes) value = value * 0.5F + 0.5F;
  boxes.front() = 0;
  boxes.back() = 1;
  return boxes;
}

std::vector<float> some_anchors() {
  std::vector<float> anchors = random_values(ElementType::fp32, kAnchorRows * 4, 63);
  for (float& value : anchors) value *= 5;
  for (std::size_t i = 0; i < 4; ++i) anchors[i] = FLT_MAX;  // an invalid anchor
  return anchors;
}

void check_case(Report& report, ElementType element, int images, int queries, bool has_anchors) {
  const auto rows = static_cast<std::size_t>(images * queries);
  Operand delta(ElementType::fp32, rows * 4, 61);
  Operand previous(ElementType::fp32, some_boxes(rows * 4));
  Operand anchors(ElementType::fp32, some_anchors());
  std::vector<std::int32_t> indices(rows);
  for (std::size_t i = 0; i < rows; ++i) indices[i] = static_cast<std::int32_t>(i * 7 % (kAnchorRows + 1));
  GuardedBuffer device_indices(rows * 4);
  device_indices.upload(indices.data(), rows * 4);
  Result boxes(ElementType::fp32, rows * 4);
  Result logits(ElementType::fp32, rows * 4);
  Result input(element, rows * kernels::kQueryInputColumns);
  const auto floats = [](const GuardedBuffer& buffer) { return static_cast<float*>(buffer.data()); };
  kernels::BoxRefinementArgs args{element,
                                  images,
                                  queries,
                                  floats(delta.device),
                                  has_anchors ? nullptr : floats(previous.device),
                                  has_anchors ? floats(anchors.device) : nullptr,
                                  kAnchorRows,
                                  static_cast<const std::int32_t*>(device_indices.data()),
                                  floats(boxes.device),
                                  floats(logits.device),
                                  input.device.data()};
  kernels::BoxRefinementArgs host = args;
  host.delta = delta.host.data();
  host.previous = has_anchors ? nullptr : previous.host.data();
  host.anchors = has_anchors ? anchors.host.data() : nullptr;
  host.indices = indices.data();
  host.boxes = boxes.expected.data();
  host.logits = logits.expected.data();
  host.query_input = input.expected.data();
  kernels::box_refinement_reference(host);
  const std::string name = std::string(kernels::name_of(element)) + (has_anchors ? " anchors" : " previous");
  verify(
      report, name, [&](cudaStream_t stream) { return kernels::launch_box_refinement(args, stream); },
      {&boxes.device, &logits.device, &input.device},
      [&] {
        std::string wrong =
            compare(boxes.device.floats(ElementType::fp32, rows * 4), boxes.expected, {1e-6, 0});
        if (wrong.empty())
          wrong = compare(logits.device.floats(ElementType::fp32, rows * 4), logits.expected, {1e-5, 1e-6});
        if (wrong.empty())
          wrong = compare(input.device.floats(element, input.expected.size()), input.expected,
                          {1e-6, rounding_of(element)});
        return wrong;
      });
}

void check_box_refinement(Report& report) {
  for (const ElementType element : kAllElements)
    for (const bool has_anchors : {false, true}) {
      check_case(report, element, 1, 300, has_anchors);
      check_case(report, element, 3, 17, has_anchors);
    }
  kernels::BoxRefinementArgs wrong;
  verify_refused(report, "neither anchors nor previous", kernels::launch_box_refinement(wrong, nullptr));
}

const Registered registered{"box_refinement", check_box_refinement};

}  // namespace
}  // namespace rangefinder::kernel_checks::box_refinement_check
