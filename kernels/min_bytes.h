// SPDX-License-Identifier: Apache-2.0
//
// The minimum bytes that an op reads plus writes: every operand once, whatever the kernel does. NVTX ranges
// declare the sums of their ops, so that the profiler can show measured over declared bytes.
//
// Uses shapes and pointer presence only; reads no data. Does not count workspaces, dumps, and the
// intermediates of unfused variants (they are what makes those slower).
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

namespace rangefinder::kernels {

std::uint64_t min_bytes(const ConvolutionArgs& args);
std::uint64_t min_bytes(const GemmArgs& args);
std::uint64_t min_bytes(const StemArgs& args);
std::uint64_t min_bytes(const PoolArgs& args);
std::uint64_t min_bytes(const LayerNormArgs& args);
std::uint64_t min_bytes(const AttentionArgs& args);
/// Counts each value once; a sparse sampling of a large map may read fewer.
std::uint64_t min_bytes(const DeformableAttentionArgs& args);
std::uint64_t min_bytes(const TopKArgs& args);
std::uint64_t min_bytes(const GatherArgs& args);
std::uint64_t min_bytes(const BoxRefinementArgs& args);
std::uint64_t min_bytes(const PreprocessArgs& args);
std::uint64_t min_bytes(const PostprocessArgs& args);

}  // namespace rangefinder::kernels
