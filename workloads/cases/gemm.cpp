// SPDX-License-Identifier: Apache-2.0
//
// Matrix products from tiny to large, in three types: the size at which arithmetic outweighs the launch, and
// the cost of FP32 where tensor cores could be used.
//
//   gemm / fp32 | tf32 | fp16 / 32x64x16 | 256 | 1024 | 8192      kernels of kernels/gemm
//
// What a profiler must find: FP32 products in fp32, none in tf32 and fp16; grids under one wave up to
// 1024. The program compares two elements of each result with a sum in double.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/conversion.h"
#include "kernels/gemm/gemm.h"
#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/range.h"

namespace rangefinder::cases {
namespace {

using kernels::ElementType;
using probe::check;

struct Size {
  std::string name;
  int m, k, n;
};
const std::vector<Size> kSizes{
    {"32x64x16", 32, 64, 16}, {"256", 256, 256, 256}, {"1024", 1024, 1024, 1024}, {"8192", 8192, 8192, 8192}};
constexpr std::size_t kWorkspaceBytes = kernels::kWorkspaceCounterBytes + (std::size_t{64} << 20);

/// Host values in [-1, 1) that depend on index and seed only.
std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::vector<float> out(count);
  std::uint32_t state = seed;
  for (float& value : out) {
    state = state * 1'664'525u + 1'013'904'223u;
    value = static_cast<float>(state >> 8) / 8'388'608.0f - 1.0f;
  }
  return out;
}

void* on_gpu(ElementType element, std::vector<float>& values) {
  const std::size_t bytes = values.size() * kernels::element_bytes(element);
  std::vector<std::byte> packed(bytes);
  kernels::convert_from_fp32(element, values.data(), packed.data(), values.size());
  kernels::convert_to_fp32(element, packed.data(), values.data(), values.size());  // as the GPU reads them
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemcpy(memory, packed.data(), bytes, cudaMemcpyHostToDevice), "values");
  return memory;
}

/// Whether one element of the product is within rounding error.
bool is_right(const Size& size, ElementType element, const std::vector<float>& input,
              const std::vector<float>& weight, const void* output, int row, int column) {
  const auto k = static_cast<std::size_t>(size.k);
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    sum += static_cast<double>(input[static_cast<std::size_t>(row) * k + i]) *
           static_cast<double>(weight[static_cast<std::size_t>(column) * k + i]);
  }
  float found = 0;
  const std::size_t place =
      static_cast<std::size_t>(row) * static_cast<std::size_t>(size.n) + static_cast<std::size_t>(column);
  check(cudaMemcpy(&found, static_cast<const float*>(output) + place, sizeof found, cudaMemcpyDeviceToHost),
        "result");
  // Products of values below 1, summed k times: rounding error grows with the square root of k.
  const double unit = element == ElementType::tf32 ? 1e-3 : 1e-5;
  return std::abs(static_cast<double>(found) - sum) <= unit * std::sqrt(static_cast<double>(size.k)) * 4;
}

struct Run {
  ElementType element;
  Size size;
  unsigned iterations;
};

/// Adds what a profiler must find. Returns false if a result is wrong.
bool run_one(const Run& run, const kernels::Workspace& workspace, probe::Array& variants) {
  const Size& size = run.size;
  const auto count = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  std::vector<float> input = random_values(count(size.m, size.k), 1),
                     weight = random_values(count(size.n, size.k), 2);
  kernels::GemmArgs args;
  args.element = run.element;
  args.output_element = ElementType::fp32;
  args.rows = size.m;
  args.columns = size.n;
  args.depth = size.k;
  void* const input_memory = on_gpu(run.element, input);
  void* const weight_memory = on_gpu(run.element, weight);
  args.input = input_memory;
  args.weight = weight_memory;
  check(cudaMalloc(&args.output, count(size.m, size.n) * sizeof(float)), "cudaMalloc");
  args.workspace = workspace;
  const std::size_t operand_bytes =
      (count(size.m, size.k) + count(size.n, size.k)) * kernels::element_bytes(run.element);
  const std::size_t min_bytes = operand_bytes + count(size.m, size.n) * sizeof(float);
  {
    const probe::Range of_type(kernels::name_of(run.element));
    for (unsigned i = 0; i < run.iterations; ++i) {
      const probe::Range inner(size.name, min_bytes);
      check(kernels::launch_gemm(args, nullptr), size.name.c_str());
    }
    check(cudaDeviceSynchronize(), size.name.c_str());
  }
  const bool right = is_right(size, run.element, input, weight, args.output, 0, 0) &&
                     is_right(size, run.element, input, weight, args.output, size.m - 1, size.n - 1);
  variants.add(probe::Object()
                   .add("path", "gemm/" + std::string(kernels::name_of(run.element)) + "/" + size.name)
                   .add("type", kernels::name_of(run.element))
                   .add("calls", run.iterations)
                   .add("flop", 2 * count(size.m, size.k) * static_cast<std::size_t>(size.n))
                   .add("min_bytes", min_bytes)
                   .add("right", right));
  check(cudaFree(input_memory), "cudaFree");
  check(cudaFree(weight_memory), "cudaFree");
  check(cudaFree(args.output), "cudaFree");
  return right;
}

int run_all(const std::vector<std::string>& types, const std::vector<std::string>& sizes,
            unsigned iterations) {
  probe::require_gpu();
  probe::name_bytes_category();
  kernels::Workspace workspace;
  workspace.bytes = kWorkspaceBytes;
  check(cudaMalloc(&workspace.data, workspace.bytes), "cudaMalloc");
  check(cudaMemset(workspace.data, 0, workspace.bytes), "cudaMemset");
  probe::Array variants;
  bool right = true;
  const probe::Range outer("gemm");
  for (const ElementType element : {ElementType::fp32, ElementType::tf32, ElementType::fp16}) {
    for (const Size& size : kSizes) {
      const bool type_wanted =
          std::find(types.begin(), types.end(), kernels::name_of(element)) != types.end();
      const bool size_wanted = std::find(sizes.begin(), sizes.end(), size.name) != sizes.end();
      if (type_wanted && size_wanted)
        right = run_one({element, size, iterations}, workspace, variants) && right;
    }
  }
  probe::print(probe::Object().add("case", "gemm").add("right", right).add("variants", variants));
  return right ? 0 : probe::kExitFailed;
}

}  // namespace
}  // namespace rangefinder::cases

int main(int argc, char** argv) {
  std::vector<std::string> types{"fp32", "tf32", "fp16"}, sizes{"32x64x16", "256", "1024", "8192"};
  const std::vector<std::string> known_types = types, known_sizes = sizes;
  unsigned iterations = 10;
  rangefinder::Arguments arguments("Matrix products of four sizes in three types");
  arguments.list("--types", types, "Of fp32,tf32,fp16", known_types);
  arguments.list("--sizes", sizes, "Of 32x64x16,256,1024,8192", known_sizes);
  arguments.number("--iterations", iterations, "Calls of each", 1u, 100'000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::cases::run_all(types, sizes, iterations);
}
