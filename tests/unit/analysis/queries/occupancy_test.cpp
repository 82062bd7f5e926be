// SPDX-License-Identifier: Apache-2.0
//
// Compared with cuda_occupancy.h, the calculator in the CUDA Toolkit, and with values computed by hand.
#include <climits>
#include <cstring>

#include <cuda_occupancy.h>

#include "tests/catch.h"
#include "tools/analysis/queries/occupancy.h"

using namespace rangefinder;

namespace {

/// CUDA Programming Guide, table of compute capabilities; KiB per SM and per block.
struct Chip {
  std::uint32_t major, minor, warps;
  std::uint32_t shared_kib, block_kib;
};
constexpr Chip kChips[] = {{7, 5, 32, 64, 64},    {8, 0, 64, 164, 163},  {8, 6, 48, 100, 99},
                           {8, 7, 48, 164, 163},  {8, 9, 48, 100, 99},   {9, 0, 64, 228, 227},
                           {10, 0, 64, 228, 227}, {10, 3, 64, 228, 227}, {11, 0, 48, 228, 227},
                           {12, 0, 48, 100, 99},  {12, 1, 48, 100, 99}};

constexpr Chip kH100{9, 0, 64, 228, 227};

GpuRecord gpu_of(const Chip& chip) {
  GpuRecord out;
  out.compute_major = chip.major;
  out.compute_minor = chip.minor;
  out.warps_per_sm = chip.warps;
  out.registers_per_sm = 65'536;
  out.shared_bytes_per_sm = std::uint64_t{chip.shared_kib} * 1'024;
  out.sm_count = 100;
  return out;
}

LaunchConfigRecord launch(std::uint32_t threads, std::uint32_t registers, std::uint32_t shared_bytes,
                          std::uint32_t carve_out = 0) {
  return {0, {1'000, 1, 1}, {threads, 1, 1}, {}, registers, 0, shared_bytes, carve_out};
}

int cuda_blocks(const Chip& chip, int threads, int registers, std::size_t shared_bytes) {
  cudaOccDeviceProp device;
  device.computeMajor = static_cast<int>(chip.major);
  device.computeMinor = static_cast<int>(chip.minor);
  device.maxThreadsPerBlock = 1'024;
  device.maxThreadsPerMultiprocessor = static_cast<int>(chip.warps) * 32;
  device.regsPerBlock = device.regsPerMultiprocessor = 65'536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1'024;
  device.sharedMemPerMultiprocessor = std::size_t{chip.shared_kib} * 1'024;
  device.sharedMemPerBlockOptin = std::size_t{chip.block_kib} * 1'024;
  device.reservedSharedMemPerBlock = chip.major < 8 ? 0 : 1'024;
  device.numSms = 100;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1'024;
  kernel.numRegs = registers;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
  kernel.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error =
      cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared_bytes);
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

}  // namespace

TEST_CASE("the number of blocks equals that of CUDA's own calculator") {
  std::size_t compared = 0, different = 0;
  for (const Chip& chip : kChips) {
    const GpuRecord gpu = gpu_of(chip);
    for (std::uint32_t threads = 1; threads <= 1'024; threads += threads < 64 ? 21 : 60) {
      for (std::uint32_t registers = 0; registers <= 255; registers += 5) {
        for (std::uint32_t shared = 0; shared <= chip.block_kib * 1'024; shared += 9'973) {
          const int expected =
              cuda_blocks(chip, static_cast<int>(threads), static_cast<int>(registers), shared);
          const auto found = occupancy_of(gpu, launch(threads, registers, shared));
          ++compared;
          if (!found || static_cast<int>(found->blocks_per_sm) != expected) ++different;
        }
      }
    }
  }
  CHECK(compared > 50'000);
  CHECK(different == 0);
}

TEST_CASE("what fits least limits the blocks") {
  struct Case {
    const char* what;
    Chip chip;
    LaunchConfigRecord config;
    std::uint32_t blocks;
    const char* limiter;
  };
  const Case cases[] = {
      {"every warp is in use", kH100, launch(256, 32, 0), 8, ""},
      {"registers, half of the warps", {8, 0, 64, 164, 163}, launch(1'024, 64, 0), 1, "registers"},
      {"the chip's number of blocks", {8, 6, 48, 100, 99}, launch(32, 16, 0), 16, "blocks"},
      {"the chip's number of blocks", {8, 9, 48, 100, 99}, launch(32, 16, 0), 24, "blocks"},
      {"the chip's number of blocks", {10, 0, 64, 228, 227}, launch(32, 16, 0), 32, "blocks"},
      // 171 registers: 8 warps per SM, one block of 8. 68 KiB of the 100 KiB carve-out: also one block.
      {"equally low limits", kH100, launch(256, 171, 68'000, 102'400), 1, "registers, shared memory"},
      // The driver takes a KiB of each block, also of those that use none.
      {"unused shared memory beside the chip's limit", kH100, launch(32, 16, 0, 32'768), 32, "blocks"},
      {"unused shared memory below any other limit", kH100, launch(32, 16, 0, 16'384), 16, "shared memory"},
      {"an unknown carve-out", kH100, launch(128, 32, 32'768), 6, "shared memory"},
      {"a small carve-out", kH100, launch(128, 32, 32'768, 102'400), 3, "shared memory"}};
  for (const Case& one : cases) {
    INFO(one.what);
    const auto found = occupancy_of(gpu_of(one.chip), one.config);
    REQUIRE(found);
    CHECK(found->blocks_per_sm == one.blocks);
    CHECK(found->limiter() == one.limiter);
  }
  CHECK(occupancy_of(gpu_of(kH100), launch(256, 32, 0))->share() == 1.0);
  CHECK(occupancy_of(gpu_of({8, 0, 64, 164, 163}), launch(1'024, 64, 0))->share() == 0.5);
}

TEST_CASE("waves are the blocks of the grid / the blocks that fit on the GPU") {
  LaunchConfigRecord config = launch(256, 32, 0);
  config.grid = {10, 10, 6};

  CHECK(occupancy_of(gpu_of(kH100), config)->waves == 0.75);  // 600 of 8 x 100
}

TEST_CASE("an unknown chip, a line without limits or a launch without threads has no occupancy") {
  GpuRecord lacking = gpu_of(kH100);
  lacking.registers_per_sm = 0;

  CHECK_FALSE(occupancy_of(gpu_of({99, 9, 64, 228, 227}), launch(256, 32, 0)));
  CHECK_FALSE(occupancy_of(lacking, launch(256, 32, 0)));
  CHECK_FALSE(occupancy_of(gpu_of(kH100), launch(0, 32, 0)));
}
