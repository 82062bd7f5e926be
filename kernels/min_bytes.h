// SPDX-License-Identifier: Apache-2.0
//
// The least bytes that an op can read plus write: every operand once, whatever the kernel does. NVTX
// ranges declare their sums, so that the profiler can show measured over declared bytes.
//
// From shapes and present pointers only; nothing is read. Not counted: workspaces, dumps, and the
// intermediates of unfused variants (these are just what makes them slower).
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/box_refinement/box_refinement.h"
#include "kernels/convolution/convolution.h"
#include "kernels/deformable_attention/deformable_attention.h"
#include "kernels/gather/gather.h"
#include "kernels/gemm/gemm.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/pooling/pooling.h"
#include "kernels/postprocess/postprocess.h"
#include "kernels/preprocess/preprocess.h"
#include "kernels/stem/stem.h"
#include "kernels/top_k/top_k.h"
#include "kernels/upsample_concat/upsample_concat.h"

namespace rangefinder::kernels {

std::uint64_t min_bytes(const ConvolutionArgs& args);
std::uint64_t min_bytes(const GemmArgs& args);
std::uint64_t min_bytes(const StemArgs& args);
std::uint64_t min_bytes(const PoolArgs& args);
std::uint64_t min_bytes(const UpsampleConcatArgs& args);
std::uint64_t min_bytes(const LayerNormArgs& args);
std::uint64_t min_bytes(const AttentionArgs& args);
/// Values as if each were read once; a sparse sampling of a large map may read fewer.
std::uint64_t min_bytes(const DeformableAttentionArgs& args);
std::uint64_t min_bytes(const TopKArgs& args);
std::uint64_t min_bytes(const GatherArgs& args);
std::uint64_t min_bytes(const BoxRefinementArgs& args);
std::uint64_t min_bytes(const PreprocessArgs& args);
std::uint64_t min_bytes(const PostprocessArgs& args);

}  // namespace rangefinder::kernels
