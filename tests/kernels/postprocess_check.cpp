// SPDX-License-Identifier: Apache-2.0
#include "kernels/postprocess/postprocess.h"

#include <cstring>

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::postprocess_check {
namespace {

struct Shape {
  int images, queries, labels, detections;
};

/// Labels must be equal, the rest within the tolerance.
std::string difference(const std::vector<std::byte>& bytes, const std::vector<kernels::Detection>& expected) {
  std::vector<kernels::Detection> actual(expected.size());
  std::memcpy(actual.data(), bytes.data(), bytes.size());
  std::vector<float> actual_values;
  std::vector<float> expected_values;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const kernels::Detection& a = actual[i];
    const kernels::Detection& e = expected[i];
    if (a.label != e.label) return "label " + std::to_string(i) + " is " + std::to_string(a.label);
    actual_values.insert(actual_values.end(), {a.score * 1000, a.left, a.top, a.right, a.bottom});
    expected_values.insert(expected_values.end(), {e.score * 1000, e.left, e.top, e.right, e.bottom});
  }
  return compare(actual_values, expected_values, {1e-3, 0});  // 1e-6 of a score, 1e-6 of 1000 pixels
}

void check_shape(Report& report, const Shape& shape) {
  const auto rows = static_cast<std::size_t>(shape.images * shape.queries);
  const auto count = static_cast<std::size_t>(shape.images * shape.detections);
  const int choices = shape.queries * shape.labels;
  Operand logits(ElementType::fp32, rows * static_cast<std::size_t>(shape.labels), 111);
  Operand boxes(ElementType::fp32, rows * 4, 112);
  std::vector<std::int32_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<std::int32_t>(i * 37) % choices;
  indices.back() = choices;
  std::vector<kernels::ImageSize> sizes;
  for (int i = 0; i < shape.images; ++i) sizes.push_back({480.0F + static_cast<float>(i), 640.0F});
  GuardedBuffer device_indices(count * sizeof(std::int32_t));
  GuardedBuffer device_sizes(sizes.size() * sizeof(kernels::ImageSize));
  device_indices.upload(indices.data(), device_indices.bytes());
  device_sizes.upload(sizes.data(), device_sizes.bytes());
  GuardedBuffer output(count * sizeof(kernels::Detection));
  std::vector<kernels::Detection> expected(count);
  const kernels::PostprocessArgs host{shape.images,     shape.queries,      shape.labels,
                                      shape.detections, logits.host.data(), boxes.host.data(),
                                      indices.data(),   sizes.data(),       expected.data()};
  kernels::postprocess_reference(host);
  kernels::PostprocessArgs args = host;
  args.logits = static_cast<const float*>(logits.device.data());
  args.boxes = static_cast<const float*>(boxes.device.data());
  args.indices = static_cast<const std::int32_t*>(device_indices.data());
  args.image_sizes = static_cast<const kernels::ImageSize*>(device_sizes.data());
  args.output = static_cast<kernels::Detection*>(output.data());
  verify(
      report, std::to_string(shape.images) + "x" + std::to_string(shape.detections),
      [&](cudaStream_t stream) { return kernels::launch_postprocess(args, stream); }, {&output},
      [&] { return difference(output.content(), expected); });
}

void check_postprocess(Report& report) {
  for (const Shape& shape : {Shape{1, 300, 80, 300}, Shape{3, 64, 7, 65}, Shape{1, 1, 1, 1}})
    check_shape(report, shape);
  verify_refused(report, "no queries", kernels::launch_postprocess({}, nullptr));
}

const Registered registered{"postprocess", check_postprocess};

}  // namespace
}  // namespace rangefinder::kernel_checks::postprocess_check
