// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {

/// A product of two rows, depth four, three columns.
struct Small {
  std::vector<float> input{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> weight{1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1};
  std::vector<float> bias{10, 20, 30};
  std::vector<float> output = std::vector<float>(6, -1);
  GemmArgs args;

  Small() {
    args.rows = 2;
    args.columns = 3;
    args.depth = 4;
    args.input = input.data();
    args.weight = weight.data();
    args.bias = bias.data();
    args.output = output.data();
  }
};

}  // namespace

TEST_CASE("a row of the weight gives a column of the output") {
  Small small;
  gemm_reference(small.args);
  CHECK(small.output == std::vector<float>{11, 22, 40, 15, 26, 56});
}

TEST_CASE("the residual is added before the activation") {
  Small small;
  const std::vector<float> residual{-12, 0, 0, 0, -27, 1};
  small.args.residual = residual.data();
  small.args.activation = Activation::relu;
  gemm_reference(small.args);
  CHECK(small.output == std::vector<float>{0, 22, 40, 15, 0, 57});
}

TEST_CASE("rows that are not valid give the bias, with a period") {
  Small small;
  const std::vector<std::uint8_t> valid{1, 0};
  small.args.row_valid = valid.data();
  small.args.row_valid_period = 2;
  gemm_reference(small.args);
  CHECK(small.output == std::vector<float>{11, 22, 40, 10, 20, 30});

  small.args.row_valid_period = 1;
  gemm_reference(small.args);
  CHECK(small.output[3] == 15);
}

TEST_CASE("columns from 64 on read the alternate input") {
  const std::vector<float> input{1, 0, 0, 0};
  const std::vector<float> alternate{5, 0, 0, 0};
  const std::vector<float> weight(4 * 66, 1);
  std::vector<float> output(66, -1);
  GemmArgs args;
  args.rows = 1;
  args.columns = 66;
  args.depth = 4;
  args.input = input.data();
  args.alternate_input = alternate.data();
  args.alternate_from_column = 64;
  args.weight = weight.data();
  args.output = output.data();
  gemm_reference(args);
  CHECK(output[0] == 1);
  CHECK(output[63] == 1);
  CHECK(output[64] == 5);
  CHECK(output[65] == 5);

  args.alternate_from_column = 32;
  CHECK_THROWS_AS(gemm_reference(args), std::invalid_argument);
}

TEST_CASE("batches have strides, and separate weights if requested") {
  Small small;
  small.args.batches = 2;
  small.args.rows = 1;
  small.args.columns = 1;
  small.args.input_batch_stride = 4;
  small.args.weight_batch_stride = 8;
  small.args.output_batch_stride = 5;
  gemm_reference(small.args);
  CHECK(small.output == std::vector<float>{11, -1, -1, -1, -1, 36});
}

TEST_CASE("row strides leave the gaps between rows unchanged") {
  Small small;
  std::vector<float> wide(10, -7);
  small.args.columns = 2;
  small.args.output = wide.data();
  small.args.output_row_stride = 5;
  gemm_reference(small.args);
  CHECK(wide == std::vector<float>{11, 22, -7, -7, -7, 15, 26, -7, -7, -7});
}

TEST_CASE("a linear layer refuses what the launcher refuses") {
  Small small;
  GemmArgs args = small.args;
  args.depth = 3;
  CHECK_THROWS_AS(gemm_reference(args), std::invalid_argument);
  args = small.args;
  args.output_row_stride = 2;
  CHECK_THROWS_AS(gemm_reference(args), std::invalid_argument);
  args = small.args;
  args.batches = 2;
  CHECK_THROWS_AS(gemm_reference(args), std::invalid_argument);
  args = small.args;
  args.element = args.output_element = ElementType::fp16;
  CHECK_THROWS_AS(gemm_reference(args), std::invalid_argument);
}
