// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/layer_norm/layer_norm_arguments.h"
#include "kernels/packed_elements.cuh"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kWarp = 32;
constexpr int kRowsPerBlock = 2;  // 300 rows: 150 blocks, at least one per multiprocessor

/// kCount adjacent floats, 16-byte aligned.
template <int kCount>
__device__ __forceinline__ void load_floats(const float* source, float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(source + i);
    values[i] = four.x, values[i + 1] = four.y, values[i + 2] = four.z, values[i + 3] = four.w;
  }
}

// Row-wise layer normalisation of a sum, with a second output that adds the position.
//
//   v[r,c]   = input[r,c] + residual[r,c]
//   out[r,c] = gamma[c] * (v[r,c] - mean_r) / sqrt(var_r + epsilon) + beta[c]
//   out_with_position[r,c] = out[r,c] + position[r % position_rows, c]
//
// Shapes   input, residual, outputs: (R, C) row-major, C = 256 or 384 in RT-DETR; gamma, beta: (C) fp32
// Tiling   one warp owns one row, which stays in registers: pack p of a lane is 16 bytes at channel
//          (32 p + lane) * kCount. Lanes past the row's end hold zeros and are excluded from the variance.
// Bytes    R*C*s for each of input, residual, position and the outputs, s bytes an element; 8*C for gamma and
//          beta. 300 rows of 256 halves with residual and position: 5 * 300 * 256 * 2 + 2048 = 0.77 MB, bound
//          by latency. 8400 rows without either: 2 * 8400 * 256 * 2 + 2048 = 8.6 MB, served by L2. Each row
//          requests gamma and beta again.
// Numerics fp32, two passes over registers, not E[v^2] - E[v]^2, which cancels if |mean| is large. The
//          position is added before `out` is rounded. The order of the sums is fixed.
// Checked  tests/kernels/layer_norm_check.cpp against layer_norm_reference.cpp (double accumulation):
//          4e-6 (times 1 + the inputs' mean) + one rounding of the type.
template <typename Element, int kPacks>
__global__ void __launch_bounds__(kWarp* kRowsPerBlock) layer_norm_kernel(LayerNormArgs args) {
  wait_for_predecessor();
  constexpr int kCount = Packed<Element>::kCount;
  const int lane = static_cast<int>(threadIdx.x);                                                // [0, 32)
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.y);  // [0, R)
  if (row >= args.rows) return;  // no warp is split: shuffles stay valid
  const std::int64_t start = std::int64_t{row} * args.channels;

  // Issue every load before the first sum, so that the row waits for memory once.
  float values[kPacks][kCount];
  float gamma[kPacks][kCount];
  float beta[kPacks][kCount];
  Packed<Element> position[kPacks];
  float sum = 0;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int channel = (p * kWarp + lane) * kCount;
    Packed<Element> own{};
    Packed<Element> residual{};
    if (channel < args.channels) {
      own = load_packed(static_cast<const Element*>(args.input) + start + channel);
      if (args.residual != nullptr)
        residual = load_packed(static_cast<const Element*>(args.residual) + start + channel);
      load_floats(args.gamma + channel, gamma[p]);
      load_floats(args.beta + channel, beta[p]);
      if (args.position != nullptr)
        position[p] = load_packed(static_cast<const Element*>(args.position) +
                                  std::int64_t{row % args.position_rows} * args.channels + channel);
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      values[p][i] = as_float(own.element[i]);
      if (args.residual != nullptr) values[p][i] += as_float(residual.element[i]);
      sum += values[p][i];
    }
  }
  const float mean = warp_sum(sum) / static_cast<float>(args.channels);

  float squares = 0;
#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    if ((p * kWarp + lane) * kCount >= args.channels) continue;
#pragma unroll
    for (int i = 0; i < kCount; ++i) squares += (values[p][i] - mean) * (values[p][i] - mean);
  }
  const float variance = warp_sum(squares) / static_cast<float>(args.channels);
  const float scale = 1.0f / sqrtf(variance + args.epsilon);

#pragma unroll
  for (int p = 0; p < kPacks; ++p) {
    const int channel = (p * kWarp + lane) * kCount;
    if (channel >= args.channels) continue;
    Packed<Element> normal;
    Packed<Element> with_position;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float value = gamma[p][i] * ((values[p][i] - mean) * scale) + beta[p][i];
      normal.element[i] = rounded<Element>(value);
      if (args.position != nullptr)
        with_position.element[i] = rounded<Element>(value + as_float(position[p].element[i]));
    }
    store_packed(static_cast<Element*>(args.output) + start + channel, normal);
    if (args.position != nullptr)
      store_packed(static_cast<Element*>(args.output_with_position) + start + channel, with_position);
  }
}

template <typename Element>
cudaError_t launch_rows(const LayerNormArgs& args, cudaStream_t stream) {
  const dim3 block(kWarp, kRowsPerBlock);
  const unsigned blocks = static_cast<unsigned>((args.rows + kRowsPerBlock - 1) / kRowsPerBlock);
  const int per_pack = kWarp * Packed<Element>::kCount;
  const int packs = (args.channels + per_pack - 1) / per_pack;
  if (packs == 1) return launch_dependent(layer_norm_kernel<Element, 1>, blocks, block, 0, stream, args);
  if (packs == 2) return launch_dependent(layer_norm_kernel<Element, 2>, blocks, block, 0, stream, args);
  if constexpr (sizeof(Element) == 4)  // 1024 channels of 16 bits are 4 packs
    if (packs > 4) return launch_dependent(layer_norm_kernel<Element, 8>, blocks, block, 0, stream, args);
  return launch_dependent(layer_norm_kernel<Element, 4>, blocks, block, 0, stream, args);
}

}  // namespace

cudaError_t launch_layer_norm(const LayerNormArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr) return cudaErrorInvalidValue;
  for (const void* pointer : {args.input, args.residual, static_cast<const void*>(args.output), args.position,
                              static_cast<const void*>(args.output_with_position),
                              static_cast<const void*>(args.gamma), static_cast<const void*>(args.beta)})
    if (!is_aligned(pointer, 16)) return cudaErrorInvalidValue;
  if (args.rows == 0) return cudaSuccess;
  return with_stored_type(
      args.element, [&](auto stored) { return launch_rows<typename decltype(stored)::Type>(args, stream); });
}

}  // namespace rangefinder::kernels
