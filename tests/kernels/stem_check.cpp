// SPDX-License-Identifier: Apache-2.0
#include "kernels/stem/stem.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::stem_check {
namespace {

struct Shape {
  int images, height, width, channels, slack;  // height and width of the output
};

void check_shape(Report& report, ElementType element, const Shape& shape) {
  const auto pixels = static_cast<std::size_t>(shape.images * shape.height * shape.width);
  const int step = shape.channels + shape.slack;
  std::vector<float> values = random_values(element, pixels * 4 * kernels::kPixelStride, 51);
  // The fourth element of a pixel must not count.
  for (std::size_t i = 3; i < values.size(); i += 4) values[i] = std::numeric_limits<float>::quiet_NaN();
  Operand input(element, std::move(values));
  Operand weight(element, static_cast<std::size_t>(shape.channels) * 27, 52);
  Operand bias(ElementType::fp32, static_cast<std::size_t>(shape.channels), 53);
  Result result(element, pixels * static_cast<std::size_t>(step));
  kernels::StemArgs args;
  args.element = element;
  args.images = shape.images;
  args.input = {input.device.data(), 2 * shape.height, 2 * shape.width, 3, kernels::kPixelStride, 0};
  args.weight = weight.device.data();
  args.bias = static_cast<const float*>(bias.device.data());
  args.output = {result.device.data(), shape.height, shape.width, shape.channels, step, 0};
  kernels::StemArgs host = args;
  host.element = ElementType::fp32;
  host.input.data = input.host.data();
  host.weight = weight.host.data();
  host.bias = bias.host.data();
  host.output.data = result.expected.data();
  kernels::stem_reference(host);
  const std::string name = std::string(kernels::name_of(element)) + " " + std::to_string(shape.height) + "x" +
                           std::to_string(shape.width) + "x" + std::to_string(shape.channels);
  verify(report, name, [&](cudaStream_t stream) { return kernels::launch_stem(args, stream); }, result,
         {5e-6, 1e-6 + rounding_of(element)});
}

void check_stem(Report& report) {
  const Shape shapes[] = {
      {1, 320, 320, 32, 0}, {2, 32, 40, 32, 0}, {3, 5, 17, 8, 8}, {1, 1, 1, 64, 0}, {2, 7, 33, 40, 0}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  kernels::StemArgs wrong;
  verify_refused(report, "no operands", kernels::launch_stem(wrong, nullptr));
}

const Registered registered{"stem", check_stem};

}  // namespace
}  // namespace rangefinder::kernel_checks::stem_check
