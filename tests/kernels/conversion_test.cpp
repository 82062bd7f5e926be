// SPDX-License-Identifier: Apache-2.0
#include "kernels/conversion.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using rangefinder::kernels::ElementType;
using rangefinder::kernels::rounded_to;

TEST_CASE("half rounds to nearest, ties to even") {
  CHECK(rounded_to(ElementType::fp16, 1.0F + 0x1p-11F) == 1.0F);
  CHECK(rounded_to(ElementType::fp16, 1.0F + 3 * 0x1p-11F) == 1.0F + 2 * 0x1p-10F);
  CHECK(rounded_to(ElementType::fp16, 0.1F) == 0.0999755859375F);
}

TEST_CASE("half overflows to infinity, bfloat16 does not") {
  CHECK(std::isinf(rounded_to(ElementType::fp16, 70000.0F)));
  CHECK(rounded_to(ElementType::bf16, 65536.0F) == 65536.0F);
}

TEST_CASE("bfloat16 keeps eight bits of significand") {
  CHECK(rounded_to(ElementType::bf16, 1.0F + 0x1p-8F) == 1.0F);
  CHECK(rounded_to(ElementType::bf16, 1.0F + 3 * 0x1p-8F) == 1.0F + 2 * 0x1p-7F);
}

TEST_CASE("fp32 and tf32 are stored unrounded, NaN stays NaN") {
  CHECK(rounded_to(ElementType::fp32, 0.1F) == 0.1F);
  CHECK(rounded_to(ElementType::tf32, 0.1F) == 0.1F);
  CHECK(std::isnan(rounded_to(ElementType::fp16, std::numeric_limits<float>::quiet_NaN())));
}
