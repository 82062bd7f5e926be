// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/packed_elements.cuh"
#include "kernels/postprocess/postprocess.h"
#include "kernels/postprocess/postprocess_arguments.h"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 64;

// Detections from selected logits.
//
//   score = sigmoid(logits[b, query, label])     box = corners of boxes[b, query, :] in pixels
//
// Shapes   logits: (B, Q, L), boxes: (B, Q, 4), indices: (B, D) into Q * L, output: (B, D)
// Tiling   one thread per detection
// Bytes    48 per detection: bound by launch latency
// Numerics fp32
// Checked  tests/kernels/postprocess_check.cpp: 1e-6 of the score, 1e-3 pixels.
__global__ void __launch_bounds__(kThreads) postprocess_kernel(PostprocessArgs args, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const int image = at / args.detections;
  const int flat = args.indices[at];
  const float nan = __int_as_float(0x7FFFFFFF);
  Detection found{nan, -1, nan, nan, nan, nan};
  if (flat >= 0 && flat < args.queries * args.labels) {
    const std::int64_t row = std::int64_t{image} * args.queries + flat / args.labels;
    const float4 box = reinterpret_cast<const float4*>(args.boxes)[row];
    const ImageSize size = args.image_sizes[image];
    found.score = 1.0f / (1.0f + expf(-args.logits[row * args.labels + flat % args.labels]));
    found.label = flat % args.labels;
    found.left = (box.x - 0.5f * box.z) * size.width;
    found.top = (box.y - 0.5f * box.w) * size.height;
    found.right = (box.x + 0.5f * box.z) * size.width;
    found.bottom = (box.y + 0.5f * box.w) * size.height;
  }
  args.output[at] = found;
}

}  // namespace

cudaError_t launch_postprocess(const PostprocessArgs& args, cudaStream_t stream) {
  unsigned blocks = 0;
  const std::int64_t count = std::int64_t{args.images} * args.detections;
  if (refusal(args) != nullptr || !is_aligned(args.boxes, 16) || !blocks_for(count, kThreads, blocks))
    return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  return launch_dependent(postprocess_kernel, blocks, kThreads, 0, stream, args, static_cast<int>(count));
}

}  // namespace rangefinder::kernels
