// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_norm/layer_norm.h"

#include "tests/kernels/output_check.h"

namespace rangefinder::kernel_checks::layer_norm_check {
namespace {

struct Shape {
  int rows, channels;
  bool has_residual;
  int position_rows;  // 0: no position
  float shift;        // of all inputs: makes the mean much larger than the deviation
};

struct Case {
  Case(ElementType type, const Shape& shape)
      : element(type),
        count(static_cast<std::size_t>(shape.rows * shape.channels)),
        input(type, shifted(type, count, shape.shift)),
        residual(type, count, 42),
        gamma(ElementType::fp32, static_cast<std::size_t>(shape.channels), 43),
        beta(ElementType::fp32, static_cast<std::size_t>(shape.channels), 44),
        position(type, static_cast<std::size_t>((shape.position_rows + 1) * shape.channels), 45),
        output(type, count),
        with_position(type, count) {
    args.element = type;
    args.rows = shape.rows;
    args.channels = shape.channels;
    args.input = input.device.data();
    if (shape.has_residual) args.residual = residual.device.data();
    args.gamma = static_cast<const float*>(gamma.device.data());
    args.beta = static_cast<const float*>(beta.device.data());
    args.output = output.device.data();
    if (shape.position_rows != 0) {
      args.position = position.device.data();
      args.position_rows = shape.position_rows;
      args.output_with_position = with_position.device.data();
    }
  }

  static std::vector<float> shifted(ElementType element, std::size_t count, float shift) {
    std::vector<float> values = random_values(element, count, 41);
    for (float& value : values) value = kernels::rounded_to(element, value + shift);
    return values;
  }

  void run_reference() {
    kernels::LayerNormArgs host = args;
    host.element = ElementType::fp32;
    host.input = input.host.data();
    if (host.residual != nullptr) host.residual = residual.host.data();
    host.gamma = gamma.host.data();
    host.beta = beta.host.data();
    host.output = output.expected.data();
    if (host.position != nullptr) {
      host.position = position.host.data();
      host.output_with_position = with_position.expected.data();
    }
    kernels::layer_norm_reference(host);
  }

  ElementType element;
  std::size_t count;
  Operand input, residual, gamma, beta, position;
  Result output, with_position;
  kernels::LayerNormArgs args;
};

void check_shape(Report& report, ElementType element, const Shape& shape) {
  Case c(element, shape);
  c.run_reference();
  // Adjacent fp32 values near 100 differ by 8e-6, and their mean has the same error.
  const Tolerance tolerance{4e-6 * (1 + static_cast<double>(shape.shift)), 2e-6 + rounding_of(element)};
  const std::string name = std::string(kernels::name_of(element)) + " " + std::to_string(shape.rows) + "x" +
                           std::to_string(shape.channels);
  verify(
      report, name, [&](cudaStream_t stream) { return kernels::launch_layer_norm(c.args, stream); },
      {&c.output.device, &c.with_position.device},
      [&] {
        std::string wrong = compare(c.output.device.floats(element, c.count), c.output.expected, tolerance);
        if (wrong.empty())
          wrong =
              compare(c.with_position.device.floats(element, c.count), c.with_position.expected, tolerance);
        return wrong;
      });
}

void check_in_place(Report& report) {
  Case c(ElementType::fp16, {300, 256, true, 0, 0});
  c.run_reference();
  c.args.output = c.residual.device.data();
  if (kernels::launch_layer_norm(c.args, nullptr) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
    return report.fail("in place", "launch");
  const std::string wrong = compare(c.residual.device.floats(ElementType::fp16, c.count), c.output.expected,
                                    {4e-6, 2e-6 + rounding_of(ElementType::fp16)});
  wrong.empty() ? report.pass() : report.fail("in place", wrong);
}

void check_layer_norm(Report& report) {
  const Shape shapes[] = {{300, 256, true, 300, 0}, {800, 256, true, 400, 0}, {8400, 256, false, 0, 0},
                          {7, 384, true, 7, 0},     {1, 32, false, 0, 0},     {33, 1024, true, 5, 0},
                          {5, 96, false, 2, 0},     {64, 512, false, 0, 100}};
  for (const ElementType element : kAllElements)
    for (const Shape& shape : shapes) check_shape(report, element, shape);
  check_in_place(report);
  kernels::LayerNormArgs wrong;
  wrong.channels = 40;
  verify_refused(report, "40 channels", kernels::launch_layer_norm(wrong, nullptr));
}

const Registered registered{"layer_norm", check_layer_norm};

}  // namespace
}  // namespace rangefinder::kernel_checks::layer_norm_check
