// SPDX-License-Identifier: Apache-2.0
#include "kernels/pooling/pooling.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::pooling_check {
namespace {

struct Shape {
  int images, height, width, channels;  // of the output
  int input_slack, output_slack;        // elements between the pixels of a slice
};

void check_shape(Report& report, ElementType element, const Shape& shape, bool is_maximum) {
  const int input_step = shape.channels + shape.input_slack;
  const int output_step = shape.channels + shape.output_slack;
  const auto pixels = static_cast<std::size_t>(shape.images * shape.height * shape.width);
  Operand input(element, pixels * 4 * static_cast<std::size_t>(input_step), 11);
  if (element != ElementType::bf16) {  // a NaN in one window, -inf in all of another
    input.host[0] = std::numeric_limits<float>::quiet_NaN();
    input.device.upload_floats(element, input.host);
  }
  Result result(element, pixels * static_cast<std::size_t>(output_step));
  kernels::PoolArgs args;
  args.element = element;
  args.images = shape.images;
  args.input = {input.device.data(), 2 * shape.height, 2 * shape.width, shape.channels, input_step, 0};
  args.output = {result.device.data(), shape.height, shape.width, shape.channels, output_step, 0};
  kernels::PoolArgs host = args;
  host.element = ElementType::fp32;
  host.input.data = input.host.data();
  host.output.data = result.expected.data();
  (is_maximum ? kernels::max_pool_reference : kernels::average_pool_reference)(host);
  const auto launch = is_maximum ? kernels::launch_max_pool : kernels::launch_average_pool;
  const double bound = is_maximum ? 0 : rounding_of(element) + 1e-7;
  verify(report,
         std::string(is_maximum ? "max " : "average ") + kernels::name_of(element) + " " +
             std::to_string(shape.height) + "x" + std::to_string(shape.width) + "x" +
             std::to_string(shape.channels),
         [&](cudaStream_t stream) { return launch(args, stream); }, result, {is_maximum ? 0 : 1e-7, bound});
}

void check_pooling(Report& report) {
  const Shape shapes[] = {
      {1, 160, 160, 64, 0, 0}, {2, 5, 7, 8, 0, 0}, {3, 1, 1, 16, 8, 24}, {1, 20, 12, 512, 0, 8}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes)
      for (const bool is_maximum : {true, false}) check_shape(report, element, shape, is_maximum);
  kernels::PoolArgs odd;
  odd.images = 1;
  odd.input = {reinterpret_cast<const void*>(16), 5, 4, 8, 0, 0};
  odd.output = {reinterpret_cast<void*>(16), 2, 2, 8, 0, 0};
  verify_refused(report, "odd height", kernels::launch_max_pool(odd, nullptr));
}

const Registered registered{"pooling", check_pooling};

}  // namespace
}  // namespace rangefinder::kernel_checks::pooling_check
