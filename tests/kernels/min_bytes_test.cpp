// SPDX-License-Identifier: Apache-2.0
#include "kernels/min_bytes.h"

#include "tests/catch.h"

using namespace rangefinder::kernels;

namespace {
const float kPresent[4] = {};
float written[4] = {};

NhwcInput input(int height, int width, int channels) {
  return {kPresent, height, width, channels};
}
NhwcOutput output(int height, int width, int channels) {
  return {written, height, width, channels};
}
}  // namespace

TEST_CASE("a convolution moves input, weights, bias, residual and output once") {
  ConvolutionArgs args;
  args.element = ElementType::fp16;
  args.images = 2;
  args.input = input(8, 8, 16);
  args.output = output(8, 8, 32);
  args.kernel_size = 3;
  CHECK(min_bytes(args) == 2 * (2 * 64 * 16 + 2 * 64 * 32 + 32 * 9 * 16));

  args.bias = kPresent;
  args.residual = input(8, 8, 32);
  CHECK(min_bytes(args) == 2 * (2 * 64 * 16 + 2 * 64 * 32 * 2 + 32 * 9 * 16) + 32 * 4);
}

TEST_CASE("a slice of channels counts only its own channels") {
  PoolArgs args;
  args.element = ElementType::fp32;
  args.images = 1;
  args.input = input(4, 4, 8);
  args.input.pixel_stride = 64;
  args.output = output(2, 2, 8);
  CHECK(min_bytes(args) == 4 * (16 * 8 + 4 * 8));
}

TEST_CASE("a linear layer that all batches share reads its weight once") {
  GemmArgs args;
  args.element = ElementType::fp16;
  args.output_element = ElementType::fp32;
  args.batches = 3;
  args.rows = 5;
  args.columns = 7;
  args.depth = 8;
  CHECK(min_bytes(args) == 3 * 5 * 8 * 2 + 7 * 8 * 2 + 3 * 5 * 7 * 4);

  args.weight_batch_stride = 7 * 8;
  CHECK(min_bytes(args) == 3 * 5 * 8 * 2 + 3 * 7 * 8 * 2 + 3 * 5 * 7 * 4);
}

TEST_CASE("a linear layer counts alternate input, bias, row mask and residual where they are present") {
  GemmArgs args;
  args.element = ElementType::fp16;
  args.output_element = ElementType::fp16;
  args.rows = 300;
  args.columns = 1024;
  args.depth = 256;
  args.bias = kPresent;
  CHECK(min_bytes(args) == 1'296'384);  // the example of kernels/gemm/README.md

  const std::uint8_t valid[1] = {};
  args.alternate_input = args.residual = kPresent;
  args.row_valid = valid;
  args.row_valid_period = 300;
  CHECK(min_bytes(args) == 1'296'384 + 300 * 256 * 2 + 300 + 300 * 1024 * 2);
}

TEST_CASE("layer normalisation moves rows, residual, position and both outputs once") {
  LayerNormArgs args;
  args.element = ElementType::fp16;
  args.rows = 300;
  args.channels = 256;
  CHECK(min_bytes(args) == 2 * 300 * 256 * 2 + 2 * 256 * 4);

  args.residual = args.position = kPresent;
  args.position_rows = 300;
  args.output_with_position = written;
  CHECK(min_bytes(args) == 5 * 300 * 256 * 2 + 2 * 256 * 4);
}

TEST_CASE("attention moves q, k, v and its result, and no scores") {
  AttentionArgs args;
  args.element = ElementType::fp16;
  args.images = 1;
  args.heads = 8;
  args.queries = 400;
  args.keys = 400;
  CHECK(min_bytes(args) == 4 * 400 * 256 * 2);
}
