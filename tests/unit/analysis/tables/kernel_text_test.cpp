// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/kernel_text.h"

#include "tests/catch.h"

using rangefinder::short_kernel_name;

TEST_CASE("return type, template arguments and parameters are omitted") {
  CHECK(short_kernel_name("void at::native::fill<4, std::array<char*, 2>>(int, float)") ==
        "at::native::fill<…>");
  CHECK(short_kernel_name("void gemm(float const*, int)") == "gemm");
}

TEST_CASE("a plain name stays as it is") {
  CHECK(short_kernel_name("sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64") ==
        "sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64");
  CHECK(short_kernel_name("") == "");
}

TEST_CASE("an anonymous namespace is part of the name") {
  CHECK(short_kernel_name("void (anonymous namespace)::softmax<float>(float*)") ==
        "(anonymous namespace)::softmax<…>");
}

TEST_CASE("operators keep their brackets") {
  CHECK(short_kernel_name("void ns::Functor<int>::operator()(int) const") == "ns::Functor<…>::operator()");
}

TEST_CASE("a lambda inside a function keeps both names") {
  CHECK(short_kernel_name("void run(int)::{lambda()#1}::call<2>(int)") == "run::{lambda()#1}::call<…>");
}

TEST_CASE("a name with an unclosed bracket stays unchanged") {
  CHECK(short_kernel_name("triton_(poi<0") == "triton_(poi<0");
}
