// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/rtdetr_work.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/conversion.h"
#include "kernels/convolution/convolution.h"
#include "kernels/gemm/gemm.h"
#include "tests/bench/rtdetr_shapes.h"

namespace rangefinder::kernel_bench {
namespace {

using namespace kernels;

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

/// GPU memory with small values in it, freed at the end of the program.
void* filled_memory(ElementType element, std::size_t bytes) {
  std::vector<float> values(std::size_t{1} << 20);
  unsigned state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 8) * 0x1p-24f - 0.5f) / 8;
  }
  std::vector<std::byte> stored(values.size() * element_bytes(element));
  convert_from_fp32(element, values.data(), stored.data(), values.size());
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes), "cudaMalloc");
  for (std::size_t at = 0; at < bytes; at += stored.size())
    require(cudaMemcpy(static_cast<char*>(memory) + at, stored.data(), std::min(stored.size(), bytes - at),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
  return memory;
}

/// What both kinds of layers have in common.
template <typename Args>
Args args_of(Activation activation, const Settings& settings, const Memory& memory) {
  Args args;
  args.element = settings.element;
  args.bias = static_cast<const float*>(memory.bias);
  args.activation = activation;
  args.workspace = {memory.workspace, kWorkspaceBytes};
  args.may_start_early = settings.may_start_early;
  return args;
}

template <auto launch, typename Args>
auto launcher(const Args& args, const Memory& memory) {
  return [args, &memory](std::size_t offset, int tile, int splits, cudaStream_t stream) {
    Args placed = args;
    placed.weight = static_cast<const char*>(memory.weight) + offset;
    placed.tile = tile;
    placed.splits_k = splits;
    return launch(placed, stream);
  };
}

Work work_of(const ConvolutionShape& shape, const Settings& settings, const Memory& memory) {
  auto args = args_of<ConvolutionArgs>(shape.activation, settings, memory);
  args.images = settings.batch;
  const int input_extent = shape.extent * shape.stride;
  args.input = {memory.input, input_extent, input_extent, shape.channels};
  if (shape.second_channels > 0)
    args.second_input = {memory.second, shape.extent, shape.extent, shape.second_channels};
  if (shape.has_residual) args.residual = {memory.residual, shape.extent, shape.extent, shape.outputs};
  if (shape.has_addend)
    args.upsampled_addend = {memory.residual, shape.extent / 2, shape.extent / 2, shape.outputs};
  args.output = {memory.output, shape.extent, shape.extent, shape.outputs};
  args.kernel_size = shape.kernel_size;
  args.stride = shape.stride;
  const double depth = shape.kernel_size * shape.kernel_size * shape.channels + shape.second_channels;
  const double pixels = static_cast<double>(settings.batch) * shape.extent * shape.extent;
  const std::size_t bytes = element_bytes(settings.element);
  return {shape.name,
          true,
          shape.count,
          2 * pixels * depth * shape.outputs,
          static_cast<std::size_t>(depth) * static_cast<std::size_t>(shape.outputs) * bytes,
          static_cast<std::size_t>(pixels) * static_cast<std::size_t>(shape.outputs) * bytes,
          settings.element,
          launcher<launch_convolution>(args, memory)};
}

Work work_of(const LinearShape& shape, const Settings& settings, const Memory& memory) {
  auto args = args_of<GemmArgs>(shape.activation, settings, memory);
  args.output_element = shape.output_is_fp32 ? ElementType::fp32 : settings.element;
  args.rows = shape.rows * settings.batch;
  args.columns = shape.columns;
  args.depth = shape.depth;
  args.input = memory.input;
  if (shape.has_residual) args.residual = memory.residual;
  args.output = memory.output;
  const std::size_t elements = static_cast<std::size_t>(args.rows) * static_cast<std::size_t>(shape.columns);
  return {shape.name,
          false,
          shape.count,
          2.0 * static_cast<double>(elements) * shape.depth,
          static_cast<std::size_t>(shape.columns) * static_cast<std::size_t>(shape.depth) *
              element_bytes(settings.element),
          elements * element_bytes(args.output_element),
          args.output_element,
          launcher<launch_gemm>(args, memory)};
}

}  // namespace

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

Memory::Memory(const Settings& settings) {
  const std::size_t largest =
      static_cast<std::size_t>(settings.batch) * 320 * 320 * 64 * element_bytes(settings.element);
  for (void** buffer : {&input, &second, &residual, &output})
    *buffer = filled_memory(settings.element, largest);
  weight = filled_memory(settings.element, kWeightPoolBytes);
  bias = filled_memory(ElementType::fp32, 4096 * sizeof(float));
  require(cudaMalloc(&workspace, kWorkspaceBytes), "cudaMalloc");
  require(cudaMemset(workspace, 0, kWorkspaceBytes), "cudaMemset");
}

std::vector<Work> rtdetr_works(const Settings& settings, const Memory& memory) {
  std::vector<Work> works;
  for (const ConvolutionShape& shape : kConvolutions) works.push_back(work_of(shape, settings, memory));
  for (const LinearShape& shape : kLinears) works.push_back(work_of(shape, settings, memory));
  return works;
}

}  // namespace rangefinder::kernel_bench
