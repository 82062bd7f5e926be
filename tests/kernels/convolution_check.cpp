// SPDX-License-Identifier: Apache-2.0
//
// Convolution: every tile of every element type against the reference, with and without split K.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "kernels/convolution/convolution.h"
#include "tests/kernels/check.h"

namespace rangefinder::kernel_checks::convolution_check {
namespace {

using namespace kernels;

enum class Shortcut { none, before, after, in_place };

struct Case {
  const char* name;
  int images, height, width, channels, second_channels, outputs, kernel_size, stride;
  Shortcut shortcut = Shortcut::none;
  bool has_addend = false;
  Activation activation = Activation::none;
  bool in_slices = false;  ///< every operand is a slice of channels of a wider tensor
};

constexpr Case kCases[] = {
    {"3x3", 1, 20, 20, 64, 0, 64, 3, 1, Shortcut::none, false, Activation::relu},
    {"3x3 stride 2, odd", 2, 13, 17, 64, 0, 48, 3, 2, Shortcut::none, false, Activation::silu},
    {"3x3 few channels", 2, 9, 11, 8, 0, 16, 3, 1, Shortcut::after, false, Activation::silu},
    {"3x3 channels not a multiple of a stage", 1, 14, 10, 40, 0, 72, 3, 1, Shortcut::before, false,
     Activation::relu},
    {"3x3 deep, slices", 1, 10, 12, 512, 0, 40, 3, 1, Shortcut::after, false, Activation::silu, true},
    {"3x3 one pixel", 3, 1, 1, 32, 0, 32, 3, 1},
    {"3x3 with second input", 1, 8, 8, 64, 96, 64, 3, 1, Shortcut::none, false, Activation::relu},
    {"3x3 32 to 32", 2, 21, 35, 32, 0, 32, 3, 1, Shortcut::after, false, Activation::relu},
    {"3x3 32 to 64, slices", 2, 17, 30, 32, 0, 64, 3, 1, Shortcut::none, false, Activation::silu, true},
    {"3x3 64 to 40, addend", 1, 18, 34, 64, 0, 40, 3, 1, Shortcut::before, true, Activation::relu},
    {"1x1", 1, 20, 20, 256, 0, 136, 1, 1, Shortcut::before, false, Activation::relu},
    {"1x1 of one stage", 2, 20, 20, 64, 0, 256, 1, 1, Shortcut::before, false, Activation::relu},
    {"1x1 stride 2", 1, 20, 24, 128, 0, 64, 1, 2},
    {"1x1 two inputs, in place", 1, 20, 20, 64, 64, 256, 1, 1, Shortcut::in_place, false, Activation::relu},
    {"1x1 second input uneven, slices", 2, 6, 10, 24, 40, 24, 1, 1, Shortcut::none, false,
     Activation::gelu_erf, true},
    {"1x1 upsampled addend, slices", 2, 12, 20, 256, 0, 128, 1, 1, Shortcut::none, true, Activation::silu,
     true},
};

/// One operand: the number of elements in its memory, and where the view begins.
struct Operand {
  int height = 0, width = 0, channels = 0;
  int lead = 0;  ///< channels before the slice
  int pixel_stride = 0;
  std::vector<float> values;

  Operand(const Case& which, int rows, int columns, int slice_channels)
      : height(rows),
        width(columns),
        channels(slice_channels),
        lead(which.in_slices ? 8 : 0),
        pixel_stride(slice_channels + (which.in_slices ? 24 : 0)),
        values(static_cast<std::size_t>(which.images) * rows * columns * pixel_stride) {}

  template <typename View, typename Pointer>
  View view(Pointer* memory, std::size_t bytes_per_element) const {
    using Byte = std::conditional_t<std::is_const_v<Pointer>, const char, char>;
    return {reinterpret_cast<Byte*>(memory) + static_cast<std::size_t>(lead) * bytes_per_element,
            height,
            width,
            channels,
            pixel_stride,
            0};
  }
};

struct Problem {
  Case which;
  ElementType element;
  Operand input, second, residual, addend, output;
  std::vector<float> weight, bias, expected;

  Problem(const Case& c, ElementType type);
  ConvolutionArgs sizes() const;
  Tolerance tolerance() const;
};

int extent(int value, const Case& c) {
  return (value + 2 * (c.kernel_size / 2) - c.kernel_size) / c.stride + 1;
}

ConvolutionArgs Problem::sizes() const {
  ConvolutionArgs args;
  args.element = element;
  args.images = which.images;
  args.kernel_size = which.kernel_size;
  args.stride = which.stride;
  args.activation = which.activation;
  args.residual_place =
      which.shortcut == Shortcut::after ? ResidualPlace::after_activation : ResidualPlace::before_activation;
  return args;
}

Problem::Problem(const Case& c, ElementType type)
    : which(c),
      element(type),
      input(c, c.height, c.width, c.channels),
      second(c, extent(c.height, c), extent(c.width, c), c.second_channels),
      residual(c, extent(c.height, c), extent(c.width, c), c.outputs),
      addend(c, extent(c.height, c) / 2, extent(c.width, c) / 2, c.outputs),
      output(c, extent(c.height, c), extent(c.width, c), c.outputs) {
  std::uint64_t seed = 1;
  for (Operand* operand : {&input, &second, &residual, &addend})
    operand->values = random_values(type, operand->values.size(), seed++);
  const int depth = c.kernel_size * c.kernel_size * c.channels + c.second_channels;
  weight = random_values(type, static_cast<std::size_t>(c.outputs) * depth, seed++);
  bias = random_values(ElementType::fp32, static_cast<std::size_t>(c.outputs), seed++);
  const bool in_place = c.shortcut == Shortcut::in_place;
  expected.assign(output.values.size(), std::numeric_limits<float>::quiet_NaN());
  if (in_place) expected = residual.values;

  ConvolutionArgs args = sizes();
  args.element = ElementType::fp32;
  args.input = input.view<NhwcInput>(input.values.data(), 4);
  if (c.second_channels > 0) args.second_input = second.view<NhwcInput>(second.values.data(), 4);
  if (c.shortcut != Shortcut::none)
    args.residual = residual.view<NhwcInput>(in_place ? expected.data() : residual.values.data(), 4);
  if (c.has_addend) args.upsampled_addend = addend.view<NhwcInput>(addend.values.data(), 4);
  args.output = output.view<NhwcOutput>(expected.data(), 4);
  args.weight = weight.data();
  args.bias = bias.data();
  convolution_reference(args);
}

/// Products of rounded values are exact. The error is the sum's rounding, and tf32's of its operands.
Tolerance Problem::tolerance() const {
  const double root_of_depth =
      std::sqrt(double(which.kernel_size * which.kernel_size * which.channels + which.second_channels));
  switch (element) {
    case ElementType::fp32:
      return {1.5e-6 * root_of_depth, 2e-6};
    case ElementType::tf32:
      return {8e-4 * root_of_depth, 1e-3};
    case ElementType::fp16:
      return {2e-6 * root_of_depth + 1e-6, 1.01 * 0x1p-11};
    case ElementType::bf16:
      return {2e-6 * root_of_depth + 1e-6, 1.01 * 0x1p-8};
  }
  return {0, 0};
}

/// The operands of one problem on the GPU.
class OnGpu {
 public:
  OnGpu(const Problem& problem, std::size_t workspace_bytes);
  ConvolutionArgs args() const { return args_; }
  void poison_output();
  std::string check(const std::string& label);

 private:
  const Problem& problem_;
  std::size_t bytes_;
  GuardedBuffer input_, second_, residual_, addend_, weight_, bias_, output_, workspace_;
  ConvolutionArgs args_;
};

OnGpu::OnGpu(const Problem& problem, std::size_t workspace_bytes)
    : problem_(problem),
      bytes_(element_bytes(problem.element)),
      input_(problem.input.values.size() * bytes_),
      second_(problem.second.values.size() * bytes_ + 16),
      residual_(problem.residual.values.size() * bytes_),
      addend_(problem.addend.values.size() * bytes_ + 16),
      weight_(problem.weight.size() * bytes_),
      bias_(problem.bias.size() * 4),
      output_(problem.output.values.size() * bytes_),
      workspace_(workspace_bytes),
      args_(problem.sizes()) {
  const Case& c = problem.which;
  input_.upload_floats(problem.element, problem.input.values);
  second_.upload_floats(problem.element, problem.second.values);
  residual_.upload_floats(problem.element, problem.residual.values);
  addend_.upload_floats(problem.element, problem.addend.values);
  weight_.upload_floats(problem.element, problem.weight);
  bias_.upload_floats(ElementType::fp32, problem.bias);
  const std::vector<std::byte> zeros(kWorkspaceCounterBytes);
  workspace_.upload(zeros.data(), zeros.size());
  args_.input = problem.input.view<NhwcInput>(static_cast<char*>(input_.data()), bytes_);
  if (c.second_channels > 0)
    args_.second_input = problem.second.view<NhwcInput>(static_cast<char*>(second_.data()), bytes_);
  args_.output = problem.output.view<NhwcOutput>(static_cast<char*>(output_.data()), bytes_);
  if (c.shortcut == Shortcut::in_place)
    args_.residual = as_input(args_.output);
  else if (c.shortcut != Shortcut::none)
    args_.residual = problem.residual.view<NhwcInput>(static_cast<char*>(residual_.data()), bytes_);
  if (c.has_addend)
    args_.upsampled_addend = problem.addend.view<NhwcInput>(static_cast<char*>(addend_.data()), bytes_);
  args_.weight = weight_.data();
  args_.bias = static_cast<const float*>(bias_.data());
  args_.workspace = {workspace_.data(), workspace_.bytes()};
}

/// If it is in place, restores the residual there.
void OnGpu::poison_output() {
  if (problem_.which.shortcut == Shortcut::in_place)
    output_.upload_floats(problem_.element, problem_.residual.values);
  else
    output_.upload(std::vector<std::byte>(output_.bytes(), std::byte{0xFF}).data(), output_.bytes());
}

std::string OnGpu::check(const std::string& label) {
  for (const GuardedBuffer* buffer :
       {&input_, &second_, &residual_, &addend_, &weight_, &bias_, &output_, &workspace_})
    if (!buffer->guards_are_intact()) return label + ": wrote outside a buffer";
  std::vector<std::byte> counters(kWorkspaceCounterBytes);
  if (cudaMemcpy(counters.data(), workspace_.data(), counters.size(), cudaMemcpyDeviceToHost) !=
          cudaSuccess ||
      std::any_of(counters.begin(), counters.end(), [](std::byte value) { return value != std::byte{0}; }))
    return label + ": left counters that are not zero";
  const std::string worst = compare(output_.floats(problem_.element, problem_.output.values.size()),
                                    problem_.expected, problem_.tolerance());
  return worst.empty() ? worst : label + ": " + worst;
}

const std::string kRefused = "refused";

/// Empty, or the error of this tile and these splits; tile -1 also captures.
std::string run_one(const Problem& problem, int tile, int splits) {
  OnGpu gpu(problem, kWorkspaceCounterBytes + (std::size_t{6} << 20));
  ConvolutionArgs args = gpu.args();
  args.tile = tile;
  args.splits_k = splits;
  if (launch_convolution(args, nullptr) == cudaErrorInvalidValue) return kRefused;
  const std::string label = "tile " + std::to_string(tile) + " splits " + std::to_string(splits);
  gpu.poison_output();
  std::string first;
  const std::string failed =
      launch_and_capture([&](cudaStream_t stream) { return launch_convolution(args, stream); },
                         [&] {
                           first = gpu.check(label + " launched");
                           gpu.poison_output();
                         });
  if (!failed.empty()) return label + " " + failed;
  return first.empty() ? gpu.check(label + " captured") : first;
}

/// Number of cases that a tile has passed; tiles for special shapes refuse the others.
using Served = std::map<std::pair<ElementType, int>, int>;

void check_case(const Case& c, ElementType element, Report& report, Served& served) {
  if (c.channels % elements_per_load(element) != 0) return;
  const Problem problem(c, element);
  const int stages = (c.kernel_size * c.kernel_size * c.channels + c.second_channels) *
                     static_cast<int>(element_bytes(element)) / 128;
  for (int tile = -1; tile < convolution_tiles(element); ++tile) {
    for (int splits : {0, 1, 2, 3}) {
      if (splits > 1 && (tile < 0 || stages < 2 * splits || stages % splits != 0)) continue;
      if (!report.takes_next()) continue;
      const std::string reason = run_one(problem, tile, splits);
      if (tile >= 0 && reason == kRefused) continue;
      ++served[{element, tile}];
      if (reason.empty())
        report.pass();
      else
        report.fail(std::string(c.name) + " " + name_of(element), reason);
    }
  }
}

void check_refusals(Report& report) {
  const Problem problem(kCases[0], ElementType::fp16);
  OnGpu gpu(problem, kWorkspaceCounterBytes);
  ConvolutionArgs args = gpu.args();
  args.input.channels = 60;
  const auto must_refuse = [&report](const ConvolutionArgs& refused, const char* what) {
    if (launch_convolution(refused, nullptr) == cudaErrorInvalidValue) return report.pass();
    report.fail(what, "was not refused");
  };
  must_refuse(args, "60 channels");
  args = gpu.args();
  args.tile = convolution_tiles(args.element);
  must_refuse(args, "a tile that does not exist");
}

void check_convolution(Report& report) {
  Served served;
  for (const Case& c : kCases)
    for (ElementType element : kAllElements) check_case(c, element, report, served);
  for (ElementType element : kAllElements)
    for (int tile = -1; tile < convolution_tiles(element); ++tile)
      if (report.takes_all() && served[{element, tile}] == 0)
        report.fail(std::string("tile ") + std::to_string(tile) + " " + name_of(element),
                    "no case covers it");
  check_refusals(report);
}

const Registered registered{"convolution", check_convolution};

}  // namespace
}  // namespace rangefinder::kernel_checks::convolution_check
