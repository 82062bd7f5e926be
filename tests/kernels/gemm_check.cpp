// SPDX-License-Identifier: Apache-2.0
//
// Linear layers: every tile of every element type against the reference, with and without split K.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/check.h"

namespace rangefinder::kernel_checks::gemm_check {
namespace {

using namespace kernels;

struct Case {
  const char* name;
  int batches, rows, columns, depth;
  bool has_residual = false;
  Activation activation = Activation::none;
  bool output_is_fp32 = false;
  int alternate_from_column = -1;  ///< -1: none
  bool has_row_valid = false;
  bool has_own_weights = false;  ///< separate ones for each batch
  int padding = 0;               ///< elements after each row of every operand
};

constexpr Case kCases[] = {
    {"decoder ffn 1", 1, 300, 1024, 256, false, Activation::relu},
    {"decoder ffn 2", 1, 300, 256, 1024, true},
    {"q, k of x + position, v of x", 1, 300, 768, 256, false, Activation::none, false, 512},
    {"box head, four columns", 1, 300, 4, 256, false, Activation::none, true},
    {"scores, 80 columns", 2, 150, 80, 256, false, Activation::none, true},
    {"gelu", 1, 400, 136, 256, false, Activation::gelu_erf},
    {"rows that count as zero", 3, 70, 96, 256, false, Activation::none, false, -1, true},
    {"weights of each batch, padded", 3, 45, 72, 64, true, Activation::silu, false, -1, false, true, 8},
    {"one row, one column", 1, 1, 1, 8},
    {"odd columns with residual", 2, 33, 37, 72, true, Activation::relu, true},
    {"shared weights, padded", 4, 31, 64, 128, true, Activation::relu, false, 64, true, false, 16},
};
constexpr int kValidPeriod = 35;

struct Problem {
  Case which;
  ElementType element;
  std::vector<float> input, alternate, weight, bias, residual, expected;
  std::vector<std::uint8_t> row_valid;

  Problem(const Case& c, ElementType type);
  GemmArgs sizes() const;
  ElementType output_element() const { return which.output_is_fp32 ? ElementType::fp32 : element; }
  Tolerance tolerance() const;
};

GemmArgs Problem::sizes() const {
  const Case& c = which;
  GemmArgs args;
  args.element = element;
  args.output_element = output_element();
  args.batches = c.batches;
  args.rows = c.rows;
  args.columns = c.columns;
  args.depth = c.depth;
  args.input_row_stride = args.weight_row_stride = c.padding != 0 ? c.depth + c.padding : 0;
  args.residual_row_stride = args.output_row_stride = c.padding != 0 ? c.columns + c.padding : 0;
  args.input_batch_stride = std::int64_t{c.rows} * (c.depth + c.padding);
  args.residual_batch_stride = args.output_batch_stride = std::int64_t{c.rows} * (c.columns + c.padding);
  args.weight_batch_stride = c.has_own_weights ? std::int64_t{c.columns} * (c.depth + c.padding) : 0;
  args.alternate_from_column = std::max(c.alternate_from_column, 0);
  args.row_valid_period = kValidPeriod;
  args.activation = c.activation;
  return args;
}

Problem::Problem(const Case& c, ElementType type) : which(c), element(type) {
  const auto count = [&](int rows, int row) {
    return static_cast<std::size_t>(c.batches) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(row + c.padding);
  };
  input = random_values(type, count(c.rows, c.depth), 1);
  alternate = random_values(type, count(c.rows, c.depth), 2);
  weight = random_values(type, count(c.columns, c.depth), 3);
  bias = random_values(ElementType::fp32, static_cast<std::size_t>(c.columns), 4);
  residual = random_values(type, count(c.rows, c.columns), 5);
  for (int row = 0; row < kValidPeriod; ++row) row_valid.push_back(row % 3 != 1);
  expected.assign(count(c.rows, c.columns), std::numeric_limits<float>::quiet_NaN());

  GemmArgs args = sizes();
  args.element = args.output_element = ElementType::fp32;
  args.input = input.data();
  if (c.alternate_from_column >= 0) args.alternate_input = alternate.data();
  args.weight = weight.data();
  args.bias = bias.data();
  if (c.has_row_valid) args.row_valid = row_valid.data();
  if (c.has_residual) args.residual = residual.data();
  args.output = expected.data();
  gemm_reference(args);
}

/// Products of rounded values are exact. The error is the sum's rounding, and tf32's of its operands.
Tolerance Problem::tolerance() const {
  const double root_of_depth = std::sqrt(static_cast<double>(which.depth));
  const double sum = 2e-6 * root_of_depth + 1e-6;
  if (element == ElementType::tf32) return {8e-4 * root_of_depth, 1e-3};
  if (output_element() == ElementType::fp32) return {sum, 2e-6};
  return {sum, element == ElementType::fp16 ? 1.01 * 0x1p-11 : 1.01 * 0x1p-8};
}

class OnGpu {
 public:
  explicit OnGpu(const Problem& problem);
  GemmArgs args() const { return args_; }
  void poison_output() {
    output_.upload(std::vector<std::byte>(output_.bytes(), std::byte{0xFF}).data(), output_.bytes());
  }
  std::string check(const std::string& label);

 private:
  const Problem& problem_;
  GuardedBuffer input_, alternate_, weight_, bias_, row_valid_, residual_, output_, workspace_;
  GemmArgs args_;
};

OnGpu::OnGpu(const Problem& problem)
    : problem_(problem),
      input_(problem.input.size() * element_bytes(problem.element)),
      alternate_(problem.alternate.size() * element_bytes(problem.element)),
      weight_(problem.weight.size() * element_bytes(problem.element)),
      bias_(problem.bias.size() * 4),
      row_valid_(problem.row_valid.size()),
      residual_(problem.residual.size() * element_bytes(problem.element)),
      output_(problem.expected.size() * element_bytes(problem.output_element())),
      workspace_(kWorkspaceCounterBytes + (std::size_t{8} << 20)),
      args_(problem.sizes()) {
  input_.upload_floats(problem.element, problem.input);
  alternate_.upload_floats(problem.element, problem.alternate);
  weight_.upload_floats(problem.element, problem.weight);
  bias_.upload_floats(ElementType::fp32, problem.bias);
  row_valid_.upload(problem.row_valid.data(), problem.row_valid.size());
  residual_.upload_floats(problem.element, problem.residual);
  const std::vector<std::byte> zeros(kWorkspaceCounterBytes);
  workspace_.upload(zeros.data(), zeros.size());
  args_.input = input_.data();
  if (problem.which.alternate_from_column >= 0) args_.alternate_input = alternate_.data();
  args_.weight = weight_.data();
  args_.bias = static_cast<const float*>(bias_.data());
  if (problem.which.has_row_valid) args_.row_valid = static_cast<const std::uint8_t*>(row_valid_.data());
  if (problem.which.has_residual) args_.residual = residual_.data();
  args_.output = output_.data();
  args_.workspace = {workspace_.data(), workspace_.bytes()};
}

std::string OnGpu::check(const std::string& label) {
  for (const GuardedBuffer* buffer :
       {&input_, &alternate_, &weight_, &bias_, &row_valid_, &residual_, &output_, &workspace_})
    if (!buffer->guards_are_intact()) return label + ": wrote outside a buffer";
  const std::string worst = compare(output_.floats(problem_.output_element(), problem_.expected.size()),
                                    problem_.expected, problem_.tolerance());
  return worst.empty() ? worst : label + ": " + worst;
}

std::string run_one(OnGpu& gpu, int tile, int splits) {
  GemmArgs args = gpu.args();
  args.tile = tile;
  args.splits_k = splits;
  const std::string label = "tile " + std::to_string(tile) + " splits " + std::to_string(splits);
  gpu.poison_output();
  std::string first;
  const std::string failed =
      launch_and_capture([&](cudaStream_t stream) { return launch_gemm(args, stream); },
                         [&] {
                           first = gpu.check(label + " launched");
                           gpu.poison_output();
                         });
  if (!failed.empty()) return label + " " + failed;
  return first.empty() ? gpu.check(label + " captured") : first;
}

void check_case(const Case& c, ElementType element, Report& report) {
  if (c.depth % elements_per_load(element) != 0) return;
  const Problem problem(c, element);
  OnGpu gpu(problem);
  const int stages = c.depth * static_cast<int>(element_bytes(element)) / 128;
  for (int tile = -1; tile < gemm_tiles(element); ++tile) {
    for (int splits : {0, 2}) {
      if (splits > 1 && (tile < 0 || stages < 2 * splits)) continue;
      if (!report.takes_next()) continue;
      GemmArgs args = gpu.args();
      args.tile = tile;
      args.splits_k = splits;
      // Some tiles serve only convolutions, or are too wide for the start of the alternate input.
      const cudaError_t status = launch_gemm(args, nullptr);
      if (tile >= 0 && status == cudaErrorInvalidValue) continue;
      const std::string reason = run_one(gpu, tile, splits);
      if (reason.empty())
        report.pass();
      else
        report.fail(std::string(c.name) + " " + name_of(element), reason);
    }
  }
}

void check_gemm(Report& report) {
  for (const Case& c : kCases)
    for (ElementType element : kAllElements) check_case(c, element, report);
}

const Registered registered{"gemm", check_gemm};

}  // namespace
}  // namespace rangefinder::kernel_checks::gemm_check
