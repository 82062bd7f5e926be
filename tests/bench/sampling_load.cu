// SPDX-License-Identifier: Apache-2.0
//
// The load that tests/bench/sampling_cost runs with and without sampling: one kind of work, long enough to
// measure.
//
//   sampling_load empty|copy|gemm SECONDS     → {"load":…, "rounds":…, "ns_a_round":…, "bytes_copied":…}
//   sampling_load copies GIB                  GIB copies of 1 GiB each, for the sum of bytes
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kGib = std::size_t{1} << 30;
constexpr int kSide = 4096, kTile = 32;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "sampling_load: %s\n", cudaGetErrorString(error));
  std::exit(3);
}

__global__ void empty() {}

__global__ void gemm(const float* a, const float* b, float* c) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kSide; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * kSide + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * kSide + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * kSide + column] = sum;
}

struct Load {
  char *from = nullptr, *to = nullptr;

  /// One round of a few milliseconds.
  void round(const char* kind) const {
    if (std::strcmp(kind, "empty") == 0) {
      for (int i = 0; i < 1000; ++i) empty<<<132, 128>>>();
    } else if (std::strcmp(kind, "gemm") == 0) {
      const auto* const a = reinterpret_cast<const float*>(from);
      gemm<<<dim3(kSide / kTile, kSide / kTile), dim3(kTile, kTile)>>>(a, a + kSide * kSide,
                                                                       reinterpret_cast<float*>(to));
    } else {
      for (int i = 0; i < 8; ++i) check(cudaMemcpyAsync(to, from, kGib, cudaMemcpyDeviceToDevice));
    }
    check(cudaDeviceSynchronize());
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const char* const kind = argv[1];
  const double amount = std::atof(argv[2]);
  Load load;
  check(cudaMalloc(&load.from, kGib));
  check(cudaMalloc(&load.to, kGib));
  check(cudaMemset(load.from, 0, kGib));
  // Sampling begins within some hundred milliseconds of the first context.
  for (const auto begin = Clock::now(); Clock::now() - begin < std::chrono::milliseconds(1500);)
    load.round("empty");
  std::vector<double> rounds;
  const auto begin = Clock::now();
  if (std::strcmp(kind, "copies") == 0) {
    for (int i = 0; i < static_cast<int>(amount) / 8; ++i) load.round("copy");
    rounds.push_back(0);
  } else {
    while (std::chrono::duration<double>(Clock::now() - begin).count() < amount) {
      const auto from = Clock::now();
      load.round(kind);
      rounds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - from).count());
    }
  }
  // The last samples are of an idle GPU: the L2 has written back what a copy left in it.
  std::nth_element(rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2),
                   rounds.end());
  const double copied = std::strcmp(kind, "copies") == 0 ? amount * kGib
                        : std::strcmp(kind, "copy") == 0 ? 8.0 * kGib * static_cast<double>(rounds.size())
                                                         : 0;
  std::printf("{\"load\":\"%s\",\"rounds\":%zu,\"ns_a_round\":%.0f,\"bytes_copied\":%.0f}\n", kind,
              rounds.size(), rounds[rounds.size() / 2], copied);
  return 0;
}
