// SPDX-License-Identifier: Apache-2.0
#include "kernels/upsample_concat/upsample_concat.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::upsample_concat_check {
namespace {

struct Shape {
  int images, height, width, coarse_channels, fine_channels, slack;
};

void check_shape(Report& report, ElementType element, const Shape& shape) {
  const int coarse_step = shape.coarse_channels + shape.slack;
  const int fine_step = shape.fine_channels + 2 * shape.slack;
  const int channels = shape.coarse_channels + shape.fine_channels;
  const auto pixels = static_cast<std::size_t>(shape.images * shape.height * shape.width);
  Operand coarse(element, pixels / 4 * static_cast<std::size_t>(coarse_step), 21);
  Operand fine(element, pixels * static_cast<std::size_t>(fine_step), 22);
  Result result(element, pixels * static_cast<std::size_t>(channels + shape.slack));
  kernels::UpsampleConcatArgs args;
  args.element = element;
  args.images = shape.images;
  args.coarse = {coarse.device.data(),  shape.height / 2, shape.width / 2,
                 shape.coarse_channels, coarse_step,      0};
  args.fine = {fine.device.data(), shape.height, shape.width, shape.fine_channels, fine_step, 0};
  args.output = {result.device.data(), shape.height, shape.width, channels, channels + shape.slack, 0};
  kernels::UpsampleConcatArgs host = args;
  host.element = ElementType::fp32;
  host.coarse.data = coarse.host.data();
  host.fine.data = fine.host.data();
  host.output.data = result.expected.data();
  kernels::upsample_concat_reference(host);
  verify(report, std::string(kernels::name_of(element)) + " " + std::to_string(channels),
         [&](cudaStream_t stream) { return kernels::launch_upsample_concat(args, stream); }, result, {0, 0});
}

void check_upsample_concat(Report& report) {
  const Shape shapes[] = {{1, 80, 80, 256, 256, 0}, {2, 4, 6, 8, 24, 8}, {3, 2, 2, 16, 8, 0}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  kernels::UpsampleConcatArgs wrong;
  wrong.images = 1;
  wrong.coarse = {reinterpret_cast<const void*>(16), 2, 2, 8, 0, 0};
  wrong.fine = {reinterpret_cast<const void*>(16), 4, 4, 8, 0, 0};
  wrong.output = {reinterpret_cast<void*>(16), 4, 4, 24, 0, 0};
  verify_refused(report, "channels", kernels::launch_upsample_concat(wrong, nullptr));
}

const Registered registered{"upsample_concat", check_upsample_concat};

}  // namespace
}  // namespace rangefinder::kernel_checks::upsample_concat_check
