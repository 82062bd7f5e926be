// SPDX-License-Identifier: Apache-2.0
#include "kernels/preprocess/preprocess.h"

#include "kernels/stem/stem.h"
#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::preprocess_check {
namespace {

struct Shape {
  int source_height, source_width, target_height, target_width;
};

void check_shape(Report& report, ElementType element, const Shape& shape) {
  std::vector<std::uint8_t> image(static_cast<std::size_t>(shape.source_height * shape.source_width * 3));
  std::mt19937 generator(101);
  for (std::uint8_t& byte : image) byte = static_cast<std::uint8_t>(generator());
  GuardedBuffer device_image(image.size());
  device_image.upload(image.data(), image.size());
  Result result(element,
                static_cast<std::size_t>(shape.target_height * shape.target_width * kernels::kPixelStride));
  kernels::PreprocessArgs args;
  args.element = element;
  args.source_height = shape.source_height;
  args.source_width = shape.source_width;
  args.target_height = shape.target_height;
  args.target_width = shape.target_width;
  GuardedBuffer workspace(kernels::preprocess_workspace_bytes(args));
  kernels::PreprocessArgs host = args;
  host.image = image.data();
  host.output = result.expected.data();
  kernels::preprocess_reference(host);
  args.image = static_cast<const std::uint8_t*>(device_image.data());
  args.workspace = static_cast<std::uint8_t*>(workspace.data());
  args.output = result.device.data();
  const std::string name = std::string(kernels::name_of(element)) + " from " +
                           std::to_string(shape.source_height) + "x" + std::to_string(shape.source_width);
  // The bytes are exact. The error comes from the division by 255 and its rounding to the type.
  verify(report, name, [&](cudaStream_t stream) { return kernels::launch_preprocess(args, stream); }, result,
         {0, 1.2e-7 + rounding_of(element)});
  if (!workspace.guards_are_intact()) report.fail(name, "bytes outside the workspace were written");
}

void check_preprocess(Report& report) {
  const Shape shapes[] = {{480, 640, 640, 640}, {1080, 1920, 640, 640}, {640, 640, 640, 640},
                          {1, 1, 32, 64},       {333, 77, 128, 160},    {2000, 3, 32, 32}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  verify_refused(report, "empty image", kernels::launch_preprocess({}, nullptr));
}

const Registered registered{"preprocess", check_preprocess};

}  // namespace
}  // namespace rangefinder::kernel_checks::preprocess_check
