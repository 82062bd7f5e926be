// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/kernel_labels.h"

#include "tests/catch.h"

using rangefinder::kernel_labels;
using Labels = std::vector<std::string>;

TEST_CASE("labels of one template keep the arguments that differ") {
  const std::string front = "void rangefinder::kernels::implicit_gemm_kernel<rangefinder::kernels::";
  const std::string mma32 = front + "Mma<__half, 32, 32, 2>, 4, 6>(rangefinder::kernels::ImplicitGemm)";
  const std::string mma64 = front + "Mma<__half, 64, 32, 2>, 3, 6>(rangefinder::kernels::ImplicitGemm)";
  const std::string wgmma = front + "Wgmma<__half, 2>, 3, 6>(rangefinder::kernels::ImplicitGemm)";

  CHECK(kernel_labels({mma32, mma64}) == Labels{"implicit_gemm<32, 4>", "implicit_gemm<64, 3>"});
  CHECK(kernel_labels({mma32, wgmma}) ==
        Labels{"implicit_gemm<Mma<half, 32, 32, 2>, 4>", "implicit_gemm<Wgmma<half, 2>, 3>"});
  CHECK(kernel_labels({mma32}) == Labels{"implicit_gemm"});
}

TEST_CASE("functors of PyTorch stand for its elementwise kernels") {
  const std::string front = "void at::native::vectorized_elementwise_kernel<8, ";
  const std::string add =
      front + "at::native::CUDAFunctor_add<c10::Half>, std::array<char*, 3ul> >(int, float)";
  const std::string clamp = front +
                            "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, "
                            "c10::Scalar)::{lambda()#1}::operator()() const::{lambda(c10::Half)#1}, "
                            "std::array<char*, 2ul> >(int, float)";

  CHECK(kernel_labels({add, clamp}) == Labels{"vectorized_elementwise<CUDAFunctor_add<Half>, 3>",
                                              "vectorized_elementwise<launch_clamp_scalar, 2>"});
}

TEST_CASE("namespaces, return types, parameters and endings are removed") {
  const std::pair<const char*, const char*> names[] = {
      {"void gemm(float const*, int)", "gemm"},
      {"void (anonymous namespace)::softmax<float>(float*)", "softmax"},
      {"void ns::Functor<int>::operator()(int) const", "Functor"},
      {"bool ns::Less<int>::operator<(int) const", "Less"},
      {"void run(int)::{lambda()#1}::call<2>(int)", "run"},
      {"sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64",
       "sm90_xmma_gemm_f16f16_f32_tn_n_tilesize128x128x64"},
      {"void cudnn::nchwToNhwcKernel<__half, true, (cudnnKernelDataType_t)0>(int)", "nchwToNhwcKernel"},
      {"triton_(poi<0", "triton_(poi<0"},  // unclosed brackets: unchanged
      {"_kernel", "_kernel"},
      {"", ""}};
  for (const auto& [whole, label] : names) {
    INFO(whole);
    CHECK(kernel_labels({whole}) == Labels{label});
  }
}

TEST_CASE("names that differ only in what is removed are numbered") {
  CHECK(kernel_labels({"void a::copy<1>(int)", "void b::copy<1>(int)", "fill"}) ==
        Labels{"copy #1", "copy #2", "fill"});
  CHECK(kernel_labels({"k<1>", "k<1, 2>"}) == Labels{"k<1>", "k<1, 2>"});
}

TEST_CASE("a name of ten thousand brackets is no C++ and stays") {
  const std::string deep(10'000, '<');
  CHECK(kernel_labels({"k" + deep}) == Labels{"k" + deep});
}
