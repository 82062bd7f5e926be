// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/kernel_labels.h"

#include "tests/catch.h"

using rangefinder::short_kernel_name;

TEST_CASE("return type, template arguments and parameters are omitted from names") {
  const std::pair<const char*, const char*> names[] = {
      {"void at::native::fill<4, std::array<char*, 2>>(int, float)", "at::native::fill<…>"},
      {"void gemm(float const*, int)", "gemm"},
      {"sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64",
       "sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64"},
      {"", ""},
      {"void (anonymous namespace)::softmax<float>(float*)", "(anonymous namespace)::softmax<…>"},
      {"void ns::Functor<int>::operator()(int) const", "ns::Functor<…>::operator()"},
      {"void run(int)::{lambda()#1}::call<2>(int)", "run::{lambda()#1}::call<…>"},
      {"triton_(poi<0", "triton_(poi<0"}};  // an unclosed bracket: unchanged
  for (const auto& [whole, shortened] : names) {
    INFO(whole);
    CHECK(short_kernel_name(whole) == shortened);
  }
}
