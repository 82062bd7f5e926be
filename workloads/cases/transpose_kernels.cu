// SPDX-License-Identifier: Apache-2.0
#include "workloads/cases/transpose_kernels.h"

namespace rangefinder::cases {
namespace {

constexpr int kTile = 32;  // words per side
constexpr int kLines = 8;  // rows of the tile per step of a block: 256 threads

// out[c, r] = in[r, c]
//
// Shapes   in (rows, columns), out (columns, rows), row-major floats; both multiples of 32
// Tiling   one block per 32 x 32 tile; a warp handles one row of it in each of four steps of 8 rows
// Bytes    4 * rows * columns read, the same number written
// Checked  by the program: every element
__global__ void transpose_naive(float* out, const float* in, int rows, int columns) {
  const int c = blockIdx.x * kTile + threadIdx.x;  // [0, columns)
  const int first = blockIdx.y * kTile + threadIdx.y;
  for (int r = first; r < first + kTile; r += kLines) {  // [0, rows)
    out[static_cast<long long>(c) * rows + r] = in[static_cast<long long>(r) * columns + c];
  }
}

// The same through shared memory, so that a warp stores a row of the output. A row of the tile has kPitch
// words: with 32 all words of a column are in one bank, with 33 each is in another.
template <int kPitch>
__global__ void transpose_tile(float* out, const float* in, int rows, int columns) {
  __shared__ float tile[kTile][kPitch];
  const int in_c = blockIdx.x * kTile + threadIdx.x;  // [0, columns)
  const int in_r = blockIdx.y * kTile + threadIdx.y;
  for (int line = 0; line < kTile; line += kLines) {
    tile[threadIdx.y + line][threadIdx.x] = in[static_cast<long long>(in_r + line) * columns + in_c];
  }
  __syncthreads();
  const int out_c = blockIdx.y * kTile + threadIdx.x;  // [0, rows)
  const int out_r = blockIdx.x * kTile + threadIdx.y;
  for (int line = 0; line < kTile; line += kLines) {
    out[static_cast<long long>(out_r + line) * rows + out_c] = tile[threadIdx.x][threadIdx.y + line];
  }
}

}  // namespace

cudaError_t launch_transpose(Transpose version, float* target, const float* source, int rows, int columns,
                             cudaStream_t stream) {
  if (rows <= 0 || columns <= 0 || rows % kTile != 0 || columns % kTile != 0) return cudaErrorInvalidValue;
  if (rows / kTile > 65'535) return cudaErrorInvalidValue;  // maximum blocks in y
  const dim3 grid(columns / kTile, rows / kTile), block(kTile, kLines);
  switch (version) {
    case Transpose::naive:
      transpose_naive<<<grid, block, 0, stream>>>(target, source, rows, columns);
      break;
    case Transpose::shared:
      transpose_tile<kTile><<<grid, block, 0, stream>>>(target, source, rows, columns);
      break;
    case Transpose::padded:
      transpose_tile<kTile + 1><<<grid, block, 0, stream>>>(target, source, rows, columns);
      break;
  }
  return cudaGetLastError();
}

}  // namespace rangefinder::cases
